// The package as npm would ship it.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import * as client from "../ldp3.js";

const here = new URL("..", import.meta.url);
const source = readFileSync(new URL("ldp3.js", here), "utf8");
const about = JSON.parse(readFileSync(new URL("package.json", here), "utf8"));
const BUDGET = 9216;

test("it has at most 9 KB, minified and gzipped", (t) => {
  // Without a minifier: comments and blanks alone taken away. Whatever shortens names as well gives less.
  const code = source.replace(/^ *(\/\/|\/\*\*).*$/gm, "").replace(/ \/\/ .*$/gm, "").replace(/\s*([^\w$]|^)\s*/gm, "$1");
  assert.ok(!code.includes("/**") && code.length > source.length / 2);
  const size = gzipSync(code, { level: 9 }).length;
  t.diagnostic(`${size} bytes`);
  assert.ok(size <= BUDGET, `${size} bytes`);
});

test("randomness comes from the system's generator alone", () => {
  const demo = readFileSync(new URL("demo/demo.js", here), "utf8");
  for (const code of [source, demo]) assert.ok(!/\bMath\b(?!\.(max|min|ceil|floor|round|log|exp)\b)/.test(code)); // no way to Math.random
  assert.equal(source.match(/getRandomValues/g).length, 3); // words, keys of requests, how long to wait
});

test("it needs nothing else, and is not to be published by accident", () => {
  assert.ok(!/^\s*import\b|\bimport\(|\brequire\(|\beval\b|new Function/m.test(source));
  assert.equal(about.dependencies ?? about.devDependencies, undefined);
  assert.equal(about.private, true);
});

test("its types name what it exports", () => {
  const types = readFileSync(new URL("ldp3.d.ts", here), "utf8");
  const named = [...types.matchAll(/^export (?:function|class) (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual(named.sort(), Object.keys(client).sort());
});

test("npm packs the module, its types and what npm always adds", { skip: spawnSync("npm", ["--version"]).error && "no npm here" }, () => {
  const out = execFileSync("npm", ["pack", "--dry-run", "--json", "--offline"], { cwd: here, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const [{ files, name }] = Object.values(JSON.parse(out));
  assert.equal(name, "ldp3-client");
  assert.deepEqual(files.map(({ path }) => path).sort(), ["LICENSE", "README.md", "ldp3.d.ts", "ldp3.js", "package.json"]);
});
