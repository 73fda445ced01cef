// The client of LDP³ for browsers and Node: a plan and a value in, a randomised report out.
//
// All that may be sent is drawn here, from the system's generator. A plan is believed only where it is right: its
// identifier must match its content, and its thresholds must be those that its ε gives, to the last word of 2⁶⁴.
// How reports are drawn and written is said in docs/wire-format.md, whose test vectors this client passes.

const FORMAT = "ldp3 collection";
const VERSION = 3;
const MODEST = 8; // the largest ε, unless the page says otherwise
const MOST_EPSILON = 64; // beyond, thresholds over 2⁶⁴ say nothing
const MOST_VALUES = 2 ** 31;
const MOST_BYTES = 2 ** 21; // of a report
const MOST_TERMS = 2 ** 25; // of the sequence behind a difference set, which is made in memory
const TAG_BYTES = 8;

/** What must not be sent, or was not taken: nothing of it counts. */
export class Refused extends Error {
  name = "Refused";
}

const need = (fine, why) => {
  if (!fine) throw new Refused(why);
};

// ---- whole numbers over 2⁶⁴ ---------------------------------------------------------------------------------------

const WORDS = 1n << 64n;
const DIGITS = 256n; // binary digits behind the point of e^ε
const ONE = 1n << DIGITS;

/** e^x · 2²⁵⁶ for x ≥ 0, rounded down by about 10⁻⁵⁸ of itself, as the package does: never above the truth. */
function exp(x) {
  let shift = DIGITS;
  for (; !Number.isInteger(x); shift--) x *= 2; // exact, as all doubles are whole numbers of some 2⁻ⁿ
  let rest = shift < 0n ? BigInt(x) >> -shift : BigInt(x) << shift;
  let squarings = 0;
  for (; rest >> (DIGITS - 8n); squarings++) rest >>= 1n; // below 1/256, where the series is short
  let sum = 0n;
  for (let term = ONE, n = 1n; term; n++) {
    sum += term;
    term = ((term * rest) >> DIGITS) / n;
  }
  while (squarings--) sum = (sum * sum) >> DIGITS;
  return sum - sum / 10n ** 58n;
}

// Probabilities as words of 2⁶⁴, kept off 0 and 1; one that privacy needs at 1 is refused.
const offTheEnds = (words) => (words < 1n ? 1n : words < WORDS ? words : WORDS - 1n);
const floor = (over, under) => offTheEnds((over * WORDS) / under);
function ceil(over, under) {
  const words = (over * WORDS + under - 1n) / under;
  need(words < WORDS, "ε is too small for words of 64 bits");
  return offTheEnds(words);
}

/** How many bits hold the numbers below n. */
const width = (n) => (n > 1n ? (n - 1n).toString(2).length : 0);
const isPowerOfTwo = (n) => n > 0n && !(n & (n - 1n));

// ---- words: fresh, from the system's generator, and used once ------------------------------------------------------

const MOST_WORDS = 8192; // that one call gives
const take = (count) => crypto.getRandomValues(new BigUint64Array(Math.min(count, MOST_WORDS)));
const word = () => take(1)[0];

/** A uniform number: of each word, the fewest bits that hold one. */
function below(size) {
  const mask = (1n << BigInt(width(size))) - 1n;
  for (;;) {
    const number = word() & mask;
    if (number < size) return number;
  }
}

// ---- reports ------------------------------------------------------------------------------------------------------

/** Randomised response over m values: its thresholds, and how it answers. */
function response(m, power) {
  const lie = ceil(ONE, power + (m - 1n) * ONE);
  const truth = WORDS - (m - 1n) * lie;
  need(truth > lie, "ε is too small for so many values");
  const tell = (value) => {
    const draw = word();
    if (draw < truth) return value;
    const drawer = (draw - truth) / lie;
    return drawer < value ? drawer : drawer + 1n; // step over the true value
  };
  return { truth, lie, tell };
}

/** How many words give any of K reports, if the others give one of the k that the value has: HR, PGR, SW. */
const blindWords = (K, k, power) => ceil(K * ONE, k * power + (K - k) * ONE);

/** splitmix64's finaliser. */
function mix(z) {
  z = BigInt.asUintN(64, z);
  z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return z ^ (z >> 31n);
}

/** Entry `index` of the table that the seed names: the hash, version 2. */
function entry(seed, index, g) {
  const bits = g < 256n ? 16n : g < 65536n ? 32n : 64n;
  const place = index * bits;
  const mixed = mix(seed + 0x9e3779b97f4a7c15n * ((place >> 6n) + 1n));
  return (BigInt.asUintN(Number(bits), mixed >> (place & 63n)) * g) >> bits;
}

function parity(number) {
  let odd = 0n;
  for (; number; number &= number - 1n) odd ^= 1n;
  return odd;
}

const setBit = (out, place) => (out[place >> 3] |= 1 << (place & 7));
const hasBit = (out, place) => out[place >> 3] & (1 << (place & 7));

function putNumber(out, number) {
  for (let i = 0; number; i++, number >>= 8n) out[i] = Number(number & 255n);
}

/** A protocol whose report is a whole number, written in so many bits. */
const numbered = (constants, bits, draw) => ({
  constants,
  bits: Math.max(1, bits),
  draw: (value, out) => putNumber(out, draw(BigInt(value))),
});

function localHashing(d, power, g) {
  need(g >= 2n && g <= 1n << 31n, "g must be from 2 to 2³¹");
  const { truth, lie, tell } = response(g, power);
  const lowBits = BigInt((width(d) + 1) >> 1);
  const size = 1n << lowBits;
  return numbered({ truth, lie, g, hash: 2n, low_bits: lowBits }, 64 + width(g), (value) => {
    const seed = word();
    const low = value % size;
    const high = value / size;
    const cell = entry(seed, low, g) + entry(seed, size + high, g) + entry(seed, 2n * size + low + high, g);
    return seed | (tell(cell % g) << 64n);
  });
}

function unary(d, own, other) {
  need(own > other, "ε is too small to tell the own bit from another");
  const draw = (value, out) => {
    for (let start = 0; start < d; start += MOST_WORDS) {
      const words = take(Number(d) - start);
      for (let i = 0; i < words.length; i++) {
        if (words[i] < (start + i === value ? own : other)) setBit(out, start + i);
      }
    }
  };
  return { constants: { own, other }, bits: Number(d), draw };
}

/** Thresholding: θ is in the spec, or the best one on a grid, which the thresholds must fit. */
function thresholding(d, epsilon, given, spec) {
  const half = (x) => ceil(ONE, 2n * exp(x)); // e⁻ˣ/2
  const stated = /\(theta=([\d.e-]+)\)$/.exec(spec);
  const numerators = stated ? [stated[1] * 1024] : Array.from({ length: 513 }, (_, i) => 512 + i);
  for (const theta of numerators.map((i) => i / 1024)) {
    const own = offTheEnds(WORDS - half((epsilon * (1 - theta)) / 2));
    if (theta >= 0.5 && theta <= 1 && (stated || own === given.own))
      return unary(d, own, half((epsilon * theta) / 2));
  }
  throw new Refused("no threshold θ gives these constants");
}

function subset(d, power, k) {
  need(k > 0n && k < d, "k must be from 1 to d − 1");
  const own = floor(k * power, k * power + (d - k) * ONE);
  need(own * (d - k) > (WORDS - own) * k, "ε is too small for so many values");
  const mask = (1n << BigInt(width(d))) - 1n;
  const draw = (value, out) => {
    const inside = word() < own;
    let missing = Number(k) - inside;
    while (missing > 0) {
      for (const drawn of take(missing)) { // none of them can be one too many
        const other = Number(drawn & mask);
        if (other < d && other !== value && !hasBit(out, other)) {
          setBit(out, other);
          missing--;
        }
      }
    }
    if (inside) setBit(out, value);
  };
  return { constants: { own, k }, bits: Number(d), draw };
}

function projectiveGeometry(d, power, { q, t, polynomial }) {
  need(q >= 2n && q <= MOST_TERMS && t >= 2n && t <= 28n, "no such geometry");
  const points = (t) => (q ** t - 1n) / (q - 1n);
  const [K, k] = [points(t), points(t - 1n)];
  need(d <= K && (t === 2n || d > k), "t must be the least for so many values");
  const set = t === 2n ? [0] : differenceSet(Number(q), Number(t), polynomial, Number(K));
  need(set.length === Number(k), "the polynomial gives no difference set");
  const blind = blindWords(K, k, power);
  const constants = { blind, q, t, polynomial: t === 2n ? 0n : polynomial };
  return numbered(constants, width(K), (value) =>
    word() < blind ? below(K) : (BigInt(set[Number(below(k))]) - value + K) % K);
}

/** Singer's: where a sequence over the integers modulo p is 0, at a places that lie K apart. */
function differenceSet(q, t, polynomial, K) {
  let p = 2;
  while (q % p) p++;
  const a = Math.round(Math.log(q) / Math.log(p));
  need(p ** a === q, "q must be a power of a prime");
  need(a * K <= MOST_TERMS, "has more points than a page can hold: plan with olh or hr");
  const m = a * t;
  const taps = []; // of the polynomial below its leading 1: [place, factor]
  for (let j = 0, rest = polynomial; j < m; j++, rest /= BigInt(p)) {
    const factor = Number(rest % BigInt(p));
    if (factor) taps.push([j, factor]);
  }
  const s = new Uint16Array(a * K);
  s[m - 1] = 1;
  for (let n = m; n < s.length; n++) {
    let sum = 0;
    for (const [j, factor] of taps) sum += factor * s[n - m + j];
    s[n] = (p - (sum % p)) % p;
  }
  const set = [];
  for (let i = 0; i < K; i++) {
    let zero = true;
    for (let place = i; place < s.length; place += K) zero &&= !s[place];
    if (zero) set.push(i);
  }
  return set;
}

function hadamardRandomisedResponse(d, power) {
  const right = floor(power, power + ONE);
  need(right > WORDS / 2n, "ε is too small");
  const columns = 1n << BigInt(width(d));
  return numbered({ right, columns }, width(2n * (columns - 1n)), (value) => {
    const wrong = word() < right ? 0n : 1n;
    let column = 0n;
    while (!column) column = word() % columns;
    return 2n * (column - 1n) + (parity(column & value) ^ wrong);
  });
}

function hadamardResponse(d, power, B) {
  need(isPowerOfTwo(B) && B <= d, "B must be a power of two up to d");
  const b = 1n << BigInt(width((d - 1n) / B + 2n)); // the least that leaves a row for each value but the first
  const blind = blindWords(2n * B, 1n, power);
  return numbered({ blind, B, b }, width(B * b), (value) => {
    const any = word() < blind;
    const column = word() % (B * b);
    if (any) return column;
    const row = value / B + 1n;
    const own = column % b; // where the row is −1, the column beside it has +1
    return (value % B) * b + (parity(row & own) ? own ^ (row & -row) : own);
  });
}

function squareWave(d, power, w) {
  need(w >= 0n && w <= d, "w must be at most d");
  const [places, near] = [d + 2n * w, 2n * w + 1n];
  const blind = blindWords(places, near, power);
  return numbered({ blind, w }, width(places), (value) => (word() < blind ? below(places) : value + below(near)));
}

// What each protocol draws with, from ε, d and what a plan may choose: the given constants must be the same.
const PROTOCOLS = new Map(Object.entries({
  grr(d, epsilon) {
    const { truth, lie, tell } = response(d, exp(epsilon));
    return numbered({ truth, lie }, width(d), tell);
  },
  blh: (d, epsilon) => localHashing(d, exp(epsilon), 2n),
  olh: (d, epsilon, { g }) => localHashing(d, exp(epsilon), g),
  rappor(d, epsilon) {
    const root = exp(epsilon / 2);
    const own = floor(root, root + ONE);
    return unary(d, own, WORDS - own);
  },
  oue: (d, epsilon) => PROTOCOLS.get("ue")(d, epsilon, { own: WORDS / 2n }),
  ue(d, epsilon, { own }) {
    need(own > 0n && own < WORDS, "p must be between 0 and 1");
    return unary(d, own, ceil(own * ONE, exp(epsilon) * (WORDS - own) + own * ONE));
  },
  the: thresholding,
  ss: (d, epsilon, { k }) => subset(d, exp(epsilon), k),
  pgr: (d, epsilon, given) => projectiveGeometry(d, exp(epsilon), given),
  hrr: (d, epsilon) => hadamardRandomisedResponse(d, exp(epsilon)),
  hr: (d, epsilon, { B }) => hadamardResponse(d, exp(epsilon), B),
  sw: (d, epsilon, { w }) => squareWave(d, exp(epsilon), w),
}));

/** The numbers that a plan states as text, by name. */
function wholeNumbers(given) {
  const numbers = Object.create(null);
  for (const [name, text] of Object.entries(given)) {
    need(typeof text === "string" && /^\d{1,40}$/.test(text), `the constant ${name} is no whole number`);
    numbers[name] = BigInt(text);
  }
  return numbers;
}

// ---- from a value to its code -------------------------------------------------------------------------------------

const NUMBER = /^([+-]?)(?:((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)|inf)$/i;

/** The number that a value is, or that a text spells; undefined if it is none. */
function numberIn(value) {
  if (typeof value === "number") return Number.isNaN(value) ? undefined : value;
  const found = typeof value === "string" && NUMBER.exec(value.trim());
  return found ? Number(found[1] + (found[2] ?? "Infinity")) : undefined;
}

const DATE = /^(\d{4})([-/])(\d\d?)\2(\d\d?)(?:[ T](\d\d?):(\d\d?):(\d\d?)(?:\.(\d+))?)?$/;
const DAY = 86400000000; // microseconds

/** Days since 1970-01-01 of a Date, or of a text that spells one in UTC; undefined if it is none. */
function daysIn(value) {
  if (value instanceof Date) return Number.isNaN(+value) ? undefined : (value.getTime() * 1000) / DAY;
  const found = typeof value === "string" && DATE.exec(value.trim());
  if (!found) return undefined;
  const [year, month, day, hour, minute, second] = [1, 3, 4, 5, 6, 7].map((i) => Number(found[i] ?? 0));
  const time = new Date(0);
  time.setUTCFullYear(year, month - 1, day); // Date.UTC takes the years below 100 for others
  time.setUTCHours(hour, minute, second);
  const there = time.getUTCMonth() === month - 1 && time.getUTCDate() === day;
  if (!there || hour > 23 || minute > 59 || second > 59) return undefined;
  const microseconds = BigInt(time.getTime()) * 1000n + BigInt((found[8] ?? "").slice(0, 6).padEnd(6, "0"));
  return Number(microseconds) / DAY;
}

/** Edges in order, those that are open as infinities. */
function edgesIn(given, closed) {
  need(Array.isArray(given) && given.length > 1, "edges must be a list");
  const last = given.length - 1;
  const edges = given.map((edge, i) => edge ?? (i === 0 ? -Infinity : i === last ? Infinity : NaN));
  for (let i = 1; i <= last; i++) {
    const rising = edges[i - 1] < edges[i] || (closed && i === last && i > 1 && edges[i - 1] === edges[i]);
    need(typeof edges[i - 1] === "number" && typeof edges[i] === "number" && rising, "edges must be numbers that rise");
  }
  return edges;
}

/** The bin [low, high) that holds a number; undefined outside. */
function binOf(number, edges, closed) {
  const last = edges.length - 1;
  const highIsInside = closed || edges[last] === Infinity;
  if (!(number >= edges[0]) || number > edges[last] || (number === edges[last] && !highIsInside)) return undefined;
  let [low, high] = [0, last]; // edges[low] ≤ number, and below edges[high], if it is not the last
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (edges[middle] <= number) low = middle;
    else high = middle;
  }
  return low;
}

/** How many values an attribute has besides `other`, and where each of them has its place. */
function domainOf({ labels, integers, edges, grid, closed = false, dates = false }) {
  need([labels, integers, edges, grid].filter((kind) => kind !== undefined).length === 1, "no domain is described");
  need(typeof closed === "boolean" && typeof dates === "boolean", "closed and dates are true or false");
  if (labels) {
    need(Array.isArray(labels) && labels.every((label) => typeof label === "string"), "labels must be texts");
    const codes = new Map(labels.map((label, code) => [label, code]));
    need(codes.size === labels.length, "labels must differ");
    const spelt = (read, value) => {
      const code = labels.findIndex((label) => read(label) === value);
      return code < 0 ? undefined : code;
    };
    return [labels.length, (value) => {
      if (value instanceof Date) return spelt(daysIn, daysIn(value) ?? NaN);
      const written = typeof value === "string" || typeof value === "boolean" || Number.isInteger(value);
      const exact = written ? codes.get(String(value).trim()) : undefined;
      return exact ?? (typeof value === "number" ? spelt(numberIn, value) : undefined);
    }];
  }
  if (edges) {
    const line = edgesIn(edges, closed);
    return [line.length - 1, (value) => binOf(dates ? daysIn(value) : numberIn(value), line, closed)];
  }
  if (grid) {
    need(Array.isArray(grid) && grid.length === 2, "a grid has rows and columns");
    const [rows, columns] = grid.map((line) => edgesIn(line, closed));
    return [(rows.length - 1) * (columns.length - 1), (value) => {
      if (!Array.isArray(value) || value.length !== 2) return undefined;
      const row = binOf(numberIn(value[0]), rows, closed);
      const column = binOf(numberIn(value[1]), columns, closed);
      return row === undefined || column === undefined ? undefined : row * (columns.length - 1) + column;
    }];
  }
  need(Number.isInteger(integers), "integers must be a whole number");
  return [integers, (value) => {
    const number = typeof value === "string" && /^\s*(0|[1-9]\d{0,9})\s*$/.test(value) ? Number(value) : value;
    return Number.isInteger(number) && number >= 0 && number < integers ? number + 0 : undefined;
  }];
}

// ---- the plan -----------------------------------------------------------------------------------------------------

const FLOATS = new Set(["epsilon", "delta", "edges", "grid", "positions"]);

/** A double as Python writes it: 1.0, 1e-07, 1e+16. */
function float(x) {
  const [digits, exponent] = x.toExponential().split("e");
  const power = Number(exponent);
  if (power < -4 || power > 15) return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
  return Number.isInteger(x) ? `${x}.0` : String(x);
}

const escaped = (text) =>
  JSON.stringify(text).replace(/[\x7f-\uffff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

/** One text per content: keys sorted, no blanks, ASCII. JSON forgets which numbers are floats: fields tell. */
function canonical(x, isFloat) {
  if (typeof x === "string") return escaped(x);
  if (typeof x === "number") return isFloat ? float(x) : String(x);
  if (Array.isArray(x)) return `[${x.map((each) => canonical(each, isFloat)).join()}]`;
  if (x === null || typeof x !== "object") return String(x);
  const keys = Object.keys(x).sort();
  return `{${keys.map((key) => `${escaped(key)}:${canonical(x[key], FLOATS.has(key))}`).join()}}`;
}

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

async function identifierOf({ identifier, ledger, ...content }) {
  need(globalThis.crypto?.subtle, "this page cannot check a plan: serve it over https, or from localhost");
  const bytes = new TextEncoder().encode(canonical(content));
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

/** Refuse fields that nobody here knows: they could mean anything. */
const known = (given, names) => {
  const strange = Object.keys(given).filter((name) => !names.split(" ").includes(name));
  need(!strange.length, `this client does not know the field ${strange[0]}`);
};

/** The lot of a person whose identifier a server knows, so that nobody can choose a group. */
async function lotOf(identifier, person) {
  const text = new TextEncoder().encode(person);
  const digest = await crypto.subtle.digest("SHA-256", Uint8Array.of(...identifier, ...text));
  return new DataView(digest).getBigUint64(0);
}

const isClaim = ({ epsilon, delta, batch } = {}, local) =>
  typeof epsilon === "number" && epsilon > 0 && epsilon < local && delta > 0 && delta < 1 && Number.isInteger(batch);

/** What a value of an attribute is numbered; one that is not there is `other`, or refused. */
function attributeOf(attribute) {
  known(attribute, "name ordered other labels positions integers edges grid closed dates");
  const [size, place] = domainOf(attribute);
  const { name, other } = attribute;
  const apart = other === null || (typeof other === "string" && place(other) === undefined);
  need(apart, "other must be null, or a text that is no other value");
  const code = (value) => {
    const found = value === undefined ? value : place(value) ?? (other === null ? undefined : size);
    need(found !== undefined, `${name}: the value is not in the domain: nothing is sent`);
    return found;
  };
  const d = size + (other !== null);
  need(d >= 2 && d <= MOST_VALUES, "d is not a number of values that an attribute can have");
  return { name, d, code };
}

/** What a group of people is asked of their codes, and how it answers. */
function groupOf(group, attributes, epsilon) {
  known(group, "view share protocol d constants report");
  const view = group.view.map(([name, given]) => {
    const number = attributes.findIndex((each) => each.name === name);
    const size = attributes[number]?.d;
    const bins = given ?? size;
    need(Number.isInteger(bins) && bins > 0 && bins <= size, "a group is asked for no attribute of the plan");
    need(bins === size || bins * size <= 2 ** 52, "a group is asked for too many bins");
    return [number, bins, size];
  });
  need(new Set(view.map(([number]) => number)).size === view.length, "a group is asked for an attribute twice");
  const d = view.reduce((d, [, bins]) => d * bins, 1);
  need(d === group.d && d >= 2 && d <= MOST_VALUES, "d is not the number of its values");
  const cell = (codes) => view.reduce((cell, [number, bins, size]) =>
    cell * bins + (bins === size ? codes[number] : Math.floor((codes[number] * bins) / size)), 0);

  const [name] = String(group.protocol).split("(");
  const protocol = PROTOCOLS.get(name);
  need(protocol, `this client does not know the protocol ${name}`);
  const given = wholeNumbers(group.constants);
  const { constants, bits, draw } = protocol(BigInt(d), epsilon, given, group.protocol);
  const names = Object.keys(given);
  const same = names.length === Object.keys(constants).length && names.every((each) => given[each] === constants[each]);
  need(same, `its constants are not those of ${name} at ε = ${epsilon}: reports would be less private, or wrong`);
  return { cell, bytes: Math.ceil(bits / 8), draw, share: wholeNumbers({ share: group.share }).share };
}

/** Check all that privacy rests on: how reports are drawn, and the code of a value. */
function checked(plan, maxEpsilon) {
  const { epsilon, shuffled, scheme } = plan;
  known(plan, "format version identifier ledger name epsilon method shuffled scheme attributes groups report");
  const bound = typeof maxEpsilon === "number" && maxEpsilon > 0 && maxEpsilon <= MOST_EPSILON;
  need(bound, `maxEpsilon must be a number above 0, up to ${MOST_EPSILON}`);
  need(typeof epsilon === "number" && epsilon > 0, "ε must be a number above 0");
  need(epsilon <= maxEpsilon, `ε = ${epsilon} is above the ${maxEpsilon} that this page allows`);
  need(shuffled === null || isClaim(shuffled, epsilon), "claims something of a shuffler that cannot be");

  const attributes = plan.attributes.map(attributeOf);
  const names = attributes.map(({ name }) => name);
  need(names.length && new Set(names).size === names.length, "attributes must have names that differ");
  const groups = plan.groups.map((group) => groupOf(group, attributes, epsilon));
  const shares = groups.every(({ share }) => share) && groups.reduce((sum, { share }) => sum + share, 0n) === WORDS;
  const whole = canonical(plan.groups[0]?.view) === canonical([[names[0], null]]) && groups.length * names.length === 1;
  need(shares && (scheme === null ? whole : typeof scheme === "string"), "has groups that this client does not know");

  const { tag_bytes, group_bytes, payload_bytes } = plan.report;
  const head = Math.ceil(width(BigInt(groups.length)) / 8);
  const bytes = Math.max(...groups.map((group) => group.bytes));
  need(bytes <= MOST_BYTES && head <= 2, "its reports are longer than a page should send");
  const sizes = tag_bytes === TAG_BYTES && group_bytes === head && payload_bytes === bytes;
  need(sizes, "its reports have another size");

  const codes = (value) => {
    need(value !== undefined && value !== null, "no value was given: nothing is sent");
    const isRecord = typeof value === "object" && !Array.isArray(value) && !(value instanceof Date);
    if (names.length === 1 && !(scheme && isRecord)) return [attributes[0].code(value)];
    need(isRecord, "a record has a value of each attribute by its name: nothing is sent");
    const strange = Object.keys(value).find((name) => !names.includes(name));
    need(strange === undefined, `${strange} is no attribute of the plan: nothing is sent`);
    // its own values: every object inherits some, such as one by the name of constructor
    return attributes.map(({ name, code }) => code(Object.hasOwn(value, name) ? value[name] : undefined));
  };
  /** The group whose people the lot falls to; a plan without a scheme has one, and takes no lot. */
  const choose = (lot) => (scheme === null ? 0 : groups.findIndex(({ share }) => (lot -= share) < 0n));
  return { codes, head, bytes, groups, choose, several: names.length > 1 };
}

/** The client of a plan; a plan that is not what it says, or that this client does not know, is refused. */
export async function openPlan(given, { maxEpsilon = MODEST, memo = null, person = null } = {}) {
  let plan, parts;
  const about = (why) => new Refused(`${plan?.name ?? "the plan"}: ${why}`);
  try {
    plan = JSON.parse(typeof given === "string" ? given : JSON.stringify(given)); // a copy: nobody else can change it
    need(plan?.format === FORMAT, "is no plan, as `ldp3 plan` writes it");
    need(plan.version === VERSION, `is of version ${plan.version}, this client reads version ${VERSION}`);
    const identifier = await identifierOf(plan);
    need(identifier === plan.identifier, "was changed after it was made: its identifier does not match");
    parts = checked(plan, maxEpsilon);
    need(!plan.shuffled || !memo, "claims what a shuffler adds, and a memo sends the same report again");
    need(!plan.shuffled || person === null, "claims what a shuffler adds, and a person has a known group");
    need(person === null || String(person).trim(), "person must be a text that is not blank");
  } catch (error) {
    throw about(error.message);
  }
  const { codes, head, bytes, groups, choose, several } = parts;
  const { identifier, epsilon, shuffled, scheme } = plan;
  const own = Uint8Array.from(identifier.match(/../g), (pair) => parseInt(pair, 16));
  const tag = [VERSION, ...own.slice(0, TAG_BYTES - 1)];
  const size = TAG_BYTES + head + bytes;
  const start = (group) => [...tag, group & 255, group >> 8].slice(0, TAG_BYTES + head);
  const known = person === null ? undefined : choose(await lotOf(own, String(person)));

  function fresh(group, cell) {
    const report = new Uint8Array(size);
    report.set(start(group));
    groups[group].draw(cell, report.subarray(TAG_BYTES + head));
    return report;
  }

  /** The person's group: drawn once, before anybody looks at the value, and kept by the memo. */
  async function lasting() {
    const group = known ?? choose(scheme === null || word());
    if (!memo || scheme === null) return group;
    const [low, high] = await memo.keep(`group of ${identifier}`, 0, Uint8Array.of(group & 255, group >> 8));
    const kept = low + 256 * high;
    if (!groups[kept] || (known ?? kept) !== kept) throw about("its memo is damaged, or somebody else's");
    return kept;
  }

  /** A report of the value, or of a record of several: random, and safe to send. */
  async function report(value) {
    const given = codes(value);
    const group = await lasting();
    const cell = groups[group].cell(given);
    if (!memo) return fresh(group, cell);
    const kept = await memo.keep(identifier, cell, fresh(group, cell));
    const ours = kept?.length === size && start(group).every((byte, i) => kept[i] === byte);
    if (!ours) throw about("its memo is damaged");
    return kept;
  }

  /** The code of a value; of a record, that of each attribute. */
  const code = (value) => (several ? codes(value) : codes(value)[0]);

  /** Send a report of the value; true if it counts now, false if the collector had it already. */
  async function send(url, value) {
    if (shuffled) throw about("claims what a shuffler adds: hand `report` to the shuffler, not to the collector");
    return deliver(`${String(url).replace(/\/+$/, "")}/collections/${identifier}/reports`, await report(value));
  }

  /** ε that this person has spent in this collection; undefined if there is no memo to tell. */
  const spent = async () => (memo ? epsilon * (await memo.count(identifier)) : undefined);

  return Object.freeze({ plan, code, report, send, spent });
}

// ---- sending ------------------------------------------------------------------------------------------------------

const TRIES = 5;
const KEEPALIVE_BYTES = 60000; // browsers keep 64 KiB alive, of all requests together
const LONGEST_WAIT = 60; // seconds

/** Under one key however often it is tried, so that it counts once. The key says nothing of the person. */
async function deliver(address, body, key = newKey(Date.now()), isNew = true) {
  let why;
  for (let tried = 0; tried < TRIES; tried++) {
    if (tried) await pause(2 ** (tried - 1), why?.headers?.get("retry-after"));
    try {
      why = await fetch(address, {
        method: "POST",
        headers: { "Content-Type": "application/octet-stream", "Idempotency-Key": key },
        body,
        keepalive: body.length <= KEEPALIVE_BYTES, // it is sent even if the page is left now
        credentials: "omit",
        referrerPolicy: "no-referrer",
        cache: "no-store",
        redirect: "error",
      });
    } catch (error) {
      why = error; // no connection
      continue;
    }
    if (why.status === 202 || why.status === 200) return why.status === 202;
    const now = Date.parse(why.headers.get("date"));
    if (why.status === 410 && now && isNew && !tried) {
      key = newKey(now); // this device's clock is wrong; later, another key might count the report twice
      continue;
    }
    if (why.status < 500 && ![408, 425, 429].includes(why.status)) throw new Refused(await saidIn(why));
  }
  const error = new Error(`not delivered in ${TRIES} tries: ${why.status ? await saidIn(why) : why.message}`);
  error.retry = () => deliver(address, body, key, false); // the same report: a fresh one would cost ε again
  throw error;
}

const newKey = (now) => `${Math.floor(now / 3600000)}-${hex(crypto.getRandomValues(new Uint8Array(16)))}`;

function pause(seconds, asked) {
  const spread = 0.5 + crypto.getRandomValues(new Uint16Array(1))[0] / 65536; // so that not all come back at once
  const wait = Math.min(Math.max(Number(asked) || 0, seconds * spread), LONGEST_WAIT);
  return new Promise((done) => setTimeout(done, 1000 * wait));
}

/** Why a collector refused, in its own words if it has some. */
async function saidIn(answer) {
  const said = await answer.json().catch(() => null);
  return said?.error ?? `the collector answered ${answer.status}`;
}

// ---- memos: the same value gives the same report ------------------------------------------------------------------

/** In memory, until the program ends: for Node and for tests. */
export function memoryMemo() {
  const reports = new Map();
  const key = (collection, code) => `${collection} ${code}`;
  return {
    async keep(collection, code, report) {
      if (!reports.has(key(collection, code))) reports.set(key(collection, code), report.slice());
      return reports.get(key(collection, code)).slice();
    },
    count: async (collection) => [...reports.keys()].filter((each) => each.startsWith(`${collection} `)).length,
  };
}

/** In the browser's IndexedDB. It holds the person's true values, as all memos do: on this device only. */
export function browserMemo(name = "ldp3") {
  need(globalThis.indexedDB, "there is no IndexedDB here to remember reports in");
  const REPORTS = "reports";
  let opening;
  const open = () => (opening ??= new Promise((done, fail) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(REPORTS);
    request.onsuccess = () => done(request.result);
    request.onerror = () => fail(request.error);
  }));
  async function during(mode, act) {
    const transaction = (await open()).transaction(REPORTS, mode, { durability: "strict" });
    return new Promise((done, fail) => {
      let result;
      act(transaction.objectStore(REPORTS), (found) => (result = found));
      transaction.oncomplete = () => done(result); // on the disk
      transaction.onabort = transaction.onerror = () => fail(transaction.error);
    });
  }
  return {
    // in one transaction: of two tabs that add one at the same moment, both send the first
    keep: (collection, code, report) => during("readwrite", (store, is) => {
      const asked = store.get([collection, code]);
      asked.onsuccess = () => {
        is(asked.result ?? report);
        if (asked.result === undefined) store.add(report, [collection, code]);
      };
    }),
    count: (collection) => during("readonly", (store, is) => {
      const asked = store.count(IDBKeyRange.bound([collection], [collection, []]));
      asked.onsuccess = () => is(asked.result);
    }),
  };
}
