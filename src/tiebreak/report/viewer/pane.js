// One rollout: what it is, what it came to, what it would have been paid, what was said.
function badges(row) {
  const marks = [row.stop === "final" ? null : row.stop, row.graded ? "graded" : null, row.valid ? "valid" : null,
    row.success && !row.graded ? "success, not graded" : null, row.truncated ? "truncated" : null];
  const kind = (mark) => mark === "graded" ? "badge good" : /^(valid|final)$/.test(mark) ? "badge" : "badge bad";
  return marks.filter(Boolean).map((mark) => element("span", { class: kind(mark) }, mark));
}

function termsTable(row, terms) {
  const shapes = Object.keys(terms);
  if (!shapes.length) return element("p", { class: "soft" }, "No rewards: an infrastructure error is never a score.");
  const names = [...new Set(shapes.flatMap((shape) => Object.keys(terms[shape])))];
  const sum = (shape) => Object.values(terms[shape]).reduce((total, value) => total + value, 0);
  const line = (title, cells, kind) => element("tr", { class: kind || null }, element("td", { class: "word" }, title),
    ...cells.map((cell) => element("td", {}, cell)));
  const head = element("tr", {}, element("th", { class: "word" }, "term"),
    ...shapes.map((shape) => element("th", {}, shape)));
  const body = names.map((name) => line(name, shapes.map((shape) => number(terms[shape][name] || 0))));
  body.push(line("reward", shapes.map((shape) => number(sum(shape))), "sum"));
  if (row.reward !== null) {
    const unlike = shapes.includes(row.arm) && Math.abs(sum(row.arm) - row.reward) > 1e-9;
    const stored = shapes.map((shape) => shape === row.arm ? number(row.reward) + (unlike ? " (differs)" : "") : "");
    body.push(line("as stored", stored, unlike ? "unlike" : null));
  }
  return element("div", { class: "wide" }, element("table", { class: "terms" }, element("thead", {}, head), element("tbody", {}, ...body)));
}

function factsLine(facts) {
  if (!facts) return null;
  const shown = Object.entries(facts).map(([key, value]) =>
    `${key} ${Array.isArray(value) ? value.join(", ") || "none" : value}`);
  return element("p", { class: "soft" }, visible(shown.join(" · ")));
}

function exactLink(row, text) {
  const address = new URLSearchParams({ run: row.run, rep: row.rep, case: row.case, sample: row.sample });
  return element("a", { href: `#${address}`, class: "address" }, text);
}

function pane(row, rollout, controls) {
  const title = element("h2", {}, exactLink(row, visible(`${row.run}, repetition ${row.rep}, ${row.case}, sample ${row.sample}`)));
  const labels = element("p", { class: "soft" }, visible(
    `${row.family} · ${row.template} · ${row.difficulty} · ended by ${row.stop} · ${row.tokens} tokens written`));
  return element("article", { class: "pane", "data-address": addressOf(row) }, controls, title,
    element("p", {}, ...badges(row)), labels, factsLine(rollout.facts), termsTable(row, rollout.terms),
    ...rollout.turns.map(turn));
}
