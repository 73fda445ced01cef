"use strict";

// The numbers, what is chosen of them, and how to choose. The scripts share one scope.

const page = JSON.parse(document.getElementById("data").textContent);
const chosen = { metric: page.sheets[0].metric, epsilon: page.sheets[0].epsilon };

// Of every metric, ε, protocol and method; the data has names as numbers.
const combinations = page.combinations.rows.map((row) => {
  const named = Object.fromEntries(page.combinations.columns.map((name, i) => [name, row[i]]));
  for (const name of ["metric", "epsilon", "protocol", "method"]) named[name] = page[name][named[name]];
  return named;
});

const byId = (id) => document.getElementById(id);

const narrow = () => window.innerWidth < 640;

const isChosen = (part) => part.metric === chosen.metric && part.epsilon === chosen.epsilon;

const chosenCombinations = () => combinations.filter(isChosen);

const chosenSheet = () => page.sheets.find(isChosen)
  ?? { ...chosen, better: "lower", factor: 1, scale: "not measured", wins: [], sizes: [] };

// A choice among things; where there is only one, there is nothing to choose.
function offer(id, things, first, then, words = String) {
  const select = byId(id);
  if (!select) return;
  select.replaceChildren(...things.map((thing, i) => {
    const option = document.createElement("option");
    option.value = i;
    option.textContent = words(thing);
    option.selected = thing === first;
    return option;
  }));
  select.parentElement.hidden = things.length < 2;
  select.addEventListener("change", () => then(things[Number(select.value)]));
}
