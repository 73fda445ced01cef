"use strict";

// The numbers, what is chosen of them, and how to choose. The scripts share one scope.

const report = JSON.parse(document.getElementById("data").textContent);
let page = report.datasets[0]; // the dataset that is shown
let combinations = named(page);
const chosen = { metric: page.sheets[0].metric, epsilon: page.sheets[0].epsilon };

// Rows with names, of rows without and the names once.
function unpacked({ columns, rows }) {
  return rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]])));
}

// Of every metric, ε, protocol and method; the data has names as numbers.
function named(dataset) {
  const names = ["metric", "epsilon", "protocol", "method"];
  return unpacked(dataset.combinations).map((one) =>
    ({ ...one, ...Object.fromEntries(names.map((name) => [name, dataset[name][one[name]]])) }));
}

// A name as people read it (GRR, Norm-Sub, ℓ1); files and addresses keep the one that is typed.
const title = (name) => (Object.hasOwn(report.titles, name) ? report.titles[name] : name);

// What a name or its title means, or nothing.
const typed = Object.fromEntries(Object.entries(report.titles).map(([name, read]) => [read, name]));
const meaning = (name) => {
  const own = Object.hasOwn(typed, name) ? typed[name] : name;
  return Object.hasOwn(report.words, own) ? report.words[own] : "";
};

const byId = (id) => document.getElementById(id);

const narrow = () => window.innerWidth < 640;

const isChosen = (part) => part.metric === chosen.metric && part.epsilon === chosen.epsilon;

const chosenCombinations = () => combinations.filter(isChosen);

const chosenSheet = () => page.sheets.find(isChosen)
  ?? { ...chosen, better: better(chosen.metric), reading: `${better(chosen.metric)} is better`, factor: 1, scale: " (not measured)", wins: [], sizes: [] };

const measure = (metric) => page.sheets.find((sheet) => sheet.metric === metric)?.measure ?? title(metric);

const better = (metric) => page.sheets.find((sheet) => sheet.metric === metric)?.better ?? "lower";

// As the sentences write it: three digits, no exponent where people can read it without.
function short(value) {
  const size = Math.abs(value);
  if (size >= 999.5 && size < 1e6) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}

// A choice among things; where there is only one, there is nothing to choose.
function offer(id, things, current, words = title) {
  const select = byId(id);
  if (!select) return;
  select.replaceChildren(...things.map((thing, i) => {
    const option = document.createElement("option");
    option.value = i;
    option.textContent = words(thing);
    option.selected = thing === current;
    option.title = meaning(thing);
    return option;
  }));
  select.title = meaning(current);
  select.parentElement.hidden = things.length < 2;
}

const onChoice = (id, then) => byId(id)?.addEventListener("change", (event) => then(Number(event.target.value)));
