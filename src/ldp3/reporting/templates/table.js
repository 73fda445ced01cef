"use strict";

// All numbers as a table that sorts, is searched and saved.

const FIRST = 50; // rows until all are asked for
const shownRows = { sortedBy: null, ascending: true, all: false, onlyChosen: false, onlyTied: false, search: "" };
const columns = [
  { name: "protocol", head: "protocol", text: true },
  { name: "method", head: "method", text: true },
  { name: "metric", head: "metric", text: true },
  { name: "epsilon", head: "ε" },
  { name: "mean", head: "mean", said: "over the repeats" },
  { name: "std", head: "std", said: "standard deviation of one collection" },
  { name: "low", head: "95 % from", said: "confidence interval of the mean" },
  { name: "high", head: "to", said: "confidence interval of the mean" },
  { name: "min", head: "min" },
  { name: "max", head: "max" },
  { name: "count", head: "repeats" },
  { name: "rank", head: "rank", said: "in its metric and ε" },
  { name: "tied", head: "tied", said: "with the best of its metric and ε, by the statistics of this run" },
  { name: "times_limit", head: "× limit", said: "error over that of a rule that knows all frequencies but not whose they are" },
  { name: "times_distribution_limit", head: "as a distribution", said: "over that of the same rule made to sum to one" },
  { name: "bits", head: "bits", said: "of a report" },
  { name: "simulate", head: "simulate", text: true },
];

function written(name, value) {
  if (value === null || value === undefined) return "–";
  if (name === "tied") return value ? "yes" : "";
  if (typeof value !== "number" || Number.isInteger(value)) return String(title(value));
  return String(Number(value.toPrecision(4)));
}

// Every word that is searched for is in some name of the row, as it is typed or as it is read.
function isFound(row) {
  const words = shownRows.search.toLowerCase().split(/\s+/).filter(Boolean);
  const named = [row.protocol, row.method, row.metric];
  const names = [...named, ...named.map(title), `ε=${row.epsilon}`].join("\n").toLowerCase();
  return words.every((word) => names.includes(word));
}

function sortedRows() {
  const { sortedBy, ascending, onlyChosen, onlyTied } = shownRows;
  const rows = (onlyChosen ? chosenCombinations() : [...combinations])
    .filter((row) => (row.tied || !onlyTied) && isFound(row));
  if (!sortedBy) return rows;
  return rows.sort((a, b) => {
    const [u, v] = [a[sortedBy], b[sortedBy]];
    if (u === null || v === null) return (u === null) - (v === null); // the unknown last
    const order = u < v ? -1 : u > v ? 1 : 0;
    return ascending ? order : -order;
  });
}

function tableRow(row) {
  const tr = document.createElement("tr");
  if (row.tied) tr.className = "tied";
  for (const { name, text } of columns) {
    const td = tr.insertCell();
    td.textContent = written(name, row[name]);
    if (!text) continue;
    td.className = "text";
    td.title = meaning(row[name]);
  }
  return tr;
}

function drawTable() {
  const rows = sortedRows();
  const limit = shownRows.all ? rows.length : FIRST;
  byId("rows").replaceChildren(...rows.slice(0, limit).map(tableRow));
  byId("more").hidden = rows.length <= limit;
  byId("more").textContent = `Show all ${rows.length.toLocaleString("en")} rows`;
  byId("found").textContent = `${rows.length.toLocaleString("en")} of ${combinations.length.toLocaleString("en")} rows`;
  for (const th of byId("head").cells) {
    if (th.dataset.key !== shownRows.sortedBy) th.removeAttribute("aria-sort");
    else th.setAttribute("aria-sort", shownRows.ascending ? "ascending" : "descending");
  }
}

function tableHead({ name, head, text, said }) {
  const th = document.createElement("th");
  th.scope = "col";
  th.dataset.key = name;
  if (text) th.className = "text";
  if (said) th.title = said;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = head;
  button.addEventListener("click", () => {
    shownRows.ascending = shownRows.sortedBy === name ? !shownRows.ascending : true;
    shownRows.sortedBy = name;
    drawTable();
  });
  th.append(button);
  return th;
}

// What the table shows now, all of it, with all digits that the page has.
function saveTable() {
  const head = ["dataset", ...columns.map(({ name }) => name)];
  const rows = sortedRows().map((row) => [page.name, ...columns.map(({ name }) => row[name])]);
  save(`${fileName(page.name, "combinations")}.csv`, csv([head, ...rows]), "text/csv");
}

function startTable() {
  byId("head").replaceChildren(...columns.map(tableHead));
  byId("more").addEventListener("click", () => { shownRows.all = true; drawTable(); });
  byId("only").addEventListener("change", (event) => { shownRows.onlyChosen = event.target.checked; drawTable(); });
  byId("tied").addEventListener("change", (event) => { shownRows.onlyTied = event.target.checked; drawTable(); });
  byId("search").addEventListener("input", (event) => { shownRows.search = event.target.value; drawTable(); });
  byId("csv").addEventListener("click", saveTable);
}
