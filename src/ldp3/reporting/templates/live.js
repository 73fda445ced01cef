"use strict";

// Asks every three seconds what is new. The token stays in this tab and travels in a header, never in an address.

const EVERY = 3000;
const KEPT = "ldp3-token";
const part = (id) => document.getElementById(id);
let tag = "";
let timer = 0;
let asked = 0;

function address(what, more = {}) {
  const given = new URLSearchParams({ method: part("method").value, order: part("order").value, ...more });
  if (part("table")) given.set("table", part("table").value);
  return `${location.pathname.replace(/\/+$/, "")}/${what}?${given}`;
}

async function ask(what, headers = {}, more = {}) {
  const token = sessionStorage.getItem(KEPT) ?? "";
  return fetch(address(what, more), { headers: { ...headers, Authorization: `Bearer ${token}` }, cache: "no-store" });
}

async function said(answer) {
  return (await answer.json().catch(() => ({}))).error ?? `the collector answered ${answer.status}`;
}

async function refresh() {
  clearTimeout(timer);
  const mine = ++asked; // a slow answer to an older question is not shown
  try {
    const answer = await ask("live", tag ? { "If-None-Match": tag } : {});
    const text = answer.status === 200 ? await answer.text() : "";
    if (mine !== asked) return;
    if (answer.status === 401) {
      sessionStorage.removeItem(KEPT);
      part("login").hidden = false;
      part("shown").hidden = true;
      part("said").textContent = "This token does not fit.";
      return;
    }
    if (answer.status === 200) {
      tag = answer.headers.get("ETag") ?? "";
      part("results").innerHTML = text; // made and escaped by the collector; scripts in it do not run
    }
    part("said").textContent = answer.ok || answer.status === 304 ? "" : await said(answer);
    part("login").hidden = true;
    part("shown").hidden = false;
  } catch {
    part("said").textContent = "The collector does not answer; trying again.";
  }
  timer = setTimeout(refresh, document.hidden ? 10 * EVERY : EVERY);
}

function anew() {
  tag = "";
  refresh();
}

async function save(format) {
  const answer = await ask("estimate", {}, { format });
  if (!answer.ok) {
    part("said").textContent = await said(answer);
    return;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = `estimate.${format}`;
  link.click();
  URL.revokeObjectURL(link.href);
}

part("login").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(KEPT, part("token").value.trim());
  part("token").value = "";
  anew();
});
for (const id of ["table", "method", "order"]) part(id)?.addEventListener("change", anew);
for (const button of document.querySelectorAll("[data-format]")) button.addEventListener("click", () => save(button.dataset.format));
document.addEventListener("visibilitychange", () => document.hidden || part("shown").hidden || refresh());
if (sessionStorage.getItem(KEPT)) refresh();
document.body.dataset.ready = "true";
