"use strict";

// All numbers as a table that sorts.

const FIRST = 50; // rows until all are asked for
const shownRows = { sortedBy: null, ascending: true, all: false, onlyChosen: false };
const columns = [
  { name: "metric", head: "metric", text: true },
  { name: "epsilon", head: "ε" },
  { name: "protocol", head: "protocol", text: true },
  { name: "method", head: "method", text: true },
  { name: "mean", head: "mean" },
  { name: "std", head: "std" },
  { name: "low", head: "95 % from" },
  { name: "high", head: "to" },
  { name: "min", head: "min" },
  { name: "max", head: "max" },
  { name: "count", head: "repeats" },
  { name: "rank", head: "rank" },
  { name: "tied", head: "tied" },
  { name: "times_limit", head: "× limit" },
  { name: "times_distribution_limit", head: "as a distribution" },
  { name: "bits", head: "bits" },
  { name: "simulate", head: "simulate", text: true },
];

function written(name, value) {
  if (value === null || value === undefined) return "–";
  if (name === "tied") return value ? "yes" : "";
  if (typeof value !== "number" || Number.isInteger(value)) return String(value);
  return String(Number(value.toPrecision(4)));
}

function sortedRows() {
  const { sortedBy, ascending, onlyChosen } = shownRows;
  const rows = onlyChosen ? chosenCombinations() : [...combinations];
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
    if (text) td.className = "text";
  }
  return tr;
}

function drawTable() {
  const rows = sortedRows();
  const limit = shownRows.all ? rows.length : FIRST;
  byId("rows").replaceChildren(...rows.slice(0, limit).map(tableRow));
  byId("more").hidden = rows.length <= limit;
  byId("more").textContent = `Show all ${rows.length.toLocaleString("en")} rows`;
  for (const th of byId("head").cells) {
    if (th.dataset.key !== shownRows.sortedBy) th.removeAttribute("aria-sort");
    else th.setAttribute("aria-sort", shownRows.ascending ? "ascending" : "descending");
  }
}

function tableHead({ name, head, text }) {
  const th = document.createElement("th");
  th.scope = "col";
  th.dataset.key = name;
  if (text) th.className = "text";
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

function startTable() {
  byId("head").replaceChildren(...columns.map(tableHead));
  byId("more").addEventListener("click", () => { shownRows.all = true; drawTable(); });
  byId("only").addEventListener("change", (event) => { shownRows.onlyChosen = event.target.checked; drawTable(); });
  drawTable();
}
