"use strict";

// What attacks did, and what they can do.

const attacker = { attack: null };

for (const { attacked } of report.datasets) {
  for (const name of ["worst", "gains", "formulas", "weights", "successes"]) {
    if (attacked) attacked[name] = unpacked(attacked[name]);
  }
}

function worstRows(given, sheet) {
  const rows = given.worst.filter(isChosen);
  const close = closeness(rows, sheet.better);
  return rows.map((row, i) => ({
    ...row, shade: close[i], text: short(row.mean / sheet.factor), mark: close[i] === 1 ? "★" : "",
  }));
}

// What the formula says, and what was measured.
function gainRows(given) {
  const own = (row) => row.epsilon === chosen.epsilon && row.attack === attacker.attack;
  const lines = given.formulas.filter(own).map((row) => ({ ...row, kind: "formula" }));
  return [...lines, ...given.gains.filter(own).map((row) => ({ ...row, kind: "measured" }))];
}

function drawGain() {
  return page.attacked ? draw("gain", "gain", gainRows(page.attacked)) : draw("gain", "gain", []);
}

async function drawAttacked() {
  const given = page.attacked;
  const section = byId("attacked-section");
  if (!section) return;
  section.hidden = !given;
  const rows = (name) => given?.[name] ?? [];
  await Promise.all([
    draw("worst", "worst", given ? worstRows(given, chosenSheet()) : []),
    drawGain(),
    draw("weight", "weight", rows("weights")),
    draw("success", "success", rows("successes").filter((row) => row.epsilon === chosen.epsilon)),
  ]);
}
