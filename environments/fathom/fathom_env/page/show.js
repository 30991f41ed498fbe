// What both pages show: turns, the tree of calls, rewards. Texts of programs and people go through visible() of text.js.
"use strict";

const ROLES = { system: "told to the model", user: "the question", assistant: "a turn", tool: "the REPL" };
const TERMS = { correctness: "right answer", token_budget: "token budget", recursion: "recursion", present: "tags there", cap: "cap" };

function byId(name) {
  return document.getElementById(name);
}

function problem(text) {
  byId("problem").textContent = text ? visible(text) : "";
  byId("problem").hidden = !text;
}

function turn(message) {
  const role = element("p", { class: "role" }, ROLES[message.role] || visible(message.role));
  return element("div", { class: `turn ${message.role in ROLES ? message.role : ""}` }, role, block(message.content));
}

function call(tree, place) {
  const one = tree[place];
  const words = `depth ${one.depth}, ${one.characters} characters: ${visible(one.prompt)} → `;
  const said = one.refused ? `refused (${visible(one.refused)})` : one.answer === null ? "no reply" : visible(one.answer) || "(nothing)";
  const below = tree.map((inner, index) => (inner.parent === place ? index : -1)).filter((index) => index >= 0);
  const item = element("li", { class: one.refused ? "stop" : null }, words, element("span", { class: "said" }, said));
  if (below.length) item.append(element("ul", {}, ...below.map((index) => call(tree, index))));
  return item;
}

function showTree(tree, counts) {
  const roots = (tree || []).map((one, index) => (one.parent === null ? index : -1)).filter((index) => index >= 0);
  const summary = `${counts.calls} calls of llm() answered, ${counts.refused} refused` + (counts.depth ? `, ${counts.depth} deep` : "");
  const rest = tree === null ? "; they were counted, not recorded one by one" : "";
  const list = roots.length ? element("ul", { class: "tree" }, ...roots.map((index) => call(tree, index))) : null;
  byId("tree").replaceChildren(element("p", { class: "soft" }, summary + rest), ...(list ? [list] : []));
}

function showResult(result) {
  const shapes = Object.keys(result.rewards);
  const cells = (values) => shapes.map((shape) => element("td", {}, number(values[shape])));
  const row = (name, values, kind) => element("tr", { class: kind }, element("td", { class: "word" }, name), ...cells(values));
  const rows = Object.entries(TERMS).map(([term, name]) =>
    row(name, Object.fromEntries(shapes.map((shape) => [shape, result.terms[shape][term]]))));
  const head = element("tr", {}, element("th", { class: "word" }, ""), ...shapes.map((shape) => element("th", {}, shape)));
  const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows, row("reward", result.rewards, "sum")));
  const answer = result.answer === null ? "no answer in its tags" : `answered “${visible(result.answer)}”`;
  const verdict = `${result.correct ? "Right" : "Not right"} (${result.stop}): ${answer}; the answer is “${visible(result.gold_answer)}”.`;
  byId("verdict").textContent = verdict;
  byId("rewards").replaceChildren(shapes.length ? table : element("p", {}, "It ended in an error of the machine: nothing is paid, and it counts for nothing."));
  byId("result").hidden = false;
}
