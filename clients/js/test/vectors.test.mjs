// All vectors that the package publishes: plans in, identifiers checked, words in, bytes out.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openPlan } from "../ldp3.js";
import { DOMAINS, VECTORS, drawing, hex } from "./given.mjs";

for (const { plan, reports } of VECTORS) {
  test(`reports of ${plan.name}`, async () => {
    const client = await openPlan(plan);
    for (const { value, words, report } of reports) {
      const [made, used] = await drawing(words, () => client.report(value));
      assert.equal(hex(made), report);
      assert.equal(used, words.length);
    }
  });
}

for (const { plan, codes } of DOMAINS) {
  test(`codes of ${plan.name}`, async () => {
    const client = await openPlan(plan);
    for (const { value, code } of codes) {
      if (code === null) assert.throws(() => client.code(value), /nothing is sent/);
      else assert.deepEqual(client.code(value), code);
    }
  });
}
