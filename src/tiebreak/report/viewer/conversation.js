// A conversation: text as it is, calls by their parameters, patches as lines taken away and lines put in.
const CALL = /^CALL ([A-Za-z_][A-Za-z0-9_]*) (\{.*\})$/;

function parsedCall(line) {
  const match = CALL.exec(line);
  if (!match) return null;
  try {
    const values = JSON.parse(match[2]);
    const good = Object.values(values).every((value) => typeof value === "string");
    return good ? { tool: match[1], values } : null;
  } catch {
    return null;
  }
}

// Lines that both sides begin or end with are context; the rest of `find` goes and the rest of `replace` comes.
function patchLines(find, replace) {
  const before = find.split("\n"), after = replace.split("\n");
  let head = 0, tail = 0;
  while (head < Math.min(before.length, after.length) && before[head] === after[head]) head++;
  while (tail < Math.min(before.length, after.length) - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return [
    ...before.slice(0, head).map((line) => [" ", line]),
    ...before.slice(head, before.length - tail).map((line) => ["−", line]),
    ...after.slice(head, after.length - tail).map((line) => ["+", line]),
    ...before.slice(before.length - tail).map((line) => [" ", line]),
  ];
}

function patch(values) {
  const kinds = { "−": "gone", "+": "come" };
  const lines = patchLines(values.find, values.replace).map(([sign, line]) =>
    element("span", { class: kinds[sign] || "same" }, `${sign} ${visible(line)}\n`));
  const made = element("pre", { class: "patch" });
  for (const line of lines) made.append(line); // a patch may have more lines than a call may have arguments
  return made;
}

function call({ tool, values }) {
  const plain = Object.entries(values).filter(([key]) => key !== "id" && !(isPatch(values) && /^(find|replace)$/.test(key)));
  const title = element("p", { class: "call" }, element("strong", {}, tool), ` ${visible(values.id || "")} `,
    element("span", { class: "soft" }, visible(plain.map(([key, value]) => `${key}: ${value}`).join(", "))));
  return isPatch(values) ? element("div", {}, title, patch(values)) : title;
}

function isPatch(values) {
  return "find" in values && "replace" in values;
}

function spoken(text) {
  const parts = [];
  let plain = [];
  const flush = () => {
    if (plain.join("\n").trim()) parts.push(block(plain.join("\n")));
    plain = [];
  };
  for (const line of text.split("\n")) {
    const parsed = parsedCall(line);
    if (parsed) {
      flush();
      parts.push(call(parsed));
    } else {
      plain.push(line);
    }
  }
  flush();
  return parts;
}

function replied(text) {
  const failed = /^status: failed$/m.test(text.split("\n", 2).join("\n"));
  return [block(text, failed ? "reply failed" : "reply")];
}

function turn([role, text, tokens]) {
  const parts = role === "assistant" ? spoken(text) : role === "tool" ? replied(text) : [block(text)];
  const title = element("p", { class: "role" }, role, tokens === null ? "" : `, ${tokens} tokens`);
  const raw = element("details", {}, element("summary", {}, "as it was written"), block(text));
  return element("section", { class: `turn ${role}` }, title, ...parts, role === "assistant" ? raw : null);
}
