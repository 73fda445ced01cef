"use strict";

// What to choose from, and what a choice changes.

function showWords() {
  const answer = `${page.metric.indexOf(chosen.metric)} ${page.epsilon.indexOf(chosen.epsilon)}`;
  document.querySelectorAll("[data-answer]").forEach((part) => { part.hidden = part.dataset.answer !== answer; });
  const sheet = chosenSheet();
  document.querySelectorAll("[data-now]").forEach((part) => { part.textContent = sheet[part.dataset.now]; });
}

async function update() {
  showWords();
  if (shownRows.onlyChosen) drawTable();
  await drawCharts();
  document.body.dataset.ready = `${chosen.metric} ${chosen.epsilon}`; // for whoever waits for it
}

const comparisons = [
  ...page.protocol.map((fixed) => ({ by: "method", fixed, words: `the methods on ${fixed}` })),
  ...page.method.map((fixed) => ({ by: "protocol", fixed, words: `the protocols with ${fixed}` })),
];
const firstComparison = comparisons.find((c) => c.by === "method" && c.fixed === compared.fixed);

byId("switches").hidden = page.metric.length < 2 && page.epsilon.length < 2;
offer("metric", page.metric, chosen.metric, (name) => { chosen.metric = name; update(); });
offer("epsilon", page.epsilon, chosen.epsilon, (value) => { chosen.epsilon = value; update(); });
offer("series", comparisons, firstComparison, (one) => { Object.assign(compared, one); drawError(); }, (one) => one.words);
offer("protocol", page.protocol, pair.protocol, (name) => { pair.protocol = name; drawFrequencies(); });
offer("method", page.method, pair.method, (name) => { pair.method = name; drawFrequencies(); });
byId("ratio")?.addEventListener("change", (event) => { compared.ratio = event.target.checked; drawError(); });

startTable();
update();

let wasNarrow = narrow();
window.addEventListener("resize", () => {
  if (narrow() === wasNarrow) return;
  wasNarrow = narrow();
  drawCharts();
});
