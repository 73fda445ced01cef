"use strict";

// What to choose from, what a choice changes, and the address that leads back to it.

const comparisons = () => [
  ...page.protocol.map((fixed) => ({ by: "method", fixed, words: `the methods on ${title(fixed)}` })),
  ...page.method.map((fixed) => ({ by: "protocol", fixed, words: `the protocols with ${title(fixed)}` })),
];
const BANDS = ["the mean", "one collection"];

function showWords() {
  const dataset = String(report.datasets.indexOf(page));
  const answer = `${dataset} ${page.metric.indexOf(chosen.metric)} ${page.epsilon.indexOf(chosen.epsilon)}`;
  document.querySelectorAll("[data-answer]").forEach((part) => { part.hidden = part.dataset.answer !== answer; });
  document.querySelectorAll("[data-dataset]").forEach((part) => { part.hidden = part.dataset.dataset !== dataset; });
  const sheet = chosenSheet();
  document.querySelectorAll("[data-now]").forEach((part) => {
    part.textContent = title(sheet[part.dataset.now]);
    part.title = meaning(part.textContent);
  });
  byId("ratio-words") && (byId("ratio-words").textContent =
    sheet.better === "lower" ? "divided by the best line" : "as a share of the best line");
}

// Everything that is chosen, as a person would type it.
function state() {
  const found = new URLSearchParams();
  if (report.datasets.length > 1) found.set("dataset", page.name);
  found.set("metric", chosen.metric);
  found.set("epsilon", chosen.epsilon);
  if (page.charts["error-method"]) {
    found.set(compared.by === "method" ? "on" : "with", compared.fixed);
    if (!compared.ratio) found.set("ratio", "no");
    if (compared.one) found.set("band", "one");
  }
  if (page.frequencies) {
    found.set("protocol", pair.protocol);
    found.set("method", pair.method);
  }
  if (page.attacked) found.set("attack", attacker.attack);
  return found;
}

// What an address says, as far as it is there; the rest stays.
function restore() {
  const given = new URLSearchParams(location.hash.slice(1));
  const taken = (key, among) => among.map(String).indexOf(given.get(key));
  const dataset = taken("dataset", report.datasets.map((one) => one.name));
  if (dataset >= 0) show(report.datasets[dataset]);
  const sheet = page.sheets.find((one) => one.metric === given.get("metric") && String(one.epsilon) === given.get("epsilon"));
  if (sheet) Object.assign(chosen, { metric: sheet.metric, epsilon: sheet.epsilon });
  const series = comparisons().find(({ by, fixed }) => given.get(by === "method" ? "on" : "with") === fixed);
  if (series) Object.assign(compared, { by: series.by, fixed: series.fixed });
  if (given.has("metric")) Object.assign(compared, { ratio: given.get("ratio") !== "no", one: given.get("band") === "one" });
  if (taken("protocol", page.protocol) >= 0) pair.protocol = given.get("protocol");
  if (taken("method", page.method) >= 0) pair.method = given.get("method");
  if (page.attacked?.attack.includes(given.get("attack"))) attacker.attack = given.get("attack");
}

// Another dataset; what is chosen stays, where that has it.
function show(dataset) {
  page = dataset;
  combinations = named(page);
  if (!page.sheets.some(isChosen)) Object.assign(chosen, { metric: page.sheets[0].metric, epsilon: page.sheets[0].epsilon });
  if (!page[compared.by === "method" ? "protocol" : "method"].includes(compared.fixed)) {
    Object.assign(compared, { by: "method", fixed: page.leader.protocol });
  }
  for (const name of ["protocol", "method"]) if (!page[name].includes(pair[name])) pair[name] = page.leader[name];
}

function offerAll() {
  byId("switches").hidden = page.metric.length < 2 && page.epsilon.length < 2 && report.datasets.length < 2;
  offer("dataset", report.datasets, page, (one) => one.name);
  offer("metric", page.metric, chosen.metric);
  offer("epsilon", page.epsilon, chosen.epsilon);
  const series = comparisons();
  offer("series", series, series.find((one) => one.by === compared.by && one.fixed === compared.fixed), (one) => one.words);
  offer("band", BANDS, BANDS[Number(compared.one)]);
  offer("protocol", page.protocol, pair.protocol);
  offer("method", page.method, pair.method);
  const attacks = page.attacked?.attack ?? [];
  if (!attacks.includes(attacker.attack)) attacker.attack = attacks.at(-1) ?? null;
  offer("attack", attacks, attacker.attack);
  if (byId("ratio")) byId("ratio").checked = compared.ratio;
}

async function update() {
  offerAll();
  showWords();
  history.replaceState(null, "", `#${state()}`);
  drawTable();
  drawOverview();
  await Promise.all([drawCharts(), drawAttacked()]);
  document.body.dataset.ready = `${page.name} ${chosen.metric} ${chosen.epsilon}`; // for whoever waits for it
}

async function updated(then) {
  history.replaceState(null, "", `#${state()}`);
  await then();
}

onChoice("dataset", (i) => { show(report.datasets[i]); update(); });
onChoice("metric", (i) => { chosen.metric = page.metric[i]; update(); });
onChoice("epsilon", (i) => { chosen.epsilon = page.epsilon[i]; update(); });
onChoice("series", (i) => { Object.assign(compared, comparisons()[i]); updated(drawError); });
onChoice("band", (i) => { compared.one = i === 1; updated(drawError); });
onChoice("protocol", (i) => { pair.protocol = page.protocol[i]; updated(drawFrequencies); });
onChoice("method", (i) => { pair.method = page.method[i]; updated(drawFrequencies); });
onChoice("attack", (i) => { attacker.attack = page.attacked.attack[i]; updated(drawGain); });
byId("ratio")?.addEventListener("change", (event) => { compared.ratio = event.target.checked; updated(drawError); });
byId("overview-csv")?.addEventListener("click", saveOverview);

for (const sentence of document.querySelectorAll(".answer p")) sentence.replaceChildren(...explained(sentence.textContent));
startSaving();
startTable();
restore();
update();

window.addEventListener("hashchange", () => { restore(); update(); });

let wasNarrow = narrow();
window.addEventListener("resize", () => {
  if (narrow() === wasNarrow) return;
  wasNarrow = narrow();
  drawCharts();
  drawAttacked();
});
