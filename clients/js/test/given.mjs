// What the tests share: the vectors, and words in place of the system's generator.
import { readFileSync } from "node:fs";

const file = new URL("../../../docs/wire-format-vectors.json", import.meta.url);
const published = JSON.parse(readFileSync(file, "utf8"));
export const VECTORS = published.vectors;
export const DOMAINS = published.domains;

export const hex = (bytes) => Buffer.from(bytes).toString("hex");

/** What is made while the generator gives these words, and how many of them were used. */
export async function drawing(words, make) {
  let used = 0;
  const real = crypto.getRandomValues;
  crypto.getRandomValues = (array) => {
    for (let i = 0; i < array.length; i++) array[i] = BigInt(`0x${words[used++]}`);
    return array;
  };
  try {
    return [await make(), used];
  } finally {
    crypto.getRandomValues = real;
  }
}

/** A plan over integers with its own identifier: of those, ε alone is a float. */
export async function sealed(plan) {
  const { identifier, ledger, ...content } = plan;
  const sorted = (x) => {
    if (Array.isArray(x)) return x.map(sorted);
    if (x === null || typeof x !== "object") return x;
    return Object.fromEntries(Object.keys(x).sort().map((key) => [key, sorted(x[key])]));
  };
  const text = JSON.stringify(sorted(content)).replace(/("epsilon":-?\d+)(?=[,}])/, "$1.0");
  const escaped = text.replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(escaped));
  return { ...plan, identifier: hex(new Uint8Array(digest)) };
}

/** A copy of a plan, changed and sealed again: what a dishonest server can do. */
export function forged(plan, change) {
  const copy = structuredClone(plan);
  change(copy, copy.groups[0], copy.attributes[0]);
  return sealed(copy);
}

export const planOf = (name) => VECTORS.find(({ plan }) => plan.name === name).plan;
