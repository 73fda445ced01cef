"use strict";
{
  const page = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const cells = page.cells.rows.map((row) =>
    Object.fromEntries(page.cells.columns.map((name, i) => [name, row[i]])));
  for (const cell of cells) {
    for (const name of ["metric", "epsilon", "protocol", "method"]) cell[name] = page[name][cell[name]];
  }
  const narrow = () => window.innerWidth < 640;
  const chosen = { metric: page.sheets[0].metric, epsilon: page.sheets[0].epsilon };
  const sheet = () => page.sheets.find((s) => s.metric === chosen.metric && s.epsilon === chosen.epsilon)
    ?? { ...chosen, better: "lower", factor: 1, scale: "not measured", wins: [], sizes: [] };
  const shown = () => cells.filter((c) => c.metric === chosen.metric && c.epsilon === chosen.epsilon);

  // Selects

  function fill(select, names, value, words = String) {
    select.replaceChildren(...names.map((name, i) => {
      const option = document.createElement("option");
      option.value = i;
      option.textContent = words(name);
      option.selected = name === value;
      return option;
    }));
    select.parentElement.hidden = names.length < 2;
  }

  function pick(id, names, value, then, words) {
    const select = byId(id);
    if (!select) return;
    fill(select, names, value, words);
    select.addEventListener("change", () => then(names[Number(select.value)]));
  }

  // Charts

  // A deep copy, each part changed on the way; only titles and descriptions name the metric.
  function visit(part, label, change) {
    if (Array.isArray(part)) return part.map((inner) => visit(inner, label, change));
    if (part === null || typeof part !== "object") return part;
    const copy = Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, visit(inner, label, change)]));
    for (const key of ["title", "description"]) {
      if (typeof copy[key] === "string") copy[key] = copy[key].replaceAll("{metric}", label);
    }
    return change(copy);
  }

  function draw(id, name, rows, extra = {}, label = chosen.metric) {
    const place = byId(id);
    if (!place || !page.charts[name]) return Promise.resolve();
    if (!rows.length) {
      place.textContent = "Nothing was measured here.";
      return Promise.resolve();
    }
    const values = rows.flatMap((row) => ["mean", "low", "high", "best", "raw"].map((k) => row[k]))
      .filter((v) => typeof v === "number");
    const far = Math.min(...values) > 0 && Math.max(...values) > 4 * Math.min(...values);
    const spec = visit(page.charts[name], label, (part) => {
      if (part.title === label && part.scale && far) part.scale = { type: "log", nice: false, padding: 12 };
      if (part.columns) part.columns = Math.max(2, Math.floor(place.clientWidth / 110));
      if (part.params && !window.matchMedia("(pointer: fine)").matches) {
        part.params = part.params.filter((param) => param.name !== "zoom"); // a finger scrolls
      }
      return part;
    });
    Object.assign(spec, extra, { datasets: { rows } });
    if (name === "heat" && narrow()) {
      const { x, y } = spec.encoding;
      spec.encoding.x = { ...y, axis: { ...x.axis, labelAngle: -35 } };
      spec.encoding.y = { ...x, axis: {} };
      spec.height *= page.method.length / page.protocol.length;
    }
    return vegaEmbed(place, spec, { renderer: "svg", ast: true, actions: false }).then((made) => { place.dataset.drawn = rows.length; return made; });
  }

  // From 1 at the best through ½ at the median towards 0, so that one outlier takes no contrast.
  function shades(rows, { better, factor }) {
    const means = rows.map((row) => row.mean);
    const scale = Math.min(...means) > 0 ? Math.log : (v) => v;
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

  const compare = { by: "method", fixed: page.leader.protocol, ratio: false };

  function drawError() {
    const other = compare.by === "method" ? "protocol" : "method";
    const rows = cells.filter((c) => c.metric === chosen.metric && c[other] === compare.fixed);
    const best = new Map();
    const better = sheet().better === "lower" ? Math.min : Math.max;
    for (const row of rows) best.set(row.epsilon, better(row.mean, best.get(row.epsilon) ?? row.mean));
    const part = (row) => (value) => (compare.ratio && value !== null ? value / best.get(row.epsilon) : value);
    return draw("error", `error-${compare.by}`, rows.map((row) => {
      const [mean, low, high] = [row.mean, row.low ?? row.mean, row.high ?? row.mean].map(part(row));
      return { ...row, mean, low, high };
    }), {}, compare.ratio ? `${chosen.metric} ÷ best` : chosen.metric);
  }

  const combination = { ...page.leader };

  function drawFrequencies() {
    const given = page.frequencies;
    if (!given) return Promise.resolve();
    const at = (method) => given.means.find((m) =>
      m.epsilon === chosen.epsilon && m.protocol === combination.protocol && m.method === method)?.values;
    const kinds = { truth: given.truth, "before post-processing": at("none") };
    if (combination.method !== "none") kinds.after = at(combination.method);
    const rows = Object.entries(kinds).flatMap(([kind, values]) => (values ?? []).map((frequency, place) =>
      ({ kind, place, label: given.labels[place], frequency })));
    return draw("frequencies", "frequencies", rows, { params: [{ name: "names", value: given.labels }] });
  }

  function drawAll() {
    const now = sheet();
    document.querySelectorAll("[data-answer]").forEach((part) => {
      part.hidden = !(part.dataset.answer === `${page.metric.indexOf(chosen.metric)} ${page.epsilon.indexOf(chosen.epsilon)}`);
    });
    document.querySelectorAll("[data-now]").forEach((part) => { part.textContent = now[part.dataset.now]; });
    return Promise.all([
      draw("heat", "heat", shades(shown(), now)),
      drawError(),
      draw("wins", "wins", now.wins),
      draw("sizes", "sizes", now.sizes),
      drawFrequencies(),
    ]);
  }

  // Table

  const table = { key: null, up: true, all: false, only: false };
  const columns = [
    ["metric", "metric", true], ["epsilon", "ε"], ["protocol", "protocol", true], ["method", "method", true],
    ["mean", "mean"], ["std", "std"], ["low", "95 % from"], ["high", "to"], ["min", "min"], ["max", "max"],
    ["count", "repeats"], ["rank", "rank"], ["tied", "tied"], ["bits", "bits"], ["simulate", "simulate", true],
  ];

  function written(name, value) {
    if (value === null || value === undefined) return "–";
    if (name === "tied") return value ? "yes" : "";
    return typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(4))) : String(value);
  }

  function drawTable() {
    const rows = table.only ? shown() : [...cells];
    if (table.key) {
      const sign = table.up ? 1 : -1;
      const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
      rows.sort((a, b) => {
        const [u, v] = [a[table.key], b[table.key]];
        if (u === null || v === null) return (u === null) - (v === null); // the unknown last
        return sign * order(u, v);
      });
    }
    const limit = table.all ? rows.length : 50;
    byId("rows").replaceChildren(...rows.slice(0, limit).map((row) => {
      const tr = document.createElement("tr");
      if (row.tied) tr.className = "tied";
      for (const [name, , text] of columns) {
        const td = tr.insertCell();
        td.textContent = written(name, row[name]);
        if (text) td.className = "text";
      }
      return tr;
    }));
    const more = byId("more");
    more.hidden = rows.length <= limit;
    more.textContent = `Show all ${rows.length.toLocaleString("en")} rows`;
    for (const th of byId("head").cells) {
      if (th.dataset.key === table.key) th.setAttribute("aria-sort", table.up ? "ascending" : "descending");
      else th.removeAttribute("aria-sort");
    }
  }

  function head() {
    byId("head").replaceChildren(...columns.map(([name, words, text]) => {
      const th = document.createElement("th");
      th.scope = "col";
      th.dataset.key = name;
      if (text) th.className = "text";
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = words;
      button.addEventListener("click", () => {
        table.up = table.key === name ? !table.up : true;
        table.key = name;
        drawTable();
      });
      th.append(button);
      return th;
    }));
    byId("more").addEventListener("click", () => { table.all = true; drawTable(); });
    byId("only").addEventListener("change", (event) => { table.only = event.target.checked; drawTable(); });
  }

  // Start

  pick("metric", page.metric, chosen.metric, (name) => { chosen.metric = name; update(); });
  pick("epsilon", page.epsilon, chosen.epsilon, (value) => { chosen.epsilon = value; update(); });
  byId("switches").hidden = page.metric.length < 2 && page.epsilon.length < 2;
  const series = [
    ...page.protocol.map((fixed) => ({ by: "method", fixed, words: `the methods on ${fixed}` })),
    ...page.method.map((fixed) => ({ by: "protocol", fixed, words: `the protocols with ${fixed}` })),
  ];
  pick("series", series, series.find((s) => s.by === "method" && s.fixed === compare.fixed),
    (one) => { Object.assign(compare, one); drawError(); }, (one) => one.words);
  byId("ratio")?.addEventListener("change", (event) => { compare.ratio = event.target.checked; drawError(); });
  pick("protocol", page.protocol, combination.protocol, (name) => { combination.protocol = name; drawFrequencies(); });
  pick("method", page.method, combination.method, (name) => { combination.method = name; drawFrequencies(); });

  function update() {
    if (table.only) drawTable();
    return drawAll().then(() => { document.body.dataset.ready = `${chosen.metric} ${chosen.epsilon}`; });
  }

  head();
  drawTable();
  update();
  let wasNarrow = narrow();
  window.addEventListener("resize", () => {
    if (narrow() !== wasNarrow) { wasNarrow = narrow(); drawAll(); }
  });
}
