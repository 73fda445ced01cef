// Plans that ask groups of people different questions: who is asked what, and for how long.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Refused, memoryMemo, openPlan } from "../ldp3.js";
import { forged, planOf, sealed } from "./given.mjs";

const SMP = planOf("smp, d = (3, 2, 5)");
const GROUPS = planOf("groups, d = (3, 2, 5)");
const refused = (plan, why, options) => assert.rejects(openPlan(plan, options), (error) => {
  assert.ok(error instanceof Refused, error.stack);
  assert.match(error.message, why);
  return true;
});
const PEOPLE = [3, 3, 5, 2]; // as the package computes the groups of ann, bob, 日本 and person 7
const groupIn = (report) => report[8];

test("a memo keeps a person in one group, and what the group does not see costs nothing", async () => {
  for (let person = 0; person < 20; person++) {
    const client = await openPlan(SMP, { memo: memoryMemo() });
    const sent = [];
    for (let c = 0; c < 5; c++) sent.push(await client.report({ a: 1, b: 1, c }), await client.report({ a: 1, b: 0, c }));
    const groups = new Set(sent.map(groupIn));
    assert.equal(groups.size, 1);
    const [asked] = [...groups].map((group) => [1, 2, 5][group]);
    assert.equal(await client.spent(), asked);
    assert.deepEqual(await client.report({ a: 1, b: 1, c: 0 }), sent[0]);
  }
});

test("without a memo every report has a fresh group, by the shares", async () => {
  const client = await openPlan(SMP);
  const seen = [0, 0, 0];
  for (let i = 0; i < 3000; i++) seen[groupIn(await client.report({ a: 0, b: 0, c: 0 }))]++;
  for (const count of seen) assert.ok(Math.abs(count - 1000) < 160, `${seen}`); // 6 standard deviations
});

test("clients that race for a memo put a person into one group", async () => {
  for (let person = 0; person < 10; person++) {
    const memo = memoryMemo();
    const clients = await Promise.all([1, 2, 3, 4].map(() => openPlan(GROUPS, { memo })));
    const sent = await Promise.all(clients.map((client) => client.report({ a: 0, b: 1, c: 2 })));
    assert.equal(new Set(sent.map(String)).size, 1);
  }
});

test("the group of a person whom the server knows follows from the identifier", async () => {
  for (const [person, group] of Object.entries({ ann: PEOPLE[0], bob: PEOPLE[1], "日本": PEOPLE[2], "person 7": PEOPLE[3] })) {
    const client = await openPlan(GROUPS, { person });
    for (let i = 0; i < 5; i++) assert.equal(groupIn(await client.report({ a: 0, b: 1, c: 2 })), group);
  }
  const memo = memoryMemo();
  const reportOf = async (person) => (await openPlan(GROUPS, { person, memo })).report({ a: 0, b: 1, c: 2 });
  assert.deepEqual(await reportOf("ann"), await reportOf("bob")); // who are in the same group
  await assert.rejects(reportOf("日本"), /somebody else/);
  await refused(GROUPS, /person must be/, { person: " " });
});

test("records lack nothing and have nothing else", async () => {
  const client = await openPlan(SMP);
  for (const record of [{ a: 0, b: 1 }, { a: 0, b: 1, c: 2, d: 0 }, { a: 0, b: 1, c: 5 }, [0, 1, 2], "012", 7, { a: 0, b: null, c: 1 }])
    await assert.rejects(client.report(record), /nothing is sent/);
});

test("what every object inherits is no answer, and an array is no record", async () => {
  const names = { a: "constructor", b: "1", c: "0" };
  const client = await openPlan(await forged(SMP, ({ attributes, groups }) => {
    for (const one of attributes) Object.assign(one, { name: names[one.name], other: "none", integers: one.integers - 1 });
    for (const { view } of groups) view[0][0] = names[view[0][0]];
  }));
  assert.deepEqual(client.code({ constructor: 1, 1: 0, 0: 3 }), [1, 0, 3]);
  assert.deepEqual(client.code({ constructor: null, 1: null, 0: null }), [2, 1, 4]);
  for (const record of [{ 1: 0, 0: 3 }, [3, 0], "30"]) assert.throws(() => client.code(record), /nothing is sent/);
});

test("a record of one attribute is no value outside the domain", async () => {
  const client = await openPlan(await forged(SMP, (plan) => {
    plan.attributes = [{ ...plan.attributes[0], integers: 2, other: "none" }];
    plan.groups = [{ ...plan.groups[0], share: String(2n ** 64n) }];
    plan.report.group_bytes = 0;
  }));
  assert.equal(client.code(1), 1);
  assert.equal(client.code({ a: 1 }), 1);
  assert.equal(client.code("another"), 2);
  for (const record of [{}, { b: 1 }, { a: 1, b: 1 }]) assert.throws(() => client.code(record), /nothing is sent/);
});

test("groups that cannot be are refused", async () => {
  const other = (change) => forged(SMP, (plan) => change(plan.groups, plan));
  await refused(await other((groups) => (groups[0].share = String(BigInt(groups[0].share) - 1n))), /groups/);
  await refused(await other((groups) => groups.pop()), /groups/);
  await refused(await other((groups) => groups.splice(0)), /groups/);
  await refused(await other((groups) => (groups[0].view = [["z", null]])), /no attribute/);
  await refused(await other((groups) => (groups[0].view = [["a", 4]])), /no attribute/);
  await refused(await other((groups) => (groups[0].view = [["a", 2]])), /d is not/);
  await refused(await other((groups) => (groups[0].view = [["a", null], ["a", null]])), /twice/);
  await refused(await other((groups) => (groups[0].view = [])), /d is not/);
  await refused(await other((groups) => (groups[2].constants = groups[0].constants)), /constants/);
  await refused(await other((_, plan) => (plan.report.group_bytes = 0)), /another size/);
  await refused(await other((_, plan) => (plan.scheme = null)), /groups/);
  await openPlan(await sealed(SMP));
});
