"use strict";

// The charts: `draw` fills one, the functions below make its rows.

const compared = { by: "method", fixed: page.leader.protocol, ratio: true, one: false };
const pair = { ...page.leader }; // whose frequencies are shown
const drawn = new Map(); // place → how to draw it again

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

const SHADES = { // what the colours of the heat map mean
  lower: "datum.value == 1 ? 'best' : format(1 / datum.value, '.3~g') + ' ×'",
  higher: "datum.value == 1 ? 'best' : format(datum.value, '.0%')",
};

function specification(name, rows, label, width) {
  const logarithmic = farApart(rows);
  return copied(page.charts[name], label, (part) => {
    if (part.title === label && part.scale && logarithmic) {
      part.scale = { type: "log", nice: false, padding: 12 };
    }
    for (const key of ["sort", "domain"]) if (Array.isArray(part[key])) part[key] = part[key].map(title);
    if (part.columns) part.columns = Math.max(2, Math.floor(width / 110));
    if (part.labelExpr === "{shades}") part.labelExpr = SHADES[better(chosen.metric)];
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

// A row with its names as people read them.
const asRead = (row) => ({
  ...row, ...Object.fromEntries(["protocol", "method", "attack"].filter((name) => name in row).map((name) => [name, title(row[name])])),
});

async function draw(id, name, rows, { params, label = measure(chosen.metric) } = {}) {
  const place = byId(id);
  if (!place) return;
  place.closest("section").hidden = !page.charts[name];
  if (!page.charts[name]) return;
  drawn.delete(id);
  if (!rows.length) {
    place.textContent = "Nothing was measured here.";
    return;
  }
  const spec = specification(name, rows, label, place.clientWidth);
  Object.assign(spec, params && { params }, { datasets: { rows: rows.map(asRead) } });
  if ((name === "heat" || name === "worst") && narrow()) turned(spec);
  drawn.set(id, spec);
  await vegaEmbed(place, spec, { renderer: "svg", ast: true, actions: false });
  explainLabels(place);
}

// How close to the best, from 0 to 1; what is tied with it is painted as it is.
function closeness(rows, direction) {
  const means = rows.map((row) => row.mean);
  const least = Math.min(...means);
  const best = direction === "lower" ? least : Math.max(...means);
  if (least > 0) return means.map((mean) => (direction === "lower" ? best / mean : mean / best));
  const far = means.map((mean) => Math.abs(mean - best)); // no ratio: the median in the middle
  const middle = [...far].sort((a, b) => a - b)[Math.floor(far.length / 2)] || 1;
  return far.map((one) => middle / (middle + one));
}

function shaded(rows, sheet) {
  const close = closeness(rows, sheet.better);
  return rows.map((row, i) => ({
    ...row, tied: row.tied ? "yes" : "no", shade: row.tied ? 1 : close[i],
    text: short(row.mean / sheet.factor), mark: row.rank === 1 ? "★" : row.tied ? "≈" : "",
  }));
}

// The ends of a line's band: of the mean, or of what one collection gives.
function band(row) {
  if (!compared.one) return [row.low ?? row.mean, row.high ?? row.mean];
  const { mean, std } = row;
  if (!(mean > 0)) return [mean - 1.96 * (std ?? 0), mean + 1.96 * (std ?? 0)];
  const variance = Math.log1p(((std ?? 0) / mean) ** 2); // of its logarithm, as an error is above 0
  return [-1.96, 1.96].map((z) => mean * Math.exp(z * Math.sqrt(variance) - variance / 2));
}

function drawError() {
  const other = compared.by === "method" ? "protocol" : "method";
  const rows = combinations.filter((c) => c.metric === chosen.metric && c[other] === compared.fixed);
  const direction = better(chosen.metric);
  const first = direction === "lower" ? Math.min : Math.max;
  const best = new Map();
  for (const row of rows) best.set(row.epsilon, first(row.mean, best.get(row.epsilon) ?? row.mean));
  const ratio = compared.ratio && rows.every((row) => row.mean > 0);
  const most = direction === "higher" && rows.every((row) => row.mean <= 1) ? 1 : Infinity;
  const lines = rows.map((row) => {
    const unit = ratio ? best.get(row.epsilon) : 1;
    const [low, high] = band(row).map((end) => Math.min(end / unit, most));
    return { ...row, mean: row.mean / unit, low, high };
  });
  const metric = title(chosen.metric);
  const label = !ratio ? measure(chosen.metric) : direction === "lower" ? `${metric} ÷ best` : `${metric}, share of the best`;
  return draw("error", `error-${compared.by}`, lines, { label });
}

async function drawFrequencies() {
  const given = page.frequencies;
  const own = (part) => part.epsilon === chosen.epsilon && part.protocol === pair.protocol;
  const means = (method) => given.means.find((part) => own(part) && part.method === method)?.values;
  if (!given) return draw("frequencies", "frequencies", []);
  const spread = given.spreads.find(own)?.values;
  const kinds = { truth: given.truth, "before post-processing": means("none") };
  if (pair.method !== "none") kinds.after = means(pair.method);
  const rows = Object.entries(kinds).flatMap(([kind, values]) => (values ?? []).map((frequency, place) => {
    const row = { kind, place, label: given.labels[place], frequency };
    if (kind !== "before post-processing" || !spread) return row;
    const half = 1.96 * spread[place];
    return { ...row, low: given.truth[place] - half, high: given.truth[place] + half };
  }));
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
