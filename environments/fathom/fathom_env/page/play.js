// Plays one episode over the WebSocket. Each message that is sent gets one reply, in order.
"use strict";

let socket = null;
let busy = false;
let over = true;

function enable() {
  const closed = busy || over;
  for (const name of ["code", "text"]) byId(name).disabled = closed;
  for (const button of document.querySelectorAll("#run button, #answer button")) button.disabled = closed;
  document.querySelector("#start button").disabled = busy;
}

function wait(value) {
  busy = value;
  enable();
}

function send(message) {
  problem("");
  wait(true);
  socket.send(JSON.stringify(message));
}

function show(data) {
  const seen = data.observation;
  byId("turns").append(...seen.messages.map(turn));
  byId("left").textContent = `${seen.rounds_left} turns with code and ${seen.calls_left} calls of llm() left`;
  const depth = Math.max(0, ...seen.tree.filter((one) => !one.refused).map((one) => one.depth));
  showTree(seen.tree, { calls: seen.calls, refused: seen.refused, depth });
  byId("episode").hidden = false;
  over = data.done;
  if (seen.result) showResult(seen.result);
}

function kindly(data) {
  if (data.code === "CAPACITY_REACHED") return `The server is full: ${data.active_sessions} of ${data.max_sessions} sessions are in use. Try again in a few minutes.`;
  if (data.code === "VALIDATION_ERROR") return "The server cannot read that; it may be too long.";
  return data.message || "Something went wrong.";
}

function receive(event) {
  const reply = JSON.parse(event.data);
  if (reply.type === "observation") show(reply.data);
  else problem(kindly(reply.data));
  wait(false);
}

function gone(event) {
  over = true;
  wait(false);
  if (byId("problem").hidden) problem(event.reason || "The connection is closed. Start another episode.");
}

function connect(then) {
  if (socket && socket.readyState === WebSocket.OPEN) return then();
  const address = new URL("ws", location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  wait(true);
  socket = new WebSocket(address);
  socket.addEventListener("open", then);
  socket.addEventListener("message", receive);
  socket.addEventListener("close", gone);
}

function start(event) {
  event.preventDefault();
  problem("");
  const data = { characters: Number(byId("characters").value), responder: byId("responder").value };
  if (byId("kind").value) data.kind = byId("kind").value;
  byId("turns").replaceChildren();
  byId("result").hidden = true;
  connect(() => send({ type: "reset", data }));
}

function act(name, field, event) {
  if (event) event.preventDefault();
  const text = byId(field).value;
  if (busy || over || !text.trim()) return;
  const turnText = name === "code" ? text : `<answer>${text}</answer>`;
  byId("turns").append(turn({ role: "assistant", content: turnText }));
  send({ type: "step", data: { act: name, text } });
  byId(field).value = "";
}

byId("start").addEventListener("submit", start);
byId("run").addEventListener("submit", (event) => act("code", "code", event));
byId("answer").addEventListener("submit", (event) => act("answer", "text", event));
byId("code").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) act("code", "code", event);
});

fetch("about").then((reply) => reply.json()).then((told) => {
  const allowed = told.allowance;
  byId("about").textContent = `Confinement of code: ${visible(told.confinement.confinement)}. Limits: ${allowed.cpu_seconds} s of CPU time an episode, ` +
    `${allowed.wall_seconds} s a turn, ${allowed.memory_mib} MiB. A session that is silent for ${allowed.idle_seconds} s is closed.`;
}).catch(() => problem("The server does not answer."));
enable();
