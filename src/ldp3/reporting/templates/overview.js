"use strict";

// All datasets at once, for the metric and ε that are chosen.

// A dataset to which the metric is not suited has no loss.
const percent = (loss) => (loss === null ? "–" : loss === 0 ? "0 %" : `${short(100 * loss)} %`);

function overviewRow({ protocol, method, worst, rank, best, losses, tied }) {
  const tr = document.createElement("tr");
  const cells = [title(protocol), title(method), percent(worst), rank.toFixed(1), `${best} of ${losses.filter((loss) => loss !== null).length}`, ...losses.map(percent)];
  cells.forEach((text, i) => {
    const td = tr.insertCell();
    td.textContent = text;
    if (i < 2) {
      td.className = "text";
      td.title = meaning(text);
    }
    if (i > 4 && tied[i - 5]) td.className = "tied";
  });
  return tr;
}

function drawOverview() {
  const section = byId("overview");
  if (!section) return;
  const found = report.overview.find(isChosen);
  byId("overview-words").replaceChildren(...(found?.sentences ?? ["No comparison with the best by a ratio is possible here."])
    .map((sentence) => {
      const p = document.createElement("p");
      p.append(...explained(sentence));
      return p;
    }));
  byId("overview-rows").replaceChildren(...(found?.rows ?? []).map(overviewRow));
}

function saveOverview() {
  const found = report.overview.find(isChosen);
  if (!found) return;
  const head = ["metric", "epsilon", "protocol", "method", "worst_loss", "average_rank", "best_or_tied", ...report.datasets.map((one) => one.name)];
  const rows = found.rows.map((row) =>
    [found.metric, found.epsilon, row.protocol, row.method, row.worst, row.rank, row.best, ...row.losses]);
  save(`${fileName("overview", chosen.metric, chosen.epsilon)}.csv`, csv([head, ...rows]), "text/csv");
}
