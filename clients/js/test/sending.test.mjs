// What leaves the device, and what happens when it does not arrive.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { Refused, memoryMemo, openPlan } from "../ldp3.js";
import { hex, planOf } from "./given.mjs";

const PLAN = planOf("grr, d = 5");
const real = { fetch: globalThis.fetch, setTimeout: globalThis.setTimeout };
let answers, requests, waits;

beforeEach(() => {
  [answers, requests, waits] = [[], [], []];
  globalThis.fetch = async (address, options) => {
    requests.push({ address, ...options, body: hex(options.body) });
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  globalThis.setTimeout = (done, wait) => {
    waits.push(wait);
    return real.setTimeout(done, 0);
  };
});
afterEach(() => Object.assign(globalThis, real));

const answer = (status, said, headers) => new Response(said && JSON.stringify(said), { status, headers });

test("a report is posted once, as bytes, under a key of the hour and 128 random bits", async () => {
  answers = [answer(202)];
  const client = await openPlan(PLAN);
  assert.equal(await client.send("https://collector.example/", 3), true);
  const [{ address, method, headers, body, ...options }] = requests;
  assert.equal(address, `https://collector.example/collections/${PLAN.identifier}/reports`);
  assert.equal(method, "POST");
  assert.deepEqual(Object.keys(headers), ["Content-Type", "Idempotency-Key"]);
  assert.equal(headers["Content-Type"], "application/octet-stream");
  const [, hour] = /^(\d+)-[0-9a-f]{32}$/.exec(headers["Idempotency-Key"]);
  assert.ok(Math.abs(hour - Date.now() / 3.6e6) <= 1);
  assert.match(body, new RegExp(`^03${PLAN.identifier.slice(0, 14)}0[0-4]$`));
  assert.deepEqual(options, { keepalive: true, credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store", redirect: "error" });
});

test("two reports never share a key", async () => {
  answers = [answer(202), answer(202)];
  const client = await openPlan(PLAN);
  await client.send("", 3);
  await client.send("", 3);
  assert.equal(new Set(requests.map(({ headers }) => headers["Idempotency-Key"])).size, 2);
  assert.equal(requests[0].address, `/collections/${PLAN.identifier}/reports`);
});

test("what does not arrive is sent again, the same bytes under the same key, later each time", async () => {
  answers = [new TypeError("no connection"), answer(503), answer(500), answer(429), answer(200)];
  const client = await openPlan(PLAN);
  assert.equal(await client.send("http://localhost:8000", 0), false); // known: an answer was lost
  assert.equal(requests.length, 5);
  assert.equal(new Set(requests.map(({ body, headers }) => body + headers["Idempotency-Key"])).size, 1);
  assert.deepEqual(waits.map((wait, i) => wait >= 500 * 2 ** i && wait <= 1500 * 2 ** i), Array(4).fill(true));
});

test("a collector that asks for more time gets it, up to a minute", async () => {
  answers = [answer(503, null, { "Retry-After": "20" }), answer(503, null, { "Retry-After": "86400" }),
    answer(503, null, { "Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT" }), answer(202)];
  await (await openPlan(PLAN)).send("http://localhost", 0);
  assert.deepEqual(waits.slice(0, 2), [20000, 60000]);
  assert.ok(waits[2] <= 6000);
});

test("what a collector refuses is not sent again, and its reason is told", async () => {
  answers = [answer(413, { error: "too long" }), answer(404), answer(400, "?")];
  const client = await openPlan(PLAN);
  for (const why of [/^too long$/, /answered 404/, /answered 400/])
    await assert.rejects(client.send("http://localhost", 0), (error) => error instanceof Refused && why.test(error.message));
  assert.equal(requests.length, 3);
});

test("what did not arrive in five tries can be tried again later, without another report", async () => {
  answers = [...Array(4).fill(answer(503)), answer(503, { error: "the disk is full" }), new Error("offline"), answer(202)];
  const client = await openPlan(PLAN);
  const error = await client.send("http://localhost", 0).catch((error) => error);
  assert.match(error.message, /not delivered in 5 tries: the disk is full/);
  assert.ok(!(error instanceof Refused)); // it may count, or not
  assert.equal(await error.retry(), true);
  assert.equal(requests.length, 7);
  assert.equal(new Set(requests.map(({ body, headers }) => body + headers["Idempotency-Key"])).size, 1);
});

test("a device whose clock is wrong takes the collector's hour, once and at first only", async () => {
  const date = { Date: "Mon, 16 Nov 2026 18:00:00 GMT" };
  const late = () => answer(410, { error: "too old" }, date);
  const client = await openPlan(PLAN);
  answers = [late(), answer(202)];
  assert.equal(await client.send("http://localhost", 0), true);
  const keys = requests.map(({ headers }) => headers["Idempotency-Key"]);
  assert.equal(keys[1].split("-")[0], String(Date.parse(date.Date) / 3.6e6));
  assert.notEqual(keys[0].split("-")[1], keys[1].split("-")[1]);
  answers = [late(), late()];
  await assert.rejects(client.send("http://localhost", 0), /too old/);
  answers = [new Error("offline"), late()]; // the first may have been counted
  await assert.rejects(client.send("http://localhost", 0), /too old/);
});

test("a report too long to outlive its page is sent without keepalive", async () => {
  answers = [answer(202)];
  const { forged } = await import("./given.mjs");
  const d = 500_000;
  const plan = await forged(planOf("oue, d = 5"), (plan, group, attribute) => {
    [group.d, attribute.integers, plan.report.payload_bytes] = [d, d, d / 8];
  });
  await (await openPlan(plan)).send("http://localhost", 0);
  assert.equal(requests[0].keepalive, false);
  assert.equal(requests[0].body.length / 2, 8 + d / 8);
});

test("a value outside sends nothing at all", async () => {
  const client = await openPlan(PLAN);
  for (const value of [5, -1, "red", undefined, null, NaN, 1.5])
    await assert.rejects(client.send("http://localhost", value), /nothing is sent/);
  assert.equal(requests.length, 0);
});

test("with a memo the same value gives the same report, and the budget is counted", async () => {
  const memo = memoryMemo();
  const client = await openPlan(PLAN, { memo });
  const again = async (value) => hex(await client.report(value));
  const first = await Promise.all(Array.from({ length: 40 }, () => again(1)));
  assert.equal(new Set(first).size, 1);
  assert.equal(await client.spent(), 1);
  await again(2);
  assert.equal(await (await openPlan(PLAN, { memo })).spent(), 2);
  assert.equal(await (await openPlan(planOf("oue, d = 5"), { memo })).spent(), 0);
  assert.equal(await (await openPlan(PLAN)).spent(), undefined);
});

test("a memo that gives another collection's report is refused", async () => {
  const memo = { keep: async () => new Uint8Array(9), count: async () => 1 };
  await assert.rejects((await openPlan(PLAN, { memo })).report(1), /memo is damaged/);
});

test("nobody can change a plan behind the client's back", async () => {
  const given = structuredClone(PLAN);
  const client = await openPlan(given);
  given.groups[0].constants.lie = client.plan.groups[0].constants.truth = "1";
  client.plan.identifier = "0".repeat(64);
  assert.throws(() => (client.report = () => 1), TypeError);
  assert.equal(hex(await client.report(0)).slice(0, 16), `03${PLAN.identifier.slice(0, 14)}`);
});
