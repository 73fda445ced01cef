"use strict";

// The charts: `draw` fills one, the functions below make its rows.

const compared = { by: "method", fixed: page.leader.protocol, ratio: false };
const pair = { ...page.leader }; // whose frequencies are shown

// A deep copy, each part changed on the way; only titles and descriptions name the metric.
function copied(part, label, change) {
  if (Array.isArray(part)) return part.map((inner) => copied(inner, label, change));
  if (part === null || typeof part !== "object") return part;
  const copy = Object.fromEntries(
    Object.entries(part).map(([key, inner]) => [key, copied(inner, label, change)]));
  for (const key of ["title", "description"]) {
    if (typeof copy[key] === "string") copy[key] = copy[key].replaceAll("{metric}", label);
  }
  return change(copy);
}

function farApart(rows) {
  const values = rows.flatMap((row) => ["mean", "low", "high", "best", "raw"].map((name) => row[name]))
    .filter((value) => typeof value === "number");
  return Math.min(...values) > 0 && Math.max(...values) > 4 * Math.min(...values);
}

function specification(name, rows, label, width) {
  const logarithmic = farApart(rows);
  return copied(page.charts[name], label, (part) => {
    if (part.title === label && part.scale && logarithmic) {
      part.scale = { type: "log", nice: false, padding: 12 };
    }
    if (part.columns) part.columns = Math.max(2, Math.floor(width / 110));
    if (part.params && !window.matchMedia("(pointer: fine)").matches) {
      part.params = part.params.filter((param) => param.name !== "zoom"); // a finger scrolls
    }
    return part;
  });
}

// On a phone the methods go down and the protocols across.
function turned(spec) {
  const { x, y } = spec.encoding;
  spec.encoding.x = { ...y, axis: { ...x.axis, labelAngle: -35 } };
  spec.encoding.y = { ...x, axis: {} };
  spec.height *= page.method.length / page.protocol.length;
}

async function draw(id, name, rows, { params, label = chosen.metric } = {}) {
  const place = byId(id);
  if (!place || !page.charts[name]) return;
  if (!rows.length) {
    place.textContent = "Nothing was measured here.";
    return;
  }
  const spec = specification(name, rows, label, place.clientWidth);
  Object.assign(spec, params && { params }, { datasets: { rows } });
  if (name === "heat" && narrow()) turned(spec);
  await vegaEmbed(place, spec, { renderer: "svg", ast: true, actions: false });
}

// From 1 at the best through ½ at the median towards 0, so that one outlier takes no contrast.
function shaded(rows, { better, factor }) {
  const means = rows.map((row) => row.mean);
  const scale = Math.min(...means) > 0 ? Math.log : (value) => value;
  const best = scale(better === "lower" ? Math.min(...means) : Math.max(...means));
  const far = means.map((mean) => Math.abs(scale(mean) - best));
  const middle = [...far].sort((a, b) => a - b)[Math.floor(far.length / 2)] || 1;
  return rows.map((row, i) => {
    const value = row.mean / factor;
    const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
    return {
      ...row, tied: row.tied ? "yes" : "no", shade: middle / (middle + far[i]),
      text: value.toFixed(digits), mark: row.rank === 1 ? "★" : row.tied ? "≈" : "",
    };
  });
}

function drawError() {
  const other = compared.by === "method" ? "protocol" : "method";
  const rows = combinations.filter((c) => c.metric === chosen.metric && c[other] === compared.fixed);
  const better = chosenSheet().better === "lower" ? Math.min : Math.max;
  const best = new Map();
  for (const row of rows) best.set(row.epsilon, better(row.mean, best.get(row.epsilon) ?? row.mean));
  const lines = rows.map((row) => {
    const unit = compared.ratio ? best.get(row.epsilon) : 1;
    return { ...row, mean: row.mean / unit, low: (row.low ?? row.mean) / unit, high: (row.high ?? row.mean) / unit };
  });
  const label = compared.ratio ? `${chosen.metric} ÷ best` : chosen.metric;
  return draw("error", `error-${compared.by}`, lines, { label });
}

async function drawFrequencies() {
  const given = page.frequencies;
  if (!given) return;
  const means = (method) => given.means.find((m) =>
    m.epsilon === chosen.epsilon && m.protocol === pair.protocol && m.method === method)?.values;
  const kinds = { truth: given.truth, "before post-processing": means("none") };
  if (pair.method !== "none") kinds.after = means(pair.method);
  const rows = Object.entries(kinds).flatMap(([kind, values]) => (values ?? []).map((frequency, place) =>
    ({ kind, place, label: given.labels[place], frequency })));
  await draw("frequencies", "frequencies", rows, { params: [{ name: "names", value: given.labels }] });
}

function drawCharts() {
  const sheet = chosenSheet();
  return Promise.all([
    draw("heat", "heat", shaded(chosenCombinations(), sheet)),
    drawError(),
    draw("wins", "wins", sheet.wins),
    draw("sizes", "sizes", sheet.sizes),
    drawFrequencies(),
  ]);
}
