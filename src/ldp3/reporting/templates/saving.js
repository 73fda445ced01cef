"use strict";

// Files that the page makes by itself: a chart as SVG or PNG, a table as CSV.

function save(name, content, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const fileName = (...words) => words.map((word) => String(word).replace(/[^\w.]+/g, "_").replace(/^[_.]+|_+$/g, ""))
  .filter(Boolean).join("-");

// The page's colours by their values: a file has no page around it.
function withColours(part, style) {
  if (typeof part === "string") {
    return part.replace(/^var\((--[\w-]+)\)$/, (_, name) => style.getPropertyValue(name).trim());
  }
  if (Array.isArray(part)) return part.map((inner) => withColours(inner, style));
  if (part === null || typeof part !== "object") return part;
  return Object.fromEntries(Object.entries(part).map(([key, inner]) =>
    [key, key === "datasets" ? inner : withColours(inner, style)]));
}

async function saveChart(id, kind) {
  if (!drawn.has(id)) return;
  const style = getComputedStyle(document.documentElement);
  const spec = withColours(drawn.get(id), style);
  spec.width = byId(id).clientWidth;
  spec.config.background = style.getPropertyValue("--paper").trim();
  const { view } = await vegaEmbed(document.createElement("div"), spec, { renderer: "none", ast: true, actions: false });
  const name = fileName(page.name, id, chosen.metric, chosen.epsilon);
  if (kind === "svg") save(`${name}.svg`, await view.toSVG(), "image/svg+xml");
  else (await view.toCanvas(2)).toBlob((blob) => save(`${name}.png`, blob, "image/png"));
  view.finalize();
}

// As spreadsheets read it: quoted where needed; a text that begins like a formula stays a text.
function csvCell(value) {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" && /^'*[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const csv = (rows) => rows.map((row) => row.map(csvCell).join(",") + "\n").join("");

function startSaving() {
  for (const place of document.querySelectorAll("section .chart")) {
    const buttons = document.createElement("p");
    buttons.className = "save";
    for (const kind of ["svg", "png"]) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = kind.toUpperCase();
      button.title = `Save this chart as ${kind.toUpperCase()}`;
      button.dataset.save = `${place.id} ${kind}`;
      button.addEventListener("click", () => saveChart(place.id, kind));
      buttons.append(button);
    }
    place.after(buttons);
  }
}
