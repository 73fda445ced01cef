// Shows what the client makes of a value, sends it, and sends the values of people who do not exist.
import { browserMemo, openPlan } from "../ldp3.js";

const PEOPLE = 2000;
const AT_ONCE = 8; // requests
const at = (id) => document.getElementById(id);
const given = new URLSearchParams(location.search);
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const say = (text) => (at("state").textContent = text);

/** The tag of a report, and marked, what was drawn. */
function bytesOf(report) {
  const mark = document.createElement("mark");
  mark.textContent = hex(report.subarray(8));
  return [`${hex(report.subarray(0, 8))} `, mark];
}

// every request that this page makes is shown as it is, for here it passes
const send = window.fetch;
window.fetch = (address, options) => {
  if (options?.method === "POST") {
    const headers = Object.entries(options.headers).map(([name, value]) => `${name}: ${value}\n`);
    at("request").replaceChildren(`POST ${address}\n${headers.join("")}\n`, ...bytesOf(options.body));
    at("left").hidden = false;
  }
  return send(address, options);
};

/** The plan beside this page, or the one of that identifier at the collector. */
async function thePlan() {
  const [collector, identifier] = [given.get("collector"), given.get("plan")];
  const address = collector && identifier ? `${collector}/collections/${identifier}/plan` : "pages.ldp3.json";
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}`);
  const plan = await answer.json();
  if (identifier && plan.identifier !== identifier) throw new Error("the collector gave another plan");
  return plan;
}

/** One value for each code. */
function valuesOf({ labels, integers, edges, dates, other }) {
  const middle = (low, high) => (low === null ? high - 1 : high === null ? low : (low + high) / 2);
  const written = (number) => (dates ? new Date(number * 86400000) : number);
  const inside = labels
    ?? (integers && Array.from({ length: integers }, (_, code) => code))
    ?? edges?.slice(1).map((high, i) => written(middle(edges[i], high)));
  if (!inside) throw new Error("this demo shows labels, integers and bins");
  return other === null ? inside : [...inside, other];
}

/** So many values, the first ones more often than the last; from the system's generator, as all chance here. */
function crowd(values) {
  const weights = values.map((_, i) => 1 / (i + 1));
  const total = weights.reduce((sum, weight) => sum + weight);
  return Array.from(crypto.getRandomValues(new Uint32Array(PEOPLE)), (word) => {
    let rest = (word / 2 ** 32) * total;
    return values[Math.max(0, weights.findIndex((weight) => (rest -= weight) < 0))];
  });
}

/** What people hold of each attribute, a column of `held` each. */
function showTruth(choices, held) {
  const rows = choices.flatMap(([name, values], i) => values.map((value) => {
    const people = held[i].filter((each) => each === value).length;
    const label = choices.length > 1 ? `${name}: ${value}` : value;
    const row = document.createElement("tr");
    for (const text of [label, people, `${((100 * people) / PEOPLE).toFixed(1)} %`]) row.insertCell().textContent = text;
    return row;
  }));
  at("truth").tBodies[0].replaceChildren(...rows);
  at("truth").hidden = false;
}

async function start() {
  const plan = await thePlan();
  const fresh = await openPlan(plan, { maxEpsilon: 4 });
  const remembering = plan.shuffled ? fresh : await openPlan(plan, { maxEpsilon: 4, memo: browserMemo("ldp3 demo") });
  const client = () => (at("remember").checked ? remembering : fresh);
  const choices = plan.attributes.map((attribute) => [attribute.name, valuesOf(attribute)]);
  const several = choices.length > 1;
  const [[, values]] = choices;
  const says = plan.scheme === null && plan.groups[0].protocol === "grr"; // a report is a value
  const protocols = [...new Set(plan.groups.map(({ protocol }) => protocol))].join(", ");
  const record = Object.create(null);
  let chosen;

  at("plan").textContent = `The plan is as it was made, and its thresholds are those of ${protocols} at ε = ${plan.epsilon}: `
    + `whatever you choose, any report is at most ${Math.exp(plan.epsilon).toFixed(2)} times as likely as under any other choice.`;
  at("question").textContent = plan.name;
  at("collector").value = given.get("collector") ?? "";

  /** What the person's group is asked, if there are several. */
  function asked(report) {
    if (plan.groups.length === 1) return "";
    const { view } = plan.groups[report[8] + (plan.report.group_bytes > 1 ? 256 * report[9] : 0)];
    const parts = view.map(([name, bins]) => (bins === null ? name : `${name} in ${bins} bins`));
    return `, first the group, by lot: it is asked for ${parts.join(" and ")}, and nothing else is in the report`;
  }

  async function show(value) {
    chosen = value;
    const report = await client().report(value);
    at("report").replaceChildren(...bytesOf(report));
    at("meaning").textContent = says
      ? `Before the mark is the collection. What is marked says “${values[report[8]]}”: the truth, or not.`
      : `Before the mark is the collection. What is marked was drawn for you${asked(report)}.`;
    const again = await Promise.all(Array.from({ length: 10 }, () => fresh.report(value)));
    at("others").textContent = again.map((one) => (says ? values[one[8]] : hex(one.subarray(8)))).join(" · ");
    const spent = await client().spent();
    at("spent").textContent = spent === undefined
      ? `Nothing is remembered: each report that is sent costs ε = ${plan.epsilon} again.`
      : `Remembered: ε = ${spent} for the different values so far, however often they are sent.`;
    at("shown").hidden = false;
    at("send").disabled = Boolean(plan.shuffled);
  }

  for (const [name, values] of choices) {
    const row = document.createElement("p");
    row.append(several ? `${name}: ` : "");
    for (const value of values) {
      const button = document.createElement("button");
      button.textContent = value;
      button.onclick = () => {
        for (const each of row.children) each.setAttribute("aria-pressed", each === button);
        record[name] = value;
        if (choices.every(([each]) => each in record)) show(several ? { ...record } : value).catch(told);
      };
      row.append(button);
    }
    at("values").append(row);
  }
  at("remember").disabled = Boolean(plan.shuffled);
  at("remember").onchange = () => chosen !== undefined && show(chosen).catch(told);

  at("send").onclick = async () => {
    say("…");
    const counts = await client().send(at("collector").value, chosen).catch(told);
    if (counts !== undefined) say(counts ? "Taken." : "Known already.");
  };
  at("crowd").onclick = async () => {
    const held = choices.map(([, values]) => crowd(values));
    const waiting = several
      ? held[0].map((_, person) => Object.fromEntries(choices.map(([name], i) => [name, held[i][person]])))
      : [...held[0]];
    at("crowd").disabled = true;
    const sender = async () => {
      while (waiting.length) {
        await fresh.send(at("collector").value, waiting.pop());
        say(`${PEOPLE - waiting.length} of ${PEOPLE} sent`);
      }
    };
    try {
      await Promise.all(Array.from({ length: AT_ONCE }, sender));
      showTruth(choices, held);
      say(`All ${PEOPLE} reports were taken.`);
    } catch (error) {
      waiting.length = 0;
      told(error);
    }
    at("crowd").disabled = false;
  };
  at("crowd").disabled = Boolean(plan.shuffled);
  document.body.dataset.ready = "yes";
}

const told = (error) => void say(error.message);

start().catch((error) => {
  at("plan").textContent = `Refused: ${error.message}`;
  document.body.dataset.ready = "no";
});
