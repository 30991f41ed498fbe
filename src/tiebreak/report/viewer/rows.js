// Every rollout as a row, and the filters that choose among rows. A filter's value may be several, joined by commas.
const MARKS = ["valid", "success", "graded", "truncated"];
const OUTCOMES = {
  "graded": (row) => row.graded,
  "not-graded": (row) => !row.graded && row.stop !== "error",
  "success-not-graded": (row) => row.success && !row.graded && row.stop !== "error",
  "valid": (row) => row.valid && row.stop !== "error",
  "success": (row) => row.success && row.stop !== "error",
  "final": (row) => row.stop === "final",
  "malformed": (row) => row.stop === "malformed",
  "budget": (row) => row.stop === "budget",
  "tokens": (row) => row.stop === "tokens",
  "truncated": (row) => row.truncated,
  "error": (row) => row.stop === "error",
  "ended": (row) => row.stop !== "error",
};
const SOLVED = {
  "never": (count) => count.graded === 0,
  "some": (count) => count.graded > 0 && count.graded < count.n,
  "always": (count) => count.graded === count.n,
};
const FIELDS = ["arm", "run", "rep", "family", "difficulty", "template", "case", "sample"];

function rowsOf(index) {
  const rows = [];
  for (const table of index.tables) {
    for (let at = 0; at < table.case.length; at++) {
      const [name, family, difficulty, template] = index.cases[table.case[at]];
      const row = { arm: table.arm, run: table.run, rep: table.rep, case: name, family, difficulty, template };
      row.sample = table.sample[at];
      MARKS.forEach((mark, place) => { row[mark] = Boolean(table.flags[at] >> place & 1); });
      row.stop = index.stops[table.flags[at] >> MARKS.length];
      row.tokens = table.tokens[at];
      row.reward = table.reward[at];
      row.chunk = `${table.run}-rep${table.rep}-${Math.floor(at / index.chunk)}`;
      row.at = at % index.chunk;
      rows.push(row);
    }
  }
  return rows;
}

// Graded samples of n, over all repetitions, by a group (arm or run) and case.
function counted(rows, group) {
  const counts = new Map();
  for (const row of rows) {
    const key = `${row[group]} ${row.case}`;
    const count = counts.get(key) || { graded: 0, n: 0 };
    if (row.stop !== "error") {
      count.n += 1;
      count.graded += row.graded;
    }
    counts.set(key, count);
  }
  return counts;
}

// `a,b,up`: the cases whose graded rate is higher under arm b than under arm a.
function movedCases(rows, [from, to, way]) {
  const counts = counted(rows, "arm");
  const sign = { up: 1, down: -1, level: 0 }[way];
  const cases = new Set();
  for (const name of new Set(rows.map((row) => row.case))) {
    const a = counts.get(`${from} ${name}`), b = counts.get(`${to} ${name}`);
    if (a && b && Math.sign(b.graded * a.n - a.graded * b.n) === sign) cases.add(name);
  }
  return cases;
}

function testsOf(rows, filters) {
  const tests = [];
  for (const field of FIELDS) {
    if (!filters.get(field)) continue;
    const wanted = new Set(filters.get(field).split(","));
    tests.push((row) => wanted.has(String(row[field])));
  }
  if (filters.get("outcome")) {
    const some = filters.get("outcome").split(",").map((name) => OUTCOMES[name] || (() => false));
    tests.push((row) => some.some((test) => test(row)));
  }
  if (filters.get("solved")) {
    const counts = counted(rows, "run"), fits = SOLVED[filters.get("solved")] || (() => false);
    tests.push((row) => fits(counts.get(`${row.run} ${row.case}`)));
  }
  if (filters.get("moved")) {
    const cases = movedCases(rows, filters.get("moved").split(","));
    tests.push((row) => cases.has(row.case));
  }
  return tests;
}

function chosen(rows, filters) {
  const tests = testsOf(rows, filters);
  return rows.filter((row) => tests.every((test) => test(row)));
}

// A rollout's address within the study.
function addressOf(row) {
  return `${row.run}/${row.rep}/${row.case}/${row.sample}`;
}
