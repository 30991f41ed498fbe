// Plays recorded episodes back, turn by turn. Nothing runs here.
"use strict";

let episodes = [];
let shown = 0;

function current() {
  return episodes[Number(byId("which").value)];
}

function showUpTo(count) {
  const episode = current();
  shown = Math.min(count, episode.turns.length);
  byId("turns").replaceChildren(...episode.turns.slice(0, shown).map(turn));
  const whole = shown === episode.turns.length;
  byId("next").disabled = byId("all").disabled = whole;
  byId("result").hidden = true;
  byId("tree").replaceChildren();
  if (!whole) return;
  showTree(episode.tree, episode.facts);
  showResult({ ...episode.facts, ...episode });
}

function choose() {
  const episode = current();
  byId("label").textContent = visible(episode.label);
  byId("source").textContent = visible(Object.entries(episode.source).map(([name, value]) => `${name} ${value === null ? "unknown" : value}`).join(", "));
  byId("episode").hidden = false;
  const opening = episode.turns.findIndex((one) => one.role === "assistant");
  showUpTo(opening < 0 ? episode.turns.length : opening);
}

byId("which").addEventListener("change", choose);
byId("next").addEventListener("click", () => showUpTo(shown + 1));
byId("all").addEventListener("click", () => showUpTo(Infinity));

fetch("demo/episodes").then((reply) => reply.json()).then((found) => {
  byId("about").textContent = visible(found.about);
  episodes = found.episodes;
  byId("which").replaceChildren(...episodes.map((episode, index) =>
    element("option", { value: index }, `${episode.correct ? "right" : "not right"} · ${visible(episode.kind)} · ${visible(episode.label)}`)));
  if (episodes.length) choose();
}).catch((error) => problem(`The episodes cannot be shown: ${error.message}`));
