"use strict";

// A click on a head sorts; value: in the order of the domain, as ordered values stand at first. Others: by frequency.

const body = document.querySelector("tbody");
const heads = [...document.querySelectorAll("th[data-sort]")];

// Words and marks have what they are sorted by beside them.
function sortedBy(row, column) {
  const cell = row.cells[column];
  return Number(cell.dataset.place ?? cell.textContent.replaceAll(",", ""));
}

function sort(head) {
  const descending = head.ariaSort ? head.ariaSort === "ascending" : head.dataset.sort === "down";
  const sign = descending ? -1 : 1;
  const rows = [...body.rows];
  rows.sort((a, b) => sign * (sortedBy(a, head.cellIndex) - sortedBy(b, head.cellIndex)));
  body.replaceChildren(...rows);
  for (const other of heads) other.ariaSort = other === head ? (descending ? "descending" : "ascending") : null;
}

for (const head of heads) head.querySelector("button").addEventListener("click", () => sort(head));
