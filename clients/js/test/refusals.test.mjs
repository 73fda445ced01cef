// A server that wants more than its plan says: every attempt is refused, and by name.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Refused, memoryMemo, openPlan } from "../ldp3.js";
import { DOMAINS, VECTORS, forged, planOf, sealed } from "./given.mjs";

const GRR = planOf("grr, d = 5");
const OUE = planOf("oue, d = 5");
const refused = (plan, why, options) => assert.rejects(openPlan(plan, options), (error) => {
  assert.ok(error instanceof Refused, `${error}`);
  assert.match(error.message, why);
  return true;
});

test("the test's own seal is the package's", async () => {
  for (const { plan } of VECTORS) assert.equal((await sealed(plan)).identifier, plan.identifier);
});

test("a constant that differs by one is refused, whichever it is and in either direction", async () => {
  let tried = 0;
  for (const { plan } of VECTORS) {
    if (plan.groups[0].d > 1000) continue; // the same checks, and slow to set up
    for (const name of Object.keys(plan.groups[0].constants)) {
      // these a plan may choose, and what it chose is as private: any p, and any set of k places
      if (plan.groups[0].protocol.startsWith("ue") && name === "own") continue;
      if (name === "polynomial") continue;
      for (const step of [-1n, 1n]) {
        const changed = (_, { constants }) => (constants[name] = String(BigInt(constants[name]) + step));
        await refused(await forged(plan, changed), /constants|geometry|polynomial|must be|no whole number/);
        tried++;
      }
    }
  }
  assert.ok(tried > 300, `${tried}`);
});

test("a polynomial that gives fewer places is refused: each would be too likely", async () => {
  const plan = planOf("pgr(q=2), d = 17");
  for (const polynomial of ["0", "1", "32", "33", "64"])
    await refused(await forged(plan, (_, { constants }) => Object.assign(constants, { polynomial })), /no difference set/);
});

test("thresholds that are one word too generous are refused, however well they fit each other", async () => {
  const words = 1n << 64n;
  const generous = {
    truth: ({ lie, g }, d) => ({ lie: lie - 1n, truth: words - ((g ?? BigInt(d)) - 1n) * (lie - 1n) }),
    other: ({ own, other }) => ({ own: own + 1n, other: other - 1n }),
    right: ({ right }) => ({ right: right + 1n }),
    blind: ({ blind }) => ({ blind: blind - 1n }),
    k: ({ own }) => ({ own: own + 1n }),
  };
  const met = new Set();
  for (const { plan } of VECTORS) {
    if (plan.groups[0].d > 1000) continue;
    const weaker = await forged(plan, (_, group) => {
      const given = Object.fromEntries(Object.entries(group.constants).map(([name, text]) => [name, BigInt(text)]));
      const kind = Object.keys(generous).find((name) => name in given);
      for (const [name, number] of Object.entries(generous[kind](given, group.d))) group.constants[name] = String(number);
    });
    met.add(plan.groups[0].protocol.split("(")[0]);
    await refused(weaker, /constants/);
  }
  assert.deepEqual(met, new Set(VECTORS.map(({ plan }) => plan.groups[0].protocol.split("(")[0])));
});

test("a plan that was changed under its old identifier is refused", async () => {
  const labels = DOMAINS.find(({ plan }) => plan.name === "labels").plan;
  const swapped = structuredClone(labels);
  swapped.attributes[0].labels.reverse();
  await refused(swapped, /identifier does not match/);
  await refused({ ...GRR, epsilon: 2 }, /identifier does not match/);
  await refused({ ...GRR, identifier: GRR.identifier.toUpperCase() }, /identifier does not match/);
  await openPlan({ ...GRR, ledger: ["for people"] }); // it says nothing to a client
});

test("what this client does not know is refused by name", async () => {
  const other = (protocol) => forged(GRR, (_, group) => Object.assign(group, { protocol }));
  await refused(await other("mss(l=4)"), /does not know the protocol mss/);
  for (const name of ["constructor", "__proto__", "toString", "", "GRR"])
    await refused(await other(name), /does not know the protocol/);
  await refused(await forged(GRR, (plan) => Object.assign(plan, { version: 4 })), /version 4/);
  await refused(await forged(GRR, (plan) => Object.assign(plan, { version: "3" })), /version 3/);
  for (const scheme of [1, {}, true]) await refused(await forged(GRR, (plan) => Object.assign(plan, { scheme })), /groups/);
  await refused(await forged(GRR, (plan, group) => plan.groups.push(group)), /groups/);
  await refused(await forged(GRR, (plan, _, attribute) => plan.attributes.push(attribute)), /names that differ/);
  await refused(await forged(GRR, (plan, _, attribute) => plan.attributes.push({ ...attribute, name: "b" })), /groups/);
  await refused(await forged(GRR, (_, group) => Object.assign(group, { view: [["value", 2]] })), /d is not/);
  await refused(await forged(GRR, (plan) => Object.assign(plan, { memo: 1 })), /does not know the field memo/);
  await refused(await forged(GRR, (_, group) => Object.assign(group, { noise: 1 })), /does not know the field noise/);
  await refused(await forged(GRR, (_, __, attribute) => Object.assign(attribute, { width: 1 })), /does not know the field width/);
  await refused(await forged(GRR, (_, group) => Object.assign(group, { share: "1" })), /groups/);
});

test("ε must be a number, and at most what the page allows", async () => {
  const at = (epsilon) => forged(GRR, (plan) => Object.assign(plan, { epsilon }));
  for (const epsilon of ["1", null, true, 0, -1]) await refused(await at(epsilon), /ε must be a number/);
  for (const epsilon of [NaN, Infinity, -Infinity]) await refused({ ...GRR, epsilon }, /identifier/); // null, in JSON
  for (const epsilon of [1e-18, 1e-300, 5e-324]) await refused(await at(epsilon), /too small|constants|identifier/);
  for (const epsilon of [[1], { valueOf: 1 }]) await refused(await at(epsilon), /ε must be a number|identifier/);
  await refused(await at(9), /ε = 9 is above the 8 that this page allows/);
  await refused(GRR, /ε = 1 is above the 0.5 that this page allows/, { maxEpsilon: 0.5 });
  for (const maxEpsilon of [NaN, Infinity, "9", 0, -1, null, [9]]) await refused(GRR, /maxEpsilon/, { maxEpsilon });
  const text = JSON.stringify(GRR).replace('"epsilon":1', '"epsilon":1e999'); // which JSON reads as infinity
  await refused(text, /identifier does not match/);
  await openPlan(GRR, { maxEpsilon: 1 });
});

test("an ε so small that rounding would turn truth and lie round is refused", async () => {
  const half = 1n << 63n;
  const tiny = (name, constants) => forged(planOf(name), (plan, group) => {
    plan.epsilon = 1e-300;
    for (const [key, number] of Object.entries(constants)) group.constants[key] = String(number);
  });
  const lie = (1n << 64n) / 5n + 1n; // what the rules would give
  await refused(await tiny("grr, d = 5", { lie, truth: (1n << 64n) - 4n * lie }), /too small/);
  await refused(await tiny("oue, d = 5", { own: half, other: half + 1n }), /too small/);
  await refused(await tiny("hrr, d = 5", { right: half - 1n }), /too small/);
  await refused(await tiny("hr, d = 5", { blind: (1n << 64n) - 1n }), /too small/);
});

test("constants must be whole numbers in plain digits", async () => {
  for (const lie of ["-1", "0x10", "1e3", " 1", "", 1, null, "9".repeat(41), "١"])
    await refused(await forged(GRR, (_, { constants }) => Object.assign(constants, { lie })), /no whole number|constants/);
  for (const constants of [null, [], "", {}, { __proto__: GRR.groups[0].constants }])
    await refused(await forged(GRR, (_, group) => Object.assign(group, { constants })), /./);
  await refused(await forged(GRR, (_, { constants }) => Object.assign(constants, { more: "1" })), /constants/);
  await refused(await forged(GRR, (_, { constants }) => Object.defineProperty(constants, "__proto__",
    { value: { lie: "1" }, enumerable: true })), /./);
});

test("a plan that JSON fills with a prototype changes nothing", async () => {
  const text = JSON.stringify(GRR).replace("{", '{"__proto__": {"epsilon": 1, "shuffled": null},');
  await refused(text, /identifier does not match/);
  await refused(await forged(JSON.parse(JSON.stringify(GRR).replace('"constants":{', '"constants":{"__proto__":"5",')), () => {}), /./);
  assert.equal({}.epsilon, undefined);
});

test("domains that cannot be are refused", async () => {
  const over = (domain, d) => forged(GRR, (plan, group, attribute) => {
    delete attribute.integers;
    Object.assign(attribute, domain);
    group.d = d;
  });
  await refused(await over({ labels: ["a", "a", "b", "c", "d"] }, 5), /labels must differ/);
  await refused(await over({ labels: ["a", 1, "b", "c", "d"] }, 5), /labels must be texts/);
  await refused(await over({ labels: { length: 5 } }, 5), /labels must be texts/);
  await refused(await over({ labels: ["a", "b"], integers: 5 }, 5), /no domain/);
  await refused(await over({}, 5), /no domain/);
  await refused(await over({ integers: 5, other: 5 }, 5), /other must be/);
  await refused(await over({ integers: 4, other: undefined }, 5), /other must be/);
  await refused(await over({ labels: ["a", "b", "c", "d"], other: "a" }, 5), /other must be/);
  for (const [integers, d] of [[5, 6], [6, 5], [5, "5"], [5.5, 5.5], [-5, -5], [1, 1], [2 ** 32, 2 ** 32], [null, 5]])
    await refused(await over({ integers }, d), /d is not|whole number/);
});

test("a label may have any name, and is no more than a label", async () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "𝔸"];
  const client = await openPlan(await forged(GRR, (_, group, attribute) => {
    delete attribute.integers;
    attribute.labels = names;
  }));
  assert.deepEqual(names.map(client.code), [0, 1, 2, 3, 4]);
  for (const value of ["valueOf", "length", "0", 0, {}, [], ["a"], undefined, null, NaN, () => 1, Symbol.iterator])
    assert.throws(() => client.code(value), /nothing is sent/);
});

test("sizes that do not follow from the protocol are refused", async () => {
  for (const report of [{ payload_bytes: 2 }, { tag_bytes: 0 }, { group_bytes: 1 }, { payload_bytes: "1" }])
    await refused(await forged(GRR, (plan) => Object.assign(plan.report, report)), /size/);
  const huge = (d) => forged(OUE, (plan, group, attribute) => {
    [group.d, attribute.integers, plan.report.payload_bytes] = [d, d, Math.ceil(d / 8)];
  });
  await openPlan(await huge(2 ** 24));
  await refused(await huge(2 ** 24 + 1), /longer than a page should send/);
});

test("a geometry that would fill the memory is refused", async () => {
  const d = 2 ** 25 + 5;
  const large = await forged(planOf("pgr(q=2), d = 17"), (plan, group, attribute) => {
    [group.d, attribute.integers, plan.report.payload_bytes] = [d, d, 4];
    Object.assign(group.constants, { t: "26", polynomial: String(2 ** 26 + 3) });
  });
  await refused(large, /more points than a page can hold: plan with olh or hr/);
});

test("no value at all is refused, even where others are counted together", async () => {
  const client = await openPlan(DOMAINS.find(({ plan }) => plan.name === "labels and other").plan);
  for (const value of [undefined, null]) assert.throws(() => client.code(value), /no value was given/);
  assert.equal(client.code({}), 1);
});

test("what a shuffler adds is no reason to report at a larger ε, and nothing may name a report", async () => {
  const shuffled = { epsilon: 0.06, delta: 1e-9, batch: 10000 };
  const plan = DOMAINS.find((each) => each.plan.shuffled)?.plan;
  assert.ok(plan, "no vector has a shuffler's claim");
  const client = await openPlan(plan);
  assert.equal((await client.report(plan.attributes[0].labels[0])).length, 9);
  await assert.rejects(client.send("https://collector.example", plan.attributes[0].labels[0]), /hand `report` to the shuffler/);
  await refused(plan, /memo sends the same report again/, { memo: memoryMemo() });
  await refused(plan, /above the 0.5/, { maxEpsilon: 0.5 });
  for (const claim of [{ epsilon: 1 }, { epsilon: "0" }, { delta: 1 }, { delta: null }, { batch: 0.5 }, { batch: null }])
    await refused(await forged(GRR, (forgery) => Object.assign(forgery, { shuffled: { ...shuffled, ...claim } })), /shuffler|identifier/);
  await refused(await forged(GRR, (forgery) => delete forgery.shuffled), /shuffler|identifier/);
});

test("of all that a server may write into a plan, only what people read and how values are called is taken", async () => {
  const nasty = ["", null, -1, 0, 1, 6, 7.5, 1e308, 2 ** 53, "__proto__", [], {}, true, "1", "18446744073709551615", [null]];
  const harmless = /^(name|method|attributes\.0\.(ordered|labels\.\d|other)|groups\.0\.report(\..+)?)$/;
  function* places(x, path = []) {
    for (const [key, value] of Object.entries(x)) {
      yield [...path, key];
      if (value && typeof value === "object") yield* places(value, [...path, key]);
    }
  }
  const plans = [...VECTORS.map(({ plan }) => plan).filter(({ groups, scheme }) => scheme === null && groups[0].d === 5 && !groups[0].protocol.includes("(")),
    ...DOMAINS.map(({ plan }) => plan).filter(({ name }) => name.startsWith("labels and"))];
  let taken = 0;
  for (const plan of plans) {
    for (const path of places(plan)) {
      if (["identifier", "ledger"].includes(path[0])) continue;
      for (const value of nasty) {
        const copy = structuredClone(plan);
        const parent = path.slice(0, -1).reduce((at, key) => at[key], copy);
        parent[path.at(-1)] = value;
        if (JSON.stringify(copy) === JSON.stringify(plan) || harmless.test(path.join("."))) continue;
        if (path[0] === "scheme" && typeof value === "string") continue; // a name, which says nothing of the reports
        await refused(await sealed(copy), /./);
        taken++;
      }
    }
  }
  assert.ok(taken > 2000, `${taken}`);
});

test("what is no plan at all is refused in one line", async () => {
  for (const given of ["", "[]", "null", "{", 5, null, undefined, [], {}, { format: "ldp3 counts" }, "[".repeat(1e5)])
    await refused(given, /^the plan: [^\n]+$/);
});
