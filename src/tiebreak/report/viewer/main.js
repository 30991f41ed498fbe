// The page is a function of its address: filters, `open` and `beside` (rollouts by run/repetition/case/sample), `page`.
const PAGE = 100;
const CHOICES = ["arm", "run", "rep", "family", "template", "case", "outcome", "solved"];
let rows = [], byAddress = new Map();

const at = (id) => document.getElementById(id);
const state = () => new URLSearchParams(location.hash.slice(1));

function link(changes) {
  const next = state();
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === "") next.delete(key);
    else next.set(key, value);
  }
  return `#${next}`;
}

function choice(name, values, labels) {
  const select = element("select", { id: `choose-${name}`, name }, element("option", { value: "" }, "all"),
    ...values.map((value) => element("option", { value }, visible(labels ? labels(value) : value))));
  select.addEventListener("change", () => {
    location.hash = link({ [name]: select.value, open: null, beside: null, page: null, sample: null });
  });
  return element("label", {}, name, select);
}

function buildChoices() {
  for (const name of CHOICES) {
    const fixed = { outcome: Object.keys(OUTCOMES), solved: Object.keys(SOLVED) }[name];
    const values = fixed || [...new Set(rows.map((row) => String(row[name])))];
    if (name === "case" || name === "template") values.sort();
    at("filters").append(choice(name, values, (value) => value.replaceAll("-", name === "outcome" ? " " : "-")));
  }
}

function showChoices(current) {
  for (const name of CHOICES) {
    const select = at(`choose-${name}`), value = current.get(name) || "";
    if (![...select.options].some((option) => option.value === value)) {
      select.append(element("option", { value }, visible(value)));
    }
    select.value = value;
  }
  const rest = ["moved", "sample", "difficulty"].filter((name) => current.get(name));
  at("more").replaceChildren(...rest.map((name) =>
    element("a", { href: link({ [name]: null }) }, visible(`${name} ${current.get(name)} ×`))));
}

function listed(row, current) {
  const address = addressOf(row), open = current.get("open");
  const beside = open && open !== address ? element("a", { href: link({ beside: address }) }, "beside") : "";
  const cells = [row.run, row.rep, element("a", { href: link({ open: address, beside: null }) }, visible(row.case)), row.sample];
  return element("tr", { class: open === address ? "open" : null },
    ...cells.map((cell, place) => element("td", { class: place === 0 || place === 2 ? "word" : null }, cell)),
    element("td", { class: "word" }, ...badges(row)), element("td", {}, number(row.reward)),
    element("td", {}, row.tokens), element("td", {}, beside));
}

function counts(found) {
  const distinct = (key) => new Set(found.map(key)).size.toLocaleString("en");
  const failed = found.filter((row) => row.stop === "error").length;
  return `rollouts: ${found.length.toLocaleString("en")}, of ${distinct((row) => row.case)} cases `
    + `(${distinct((row) => `${row.run} ${row.case}`)} pairs of a run and a case); `
    + `${found.filter((row) => row.graded).length.toLocaleString("en")} graded, ${failed} errors`;
}

function showList(found, current) {
  const pages = Math.max(1, Math.ceil(found.length / PAGE));
  const page = Math.min(Math.max(1, Number(current.get("page")) || 1), pages);
  at("counts").textContent = counts(found);
  at("rows").replaceChildren(...found.slice((page - 1) * PAGE, page * PAGE).map((row) => listed(row, current)));
  at("pages").replaceChildren(...(pages === 1 ? [] : [
    page > 1 ? element("a", { href: link({ page: page - 1 }) }, "before") : "",
    ` page ${page} of ${pages} `,
    page < pages ? element("a", { href: link({ page: page + 1 }) }, "after") : ""]));
}

// From one rollout to its neighbours: in the list, and the same case, repetition and sample (so the same seed) elsewhere.
function controls(row, found, side) {
  const place = found.indexOf(row);
  const step = (to, text) => found[to] && place >= 0
    ? element("a", { href: link({ [side]: addressOf(found[to]) }) }, text) : null;
  const twins = rows.filter((other) => other !== row && other.case === row.case && other.rep === row.rep && other.sample === row.sample);
  const select = element("select", { "aria-label": "beside" }, element("option", { value: "" }, "beside: the same case and seed of …"),
    ...twins.map((twin) => element("option", { value: addressOf(twin) }, `${twin.run}${twin.graded ? ", graded" : ""}`)));
  select.addEventListener("change", () => { location.hash = link({ open: addressOf(row), beside: select.value }); });
  const shut = side === "beside" ? { beside: null } : { open: null, beside: null, sample: null };
  const close = element("a", { href: link(shut) }, "close");
  return element("p", { class: "controls" }, step(place - 1, "before"), step(place + 1, "next"), side === "open" ? select : null, close);
}

async function showPanes(found, current) {
  const only = found.length === 1 ? addressOf(found[0]) : null;
  const wanted = [["open", current.get("open") || only], ["beside", current.get("beside")]].filter(([, address]) => address);
  const made = [];
  for (const [side, address] of wanted) {
    const row = byAddress.get(address);
    if (!row) throw new Error(`no rollout has the address ${address}`);
    made.push(pane(row, (await tiebreak.load(row.chunk))[row.at], controls(row, found, side)));
  }
  return made;
}

async function render() {
  const here = location.hash, current = state();
  document.body.dataset.state = "busy";
  try {
    const found = chosen(rows, current);
    showChoices(current);
    showList(found, current);
    const made = await showPanes(found, current);
    if (location.hash !== here) return;
    at("panes").replaceChildren(...made);
    at("panes").className = made.length > 1 ? "two" : "";
    at("problem").textContent = "";
    if (made.length && current.get("open")) at("panes").scrollIntoView();
  } catch (problem) {
    at("problem").textContent = visible(problem.message);
  }
  document.body.dataset.state = "ready";
}

async function start() {
  try {
    if (!("DecompressionStream" in window)) throw new Error("this browser cannot unpack the rollouts; use one of 2023 or later");
    rows = rowsOf(await tiebreak.load("index"));
    byAddress = new Map(rows.map((row) => [addressOf(row), row]));
    buildChoices();
    window.addEventListener("hashchange", render);
    await render();
  } catch (problem) {
    at("problem").textContent = visible(problem.message);
    document.body.dataset.state = "ready";
  }
}

start();
