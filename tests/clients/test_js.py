"""The browser's client, under Node and in Chromium: its own tests, its codes and its laws."""

import json
import random
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.stats import binomtest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

from ldp3 import Bins, Domain, Grid, Labels, Plan, stream
from ldp3.arrays import BoolArray, Reports
from ldp3.collection.plan import deployable
from ldp3.domain import Integers, Records
from ldp3.edges import as_edges
from ldp3.errors import InvalidParameter, InvalidValue
from ldp3.protocols.pure import PureOracle
from tests.laws import same_law_p

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "js"
ALPHA = 1e-6  # of one test: reports of real clients cannot be seeded
PEOPLE = 4_000


def node_version() -> int:
    """The first part of it; 0 where there is none."""
    if not shutil.which("node"):
        return 0
    said = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
    return int(said.removeprefix("v").partition(".")[0] or 0)


needs_node = pytest.mark.skipif(
    node_version() < 20, reason="no node of version 20 or later here (Debian: nodejs)"
)
needs_browser = pytest.mark.skipif(
    not (shutil.which("chromium") and shutil.which("chromedriver")),
    reason="no chromium and chromedriver here (Debian: chromium, chromium-driver)",
)

# plans and values in; codes and reports, or why a plan was refused, out
OPEN = """
const { openPlan } = await import(CLIENT);
const hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
const answers = [];
for (const { plan, values, people } of tasks) {
  try {
    const client = await openPlan(plan);
    const code = (value) => { try { return client.code(value); } catch { return null; } };
    const codes = values.map(code);
    const reports = [];
    for (let i = 0; i < people; i++) reports.push(hex(await client.report(values[0])));
    answers.push({ codes, reports });
  } catch (error) {
    answers.push({ error: error.message });
  }
}
"""
# what a page must not draw from
UPPER_HALF_MISSING = """
const real = crypto.getRandomValues.bind(crypto);
crypto.getRandomValues = (array) => real(array).map((word) => word >> 1n);
"""
Task = dict[str, Any]


def in_node(tasks: list[Task], before: str = "") -> list[dict[str, Any]]:
    code = OPEN.replace("CLIENT", json.dumps((CLIENT / "ldp3.js").as_uri()))
    given = 'const tasks = JSON.parse((await import("node:fs")).readFileSync(0, "utf8"));'
    program = f"{given}{before}{code} console.log(JSON.stringify(answers));"
    command = ["node", "--input-type=module", "--eval", program]
    text = json.dumps(tasks)
    done = subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


@needs_node
def test_its_own_tests_pass_in_node() -> None:
    files = sorted(map(str, (CLIENT / "test").glob("*.test.mjs")))
    done = subprocess.run(["node", "--test", *files], cwd=CLIENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(files) == 5


STAND_IN = """import { readFileSync } from "node:fs";
globalThis.fetch = async (address) => address.startsWith("https:")
  ? new Response(null, { status: 202 }) : new Response(readFileSync(address));
"""


@needs_node
def test_the_code_on_the_page_runs(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "web-client.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```js\n(.*?)```", text, re.DOTALL)
    shutil.copy(CLIENT / "ldp3.js", tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "before.mjs").write_text(STAND_IN)
    Plan("pages", ["home", "news"], "oue", 1.0).save(tmp_path / "pages.ldp3.json")
    said = ""
    for block in blocks:
        (tmp_path / "page.mjs").write_text(block, encoding="utf-8")
        command = ["node", "--import", "./before.mjs", "page.mjs"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        said += done.stdout
    assert (len(blocks), said) == (3, "9 1\n")


def supports(plan: Plan, reports: Reports) -> BoolArray:
    """What the server reads in reports: which values each of them supports."""
    assert isinstance(plan.oracle, PureOracle)
    return np.column_stack([plan.oracle.supports(reports, v) for v in range(plan.d)])


def least_p(plan: Plan, value: int, sent: list[str]) -> float:
    """A p-value that these reports of one value have the law of the plan.

    Of one χ² test against as many of the package's reports, and of two exact ones.
    """
    rows = np.frombuffer(bytes.fromhex("".join(sent)), dtype=np.uint8)
    refused: dict[str, int] = {}
    reports, _ = plan.wire.accept(rows.reshape(len(sent), plan.report_bytes), refused)
    assert not refused
    ours = plan.oracle.perturb(np.full(PEOPLE, value), stream(0, plan.name))
    if not isinstance(plan.oracle, PureOracle):
        return same_law_p(reports, ours)
    held, expected = supports(plan, reports), supports(plan, ours)
    other = (value + 1) % plan.d
    ps = [
        same_law_p(held.astype(np.uint8), expected.astype(np.uint8)),
        binomtest(int(held[:, value].sum()), len(held), plan.oracle.p).pvalue,
        binomtest(int(held[:, other].sum()), len(held), plan.oracle.q).pvalue,
    ]
    return min(1.0, len(ps) * min(ps))


FIVE = Integers(5, ordered=True)
EVERY = [Plan(f"{name} of five", FIVE, name, 1.0) for name in deployable()]
DRAWS: list[Task] = [{"plan": p.describe(), "values": [1], "people": PEOPLE} for p in EVERY]


@needs_node
def test_reports_drawn_in_node_have_the_law_of_their_plan() -> None:
    for plan, answer in zip(EVERY, in_node(DRAWS), strict=True):
        assert least_p(plan, 1, answer["reports"]) > ALPHA / len(EVERY), plan.name


@needs_node
def test_a_generator_that_gives_too_small_words_is_found_out() -> None:
    for plan, answer in zip(EVERY, in_node(DRAWS, UPPER_HALF_MISSING), strict=True):
        assert least_p(plan, 1, answer["reports"]) < ALPHA / len(EVERY), plan.name


def some_plans(chance: random.Random) -> Iterator[Plan]:
    """Plans of all protocols with any ε and d that a page may meet."""
    specs = [*deployable(), "olh(g=3)", "olh(g=300)", "ss(k=2)", "pgr(q=4)", "pgr(q=27)", "hr(B=2)"]
    specs += ["the(theta=0.7)", "the(theta=1.0)", "the(theta=0.5)", "ue(p=0.9)", "ue(p=1e-05)"]
    specs += ["olh(design=minimax)", "ss(design=0.1)"]
    for spec in specs:
        for _ in range(6):
            epsilon = float(f"{2.0 ** chance.uniform(-10, 3):.{chance.randint(1, 17)}g}")
            d = chance.choice([2, 3, 4, chance.randint(5, 40), 2 ** chance.randint(3, 12)])
            try:
                plan = Plan("any", Integers(d, ordered=True), spec, min(epsilon, 8.0))
            except InvalidParameter:  # not for so few values
                continue
            yield plan


@needs_node
def test_every_plan_of_the_package_is_taken() -> None:
    plans = list(some_plans(random.Random(0)))
    tasks = [{"plan": plan.describe(), "values": [plan.d - 1], "people": 3} for plan in plans]
    for plan, answer in zip(plans, in_node(tasks), strict=True):
        assert "error" not in answer, (plan, answer["error"])
        rows = np.frombuffer(bytes.fromhex("".join(answer["reports"])), dtype=np.uint8)
        refused: dict[str, int] = {}
        plan.wire.accept(rows.reshape(3, plan.report_bytes), refused)
        assert not refused, plan
    assert len(plans) > 100


DATES = as_edges(("0099-03-01", "1970-01-01", "2026-03-29 02:30:00", "9999-12-31"), dates=True)
COORDINATES = (-1e300, -0.1, 0.0, 1e-07, 1.0, 1e16)
DOMAINS: list[Domain] = [
    Integers(12),
    Integers(12, other="more"),
    Labels(["0", "1.0", "1", "-0.5", "1e-07", "true", "Infinity", "2026-03-29", "日本", "🙂"]),
    Labels(["red", "__proto__"], other="another"),
    Bins(COORDINATES),
    Bins((float("-inf"), *COORDINATES, float("inf")), other="none"),
    Bins((0, 4, 4), closed=True),
    Bins(DATES, dates=True),
    Bins(DATES, dates=True, closed=True, other="never"),
    Grid(COORDINATES, (0, 1, 2), closed=True, other="elsewhere"),
]
VALUES: list[object] = [  # but 1.0, which in JavaScript is 1
    *(-1, 0, 1, 4, 11, 12, 0.5, -0.5, 1e-07, 1e-08, 1e16, 1e300, -1e300, 2**31, True, False),
    *("0", " 4 ", "+4", "4.", ".5", "1e-7", "-.1", "1e16", "inf", "-inf", "0x4", "1_0", "٤", "04"),
    *("red", " red", "Red", "__proto__", "true", "True", "日本", "🙂", "🙃", "", "another", "none"),
    *("0099-03-01", "0099-02-29", "2026-03-29", "2026-3-9", " 2026/3/9 ", "2026-03-29 02:30:00"),
    *("2026-03-29T02:29:59.9999999", "2026-03-29 24:00:00", "2026-03-29 02:30:60", "0000-01-01"),
    *("2026-02-29", "2024-02-29", "9999-12-30 23:59:59.999999", "9999-12-31", "2026-03-29 02:30"),
    *([0, 1], [0.0, 1.9], [-0.1, 2], [1e16, 2], ["1", "0"], [0], [0, 1, 2], [None, 1], [[0, 1]]),
]


def code_in_python(plan: Plan, value: object) -> int | None:
    try:
        return plan.code(value)
    except InvalidValue:
        return None


@needs_node
def test_values_have_the_codes_that_the_package_gives_them() -> None:
    plans = [Plan("codes", domain, "olh", 1.0) for domain in DOMAINS]
    tasks = [{"plan": plan.describe(), "values": VALUES, "people": 0} for plan in plans]
    for plan, answer in zip(plans, in_node(tasks), strict=True):
        pairs = zip(VALUES, answer["codes"], strict=True)
        wrong = [(value, code) for value, code in pairs if code != code_in_python(plan, value)]
        assert not wrong, plan.domain


@dataclass(frozen=True)
class Page:
    """A page of a server on this machine, which may use all of the browser's cryptography."""

    driver: Chrome
    address: str

    def js(self, code: str) -> Any:
        return self.driver.execute_script(code)

    def text(self, place: str) -> str:
        return str(self.js(f"return document.getElementById('{place}').textContent"))

    def run(self, code: str, *arguments: object) -> Any:
        """What the code returns, which may wait for something."""
        wrapped = f"""const given = arguments, done = arguments[arguments.length - 1];
            (async () => {{ {code} }})().then(done, (error) => done(`failed: ${{error}}`));"""
        return self.driver.execute_async_script(wrapped, *arguments)


class Collector(SimpleHTTPRequestHandler):
    """Files of the repository, and a place to send reports to."""

    posted: ClassVar[list[tuple[str, dict[str, str], bytes]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.posted.append((self.path, dict(self.headers), body))
        self.send_response(202)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Collector, directory=str(ROOT)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def page(site: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    options = ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    profile = f"--user-data-dir={tmp_path_factory.mktemp('profile')}"
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    for flag in ("--disable-background-networking", "--disable-component-update", profile):
        options.add_argument(flag)
    driver = Chrome(options, Service(shutil.which("chromedriver")))
    try:
        driver.set_script_timeout(60)
        driver.get(f"{site}/clients/js/demo/index.html")
        yield Page(driver, site)
    finally:
        driver.quit()


WHO = Records([Integers(3, name="a"), Integers(4, name="b"), Integers(5, name="c")])
MEMOS = [(1_000, "oue", 7), (WHO, "groups", {"a": 0, "b": 1, "c": 2})]


@needs_browser
@pytest.mark.xdist_group("browser")
class TestInChromium:
    """The same module in a real browser."""

    def test_a_page_makes_the_reports_of_all_vectors(self, page: Page) -> None:
        answer = page.run(
            """const { openPlan } = await import("/clients/js/ldp3.js");
            const file = await (await fetch("/docs/wire-format-vectors.json")).json();
            const digits = (byte) => byte.toString(16).padStart(2, "0");
            const hex = (bytes) => Array.from(bytes, digits).join("");
            const real = crypto.getRandomValues, wrong = [];
            let reports = 0, codes = 0, given;
            for (const { plan, reports: cases } of file.vectors) {
              const client = await openPlan(plan);
              for (const { value, words, report } of cases) {
                let used = 0;
                crypto.getRandomValues = (all) => all.map(() => BigInt(`0x${words[used++]}`));
                const made = hex(await client.report(value));
                if (made !== report || used !== words.length) wrong.push([plan.name, value, made]);
                reports++;
              }
            }
            crypto.getRandomValues = real;
            for (const { plan, codes: cases } of file.domains) {
              const client = await openPlan(plan);
              for (const { value, code } of cases) {
                let found = null;
                try { found = client.code(value); } catch {}
                if (String(found) !== String(code)) wrong.push([plan.name, value, found]);
                codes++;
              }
            }
            return { reports, codes, wrong };"""
        )
        published = json.loads((ROOT / "docs" / "wire-format-vectors.json").read_text("utf-8"))
        reports = sum(len(each["reports"]) for each in published["vectors"])
        codes = sum(len(each["codes"]) for each in published["domains"])
        assert answer == {"reports": reports, "codes": codes, "wrong": []}

    def test_reports_drawn_in_a_page_have_the_law_of_their_plan(self, page: Page) -> None:
        code = OPEN.replace("CLIENT", '"/clients/js/ldp3.js"')
        answers = page.run(f"const [tasks] = given; {code} return answers;", DRAWS)
        for plan, answer in zip(EVERY, answers, strict=True):
            assert least_p(plan, 1, answer["reports"]) > ALPHA / len(EVERY), plan.name

    @pytest.mark.parametrize(("domain", "spec", "value"), MEMOS)
    def test_a_memo_outlives_the_page_and_two_tabs_agree(
        self, page: Page, domain: Any, spec: str, value: object
    ) -> None:
        plan = Plan(f"memo of {spec}", domain, spec, 1.0).describe()
        code = """const { openPlan, browserMemo } = await import("/clients/js/ldp3.js");
            const [one, two] = await Promise.all(
              [browserMemo(), browserMemo()].map((memo) => openPlan(given[0], { memo })));
            const made = await Promise.all(
              [one, two, one, two].map((client) => client.report(given[1])));
            return [...made.map(String), await two.spent()];"""
        first = page.run(code, plan, value)
        page.driver.refresh()
        again = page.run(code, plan, value)
        assert len(set(first[:4])) == 1
        assert again == first
        assert again[4] == 1.0
        other = Plan(f"another memo of {spec}", domain, spec, 1.0).describe()
        assert page.run(code, other, value)[4] == 1.0

    def test_a_page_that_is_not_secure_says_so(self, page: Page) -> None:
        answer = page.run(
            """const { openPlan } = await import("/clients/js/ldp3.js");
            Object.defineProperty(crypto, "subtle", { value: undefined, configurable: true });
            try { return await openPlan(given[0]); } catch (error) { return error.message; }
            finally { delete crypto.subtle; }""",
            EVERY[0].describe(),
        )
        assert "serve it over https, or from localhost" in answer

    def test_the_demo_sends_what_it_shows(self, page: Page) -> None:
        plan = Plan.load(CLIENT / "demo" / "pages.ldp3.json")
        Collector.posted.clear()
        driver = page.driver
        driver.get(f"{page.address}/clients/js/demo/index.html?collector={page.address}")
        wait = WebDriverWait(driver, 60, 0.05)
        wait.until(lambda _: page.js("return document.body.dataset.ready") == "yes")
        assert "thresholds are those of grr at ε = 1" in page.text("plan")
        page.js("document.querySelectorAll('#values button')[2].click()")
        wait.until(lambda _: not page.js("return document.getElementById('send').disabled"))
        assert page.text("report").startswith(plan.tag.hex())
        page.js("document.getElementById('send').click()")
        wait.until(lambda _: page.text("state") == "Taken.")
        ((path, headers, body),) = Collector.posted
        assert path == f"/collections/{plan.identifier}/reports"
        assert f"{body[:8].hex()} {body[8:].hex()}" in page.text("request")
        assert headers["Idempotency-Key"] in page.text("request")
        assert not {"Cookie", "Referer", "Authorization"} & headers.keys()

    def test_the_demo_refuses_a_plan_that_was_changed(self, page: Page) -> None:
        weaker = Plan.load(CLIENT / "demo" / "pages.ldp3.json").describe() | {"epsilon": 3.0}
        page.driver.get(f"{page.address}/clients/js/demo/index.html")
        said = page.run(
            """const { openPlan } = await import("/clients/js/ldp3.js");
            return openPlan(given[0]).catch((error) => error.message);""",
            weaker,
        )
        assert "identifier does not match" in said
