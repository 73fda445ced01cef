"use strict";

// What a name means, where the mouse is on it.

// In a sentence "none" is a word.
const knownNames = Object.keys(report.words).filter((name) => name !== "none").map(title).sort((a, b) => b.length - a.length);

// Longest first; a name within a longer word is none.
const namePattern = knownNames.length
  ? new RegExp(`(?<![\\w(])(${knownNames.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})(?![\\w(+])`, "g")
  : null;

// Words of ours with every name explained.
function explained(text) {
  if (!namePattern) return [text];
  return text.split(namePattern).map((part) => {
    if (!meaning(part)) return part;
    const name = document.createElement("abbr");
    name.title = meaning(part);
    name.textContent = part;
    return name;
  });
}

// The labels of a chart that are names.
function explainLabels(place) {
  for (const label of place.querySelectorAll(".role-axis-label text, .role-legend-label text")) {
    const said = meaning(label.textContent);
    if (!said) continue;
    const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    title.textContent = said;
    label.append(title);
  }
}
