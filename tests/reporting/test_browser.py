"""The page in a real browser, headless and with the network cut."""

import json
import re
import shutil
from base64 import b64decode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

import ldp3
from ldp3.collection.estimate_table import CollectionEstimate
from ldp3.reporting.estimate_page import estimate_page
from ldp3.reporting.page import SCRIPTS
from ldp3.results.table import Results
from tests.reporting.examples import DATA, EVIL, LABELS, large, several

pytestmark = [
    pytest.mark.skipif(
        not (shutil.which("chromium") and shutil.which("chromedriver")),
        reason="no chromium and chromedriver here (Debian: chromium, chromium-driver)",
    ),
    pytest.mark.xdist_group("browser"),  # one browser for all
]
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage",
)  # fmt: skip
MARKS = {  # (place, kind of mark) → how many, for 3 protocols, 3 methods, 3 ε, 8 values
    ("heat", "rect"): 9,
    ("heat", "text"): 18,  # a number and a mark each
    ("error", "line"): 3,
    ("error", "area"): 3,
    ("error", "symbol"): 9,
    ("wins", "rect"): 3,
    ("wins", "text"): 3,
    ("sizes", "rule"): 3,
    ("sizes", "symbol"): 6,
    ("frequencies", "rect"): 8,
    ("frequencies", "symbol"): 16,
    ("frequencies", "rule"): 8,
}


KINDS = {".csv", ".svg", ".png"}  # that a page saves


@dataclass(frozen=True)
class Browser:
    """A page that is open."""

    driver: Chrome

    def open(self, page: Path, *, width: int = 1280, dark: bool = False) -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.cdp("Emulation.setEmulatedMedia", media="", features=[scheme])
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=900,
                 deviceScaleFactor=1, mobile=width < 600)  # fmt: skip
        self.log()  # of the page before
        self.driver.get(page.as_uri())
        self.until(lambda: self.js("return document.body.dataset.ready"))

    def cdp(self, command: str, **arguments: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, arguments)

    def js(self, code: str, *arguments: object) -> Any:
        return self.driver.execute_script(code, *arguments)

    def until(self, holds: Callable[[], object]) -> None:
        WebDriverWait(self.driver, 30, 0.05).until(lambda _: holds())

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        return self.all(selector)[0].text

    def texts(self, selector: str) -> list[str]:
        code = """return [...document.querySelectorAll(arguments[0])].map(e => [...e.childNodes]
            .filter(part => part.nodeName !== 'title').map(part => part.textContent).join(''))"""
        return list(self.js(code, selector))  # without what the mouse shows

    def marks(self, place: str, kind: str) -> int:
        return len(self.all(f"#{place} svg g.mark-{kind}.role-mark > *"))

    def choose(self, name: str, words: str) -> None:
        Select(self.all(f"#{name}")[0]).select_by_visible_text(words)

    def column(self, name: str) -> list[str]:
        """What the table shows in a column."""
        heads = [head.get_attribute("data-key") for head in self.all("#head th")]
        place = heads.index(name) + 1
        return self.texts(f"#rows td:nth-child({place})")

    def log(self) -> list[str]:
        """What the console said since last time."""
        return [str(entry["message"]) for entry in self.driver.get_log("browser")]  # type: ignore[no-untyped-call]

    def requests(self) -> list[str]:
        """What was asked for since last time, from anywhere."""
        entries = self.driver.get_log("performance")  # type: ignore[no-untyped-call]
        messages = [json.loads(entry["message"])["message"] for entry in entries]
        return [
            m["params"]["request"]["url"]
            for m in messages
            if m["method"] == "Network.requestWillBeSent"
        ]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    options = ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = Chrome(options, Service(shutil.which("chromedriver")))
    try:
        started = Browser(driver)
        started.cdp("Network.enable")
        started.cdp("Network.emulateNetworkConditions", offline=True, latency=0,
                    downloadThroughput=0, uploadThroughput=0)  # fmt: skip
        yield started
    finally:
        driver.quit()


@pytest.fixture(scope="module")
def results() -> Results:
    return several()


@pytest.fixture(scope="module")
def page(results: Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.html"
    ldp3.report(results, path)
    return path


@pytest.mark.parametrize("width", [1280, 375])
def test_every_chart_is_drawn_with_its_marks(browser: Browser, page: Path, width: int) -> None:
    browser.open(page, width=width)
    assert {key: browser.marks(*key) for key in MARKS} == MARKS
    assert browser.log() == []


def test_nothing_but_the_page_is_asked_for(browser: Browser, page: Path) -> None:
    browser.requests()
    browser.open(page)
    assert set(browser.requests()) == {page.as_uri()}


def test_names_and_labels_show_as_text(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.text("h1") == EVIL
    assert browser.js("return document.title") == f"LDP³ · {EVIL}"
    assert browser.js("return document.scripts.length") == 2 + len(SCRIPTS)  # data and library
    assert browser.all("img") == []
    shown = browser.texts("#frequencies .role-axis-label text")
    assert any(label.startswith("</script><scr") for label in shown)
    assert {"a & b", "$x_1$", '"quoted"', "{{ data }}{%"} <= set(shown)
    bar = browser.all("#frequencies g.mark-rect.role-mark path")[1]
    ActionChains(browser.driver).move_to_element(bar).perform()
    browser.until(lambda: browser.all("#vg-tooltip-element.visible"))
    assert LABELS[1] in browser.text("#vg-tooltip-element")
    assert browser.all("img") == []
    assert browser.log() == []


def test_hostile_names_in_a_foreign_table_show_as_text(
    browser: Browser, results: Results, tmp_path: Path
) -> None:
    evil = "<img src=x onerror=\"document.title='owned'\">"
    table = results.table.with_columns(pl.col("protocol").replace("grr", evil))
    ldp3.report(Results(table), tmp_path / "evil.html")
    browser.open(tmp_path / "evil.html")
    assert evil in browser.column("protocol")
    assert browser.js("return document.title") == f"LDP³ · {EVIL}"
    assert browser.all("img") == []
    assert browser.log() == []


def test_the_table_sorts_both_ways(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.js("document.getElementById('more').click()")  # all 54 rows
    assert len(browser.column("mean")) == 54
    head = browser.all('#head th[data-key="mean"] button')[0]
    head.click()
    up = [float(text) for text in browser.column("mean")]
    assert up == sorted(up)
    assert len(set(up)) > 10
    head.click()
    assert [float(text) for text in browser.column("mean")] == sorted(up, reverse=True)
    assert browser.all('#head th[aria-sort="descending"]')[0].get_attribute("data-key") == "mean"
    browser.all('#head th[data-key="protocol"] button')[0].click()
    assert browser.column("protocol") == sorted(browser.column("protocol"))


def test_metric_and_epsilon_switch_charts_words_and_table(
    browser: Browser, page: Path, results: Results
) -> None:
    browser.open(page)
    assert "At ε = 0.5" in browser.text("#answer")
    browser.all("#only")[0].click()
    before = browser.js("return document.querySelector('#heat svg').outerHTML")
    browser.choose("metric", "NDCG(k=3)")
    browser.choose("epsilon", "2")
    browser.until(lambda: browser.js("return document.body.dataset.ready") == f"{EVIL} ndcg(k=3) 2")
    assert "At ε = 2" in browser.text("#answer")
    assert "NDCG(k=3)" in browser.text("#answer")
    assert "NDCG(k=3) (higher is better) at ε = 2" in browser.text("#heat-section .note")
    assert browser.js("return document.querySelector('#heat svg').outerHTML") != before
    assert {key: browser.marks(*key) for key in MARKS} == MARKS
    best = results.best().filter(metric="ndcg(k=3)", epsilon=2.0)
    assert browser.texts("#heat text").count("★") == (best["rank"] == 1).sum()
    read = {"none": "none", "base_pos": "Base-Pos", "norm_sub": "Norm-Sub"}
    assert browser.column("method") == [read[method] for method in best["method"]]
    assert browser.log() == []


def test_one_can_compare_protocols_and_pick_a_combination(browser: Browser, page: Path) -> None:
    browser.open(page)
    legend = "#error .role-legend-label text"
    browser.choose("series", "the protocols with Norm-Sub")
    browser.until(lambda: browser.texts(legend) == ["GRR", "OUE", "OLH"])
    browser.until(lambda: "ℓ1 ÷ best" in browser.texts("#error .role-axis-title text"))
    ticks = browser.texts("#error .role-axis-label text")
    assert "1.0" in ticks or "1" in ticks
    browser.all("#ratio")[0].click()
    browser.until(lambda: "ℓ1 (share of people)" in browser.texts("#error .role-axis-title text"))
    browser.choose("method", "none")  # before and after are the same: one set of points
    browser.until(lambda: browser.marks("frequencies", "symbol") == 8)
    browser.choose("protocol", "GRR")
    assert browser.log() == []


def test_a_click_in_the_legend_picks_a_line(browser: Browser, page: Path) -> None:
    browser.open(page)
    label = browser.all("#error .role-legend-label text")[0]
    ActionChains(browser.driver).move_to_element(label).click().perform()
    lines = "#error g.mark-line.role-mark path"
    browser.until(
        lambda: [line.get_attribute("opacity") for line in browser.all(lines)].count("0.12") == 2
    )


def test_charts_follow_dark_and_light_and_print_as_light(browser: Browser, page: Path) -> None:
    code = "return getComputedStyle(document.querySelector('#wins .role-axis-label text')).fill"
    browser.open(page, dark=True)
    assert browser.js(code) == "rgb(227, 232, 238)"
    dark = {"name": "prefers-color-scheme", "value": "dark"}
    browser.cdp("Emulation.setEmulatedMedia", media="print", features=[dark])
    assert browser.js(code) == "rgb(27, 31, 36)"
    browser.open(page, dark=False)
    assert browser.js(code) == "rgb(27, 31, 36)"


@pytest.mark.parametrize("width", [1280, 375])
def test_the_page_never_scrolls_sideways(browser: Browser, page: Path, width: int) -> None:
    browser.open(page, width=width)
    assert browser.js("return document.documentElement.scrollWidth") <= width


def test_a_table_alone_makes_a_page_without_what_it_cannot_show(
    browser: Browser, results: Results, tmp_path: Path
) -> None:
    one = results.table.filter(metric="l1", epsilon=1.0, method="none")
    ldp3.report(Results(one), tmp_path / "one.html")
    browser.open(tmp_path / "one.html")
    assert [s.get_attribute("id") for s in browser.all(".chart")] == ["heat", "sizes"]
    assert browser.marks("heat", "rect") == 3
    assert not browser.all("#switches")[0].is_displayed()
    assert "Left out: Error against ε" in browser.text("#origin")
    assert browser.log() == []


def test_a_metric_that_was_not_run_at_some_epsilon_is_said(
    browser: Browser, results: Results, tmp_path: Path
) -> None:
    hole = results.table.filter((pl.col("metric") == "l1") | (pl.col("epsilon") == 1))
    ldp3.report(replace(results, table=hole), tmp_path / "hole.html")
    browser.open(tmp_path / "hole.html")
    browser.choose("metric", "NDCG(k=3)")
    browser.until(lambda: browser.text("#heat") == "Nothing was measured here.")
    assert browser.log() == []


def test_a_large_domain_shows_its_most_frequent_values(browser: Browser, tmp_path: Path) -> None:
    ldp3.report(large(), tmp_path / "large.html")
    browser.open(tmp_path / "large.html")
    assert browser.marks("frequencies", "rect") == 40
    assert "The 40 most frequent of 1,000 values" in browser.text("#frequencies-section")
    assert browser.log() == []


def test_a_link_leads_back_to_what_was_chosen(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.choose("metric", "NDCG(k=3)")
    browser.choose("epsilon", "2")
    browser.choose("series", "the protocols with Norm-Sub")
    browser.choose("band", "one collection")
    browser.until(lambda: "band=one" in browser.driver.current_url)
    link = browser.driver.current_url
    browser.open(page)
    assert browser.driver.current_url != link
    browser.driver.get(link)
    browser.until(lambda: browser.js("return document.body.dataset.ready") == f"{EVIL} ndcg(k=3) 2")
    assert browser.js("return [compared.by, compared.fixed, compared.one]") == [
        "protocol", "norm_sub", True
    ]  # fmt: skip
    assert browser.driver.current_url == link


def test_an_address_that_says_nonsense_is_passed_over(browser: Browser, page: Path) -> None:
    browser.driver.get("about:blank")
    browser.driver.get(page.as_uri() + "#metric=<b>&epsilon=x&on=constructor&protocol=&x=1")
    browser.until(lambda: browser.js("return document.body.dataset.ready") == f"{EVIL} l1 0.5")
    assert browser.log() == []


def test_a_score_is_a_share_of_the_best_and_never_above_one(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.choose("metric", "NDCG(k=3)")
    title = "NDCG(k=3), share of the best"
    browser.until(lambda: title in browser.texts("#error .role-axis-title text"))
    rows = browser.js("return drawn.get('error').datasets.rows")
    assert max(row[end] for row in rows for end in ("mean", "low", "high")) == 1
    assert browser.text("#error-section h2") == "NDCG(k=3) against ε"
    assert "as a share of the best line" in browser.text("#error-section")


def test_what_is_tied_has_the_colour_of_the_best(browser: Browser, page: Path) -> None:
    browser.open(page)
    rows = browser.js("return drawn.get('heat').datasets.rows")
    assert {row["shade"] for row in rows if row["tied"] == "yes"} == {1}
    assert all(row["shade"] < 1 for row in rows if row["tied"] == "no")
    best = next(row for row in rows if row["mark"] == "★")
    assert float(best["text"]) == pytest.approx(best["mean"], rel=5e-3)  # in no other unit


def test_one_collection_scatters_more_than_the_mean(browser: Browser, page: Path) -> None:
    browser.open(page)
    widths = "return drawn.get('error').datasets.rows.map(row => row.high - row.low)"
    mean = browser.js(widths)
    browser.choose("band", "one collection")
    browser.until(lambda: browser.js(widths) != mean)
    # of 4 repeats the t-interval of the mean has half-width 1.59 σ, one collection about 1.96 σ
    assert sum(browser.js(widths)) > sum(mean)


def test_the_mouse_says_what_names_mean(browser: Browser, page: Path) -> None:
    browser.open(page)
    said = "Optimised local hashing: the number of cells that minimises the variance"
    assert said in browser.texts("#heat .role-axis-label text title")
    assert browser.js("return document.querySelector('#rows td[title]').title")
    assert {a.get_attribute("title") for a in browser.all("#answer abbr")} > {"Manhattan distance"}
    assert said in browser.text("#names")


def test_the_table_is_searched_and_filtered(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.all("#search")[0].send_keys("OLH norm l1")
    assert set(browser.column("protocol")) == {"OLH"}
    assert set(browser.column("method")) == {"Norm-Sub"}
    browser.all("#search")[0].clear()
    browser.all("#search")[0].send_keys("olh norm_sub ℓ1")  # as typed, and as read
    assert set(browser.column("method")) == {"Norm-Sub"}
    assert browser.text("#found") == "3 of 54 rows"
    browser.all("#search")[0].clear()
    browser.all("#search")[0].send_keys("no such thing")
    assert browser.column("protocol") == []
    browser.open(page)
    browser.all("#tied")[0].click()
    assert set(browser.column("tied")) == {"yes"}


def test_charts_and_tables_can_be_saved(
    browser: Browser, page: Path, results: Results, tmp_path: Path
) -> None:
    browser.open(page)
    browser.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    browser.all("#csv")[0].click()
    for kind in ("svg", "png"):
        browser.js(f"""document.querySelector('[data-save="heat {kind}"]').click()""")
    browser.until(lambda: len([file for file in tmp_path.iterdir() if file.suffix in KINDS]) == 3)
    (svg,), (png,), (csv,) = (list(tmp_path.glob(f"*.{kind}")) for kind in ("svg", "png", "csv"))
    assert "var(--" not in svg.read_text()
    assert svg.read_text().count("<text") > 18
    assert png.read_bytes().startswith(b"\x89PNG")
    table = pl.read_csv(csv)
    assert len(table) == 54
    assert table["dataset"].unique().to_list() == [EVIL]
    first = results.best().row(0, named=True)
    assert table["mean"][0] == pytest.approx(first["mean"], rel=1e-5)
    assert browser.log() == []


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = [DATA, "flights", "zipf(d=16, n=5000, s=1.5)"]
    made = ldp3.benchmark(data, [1.0, 2.0], ["grr", "oue"], "norm_sub", ["l1"], repeats=3)
    path = tmp_path_factory.mktemp("three") / "page.html"
    ldp3.report(made, path)
    return path


@pytest.mark.parametrize("width", [1280, 390])
def test_several_datasets_have_an_overview_and_each_its_own_page(
    browser: Browser, three: Path, width: int
) -> None:
    browser.open(three, width=width)
    assert browser.text("h1") == "3 datasets"
    assert "over 3 datasets" in browser.text("#overview-words")
    assert len(browser.texts("#overview-rows tr")) == 4
    assert browser.marks("frequencies", "rect") == 8
    browser.choose("dataset", "zipf(d=16, n=5000, s=1.5)")
    browser.until(lambda: browser.js("return document.body.dataset.ready").startswith("zipf"))
    assert browser.marks("frequencies", "rect") == 16
    assert "5,000 people, 16 values" in browser.text("header")
    assert "5,000 people, 16 values" in browser.text("#origin")
    assert len([one for one in browser.all(".facts[data-dataset]") if one.is_displayed()]) == 1
    assert browser.js("return document.documentElement.scrollWidth") <= width
    assert browser.log() == []


def test_an_estimate_is_sorted_by_any_column(browser: Browser, tmp_path: Path) -> None:
    plan = ldp3.Plan("pages", ("home", "search", "cart"), "oue", 2.0)
    server = ldp3.Aggregator(plan)
    server.add(plan.oracle.perturb(np.repeat([0, 1, 2], [300, 900, 600]), ldp3.stream(0)))
    path = tmp_path / "estimate.html"
    path.write_text(estimate_page(CollectionEstimate.of(server)), encoding="utf-8")
    browser.driver.get(path.as_uri())
    values = "tbody td.text:first-child"
    assert browser.texts(values) == ["search", "cart", "home"]
    value, _, _, frequency = browser.all("th")[:4]
    value.find_element(By.TAG_NAME, "button").click()
    assert browser.texts(values) == ["home", "search", "cart"]
    frequency.find_element(By.TAG_NAME, "button").click()
    frequency.find_element(By.TAG_NAME, "button").click()
    assert browser.texts(values) == ["home", "cart", "search"]
    browser.cdp("Emulation.setDeviceMetricsOverride", width=390, height=900,
                deviceScaleFactor=1, mobile=True)  # fmt: skip
    seen = "return arguments[0].querySelector('td:nth-child(4)').getBoundingClientRect().right"
    assert browser.driver.execute_script(seen, browser.all("tbody tr")[0]) <= 390
    assert browser.log() == []


@pytest.mark.parametrize("width", [1280, 390])
def test_what_attacks_do_has_a_section(browser: Browser, tmp_path: Path, width: int) -> None:
    made = ldp3.benchmark(
        DATA, [1.0, 2.0], ["grr", "oue"], "norm_sub", "l1", repeats=3, attacks=["ria", "mga"],
        fake_users="10%", targets="bottom:2",
    )  # fmt: skip
    ldp3.report(made, tmp_path / "attacked.html")
    browser.open(tmp_path / "attacked.html", width=width)
    drawn = {
        ("worst", "rect"): 4, ("gain", "line"): 2, ("gain", "symbol"): 4, ("weight", "line"): 2,
        ("weight", "symbol"): 4, ("success", "line"): 2, ("success", "symbol"): 14,
    }  # fmt: skip
    assert {key: browser.marks(*key) for key in drawn} == drawn
    assert "222 fake users (9.99% of all), who want to raise bottom:2" in browser.text(
        "#attacked-section"
    )
    browser.choose("attack", "RIA")
    browser.until(lambda: "attack=ria" in browser.driver.current_url)
    assert browser.js("return document.documentElement.scrollWidth") <= width
    assert browser.log() == []


def test_without_attacks_there_is_no_such_section(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.all("#attacked-section, #worst, #gain") == []


def test_without_scripts_there_are_answers_and_numbers_and_nothing_empty(
    browser: Browser, page: Path, results: Results
) -> None:
    browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.driver.get(page.as_uri())

        def shown(selector: str) -> list[str]:
            return [one.text for one in browser.all(selector) if one.is_displayed()]

        assert shown("nav, select, button, .chart, .controls") == []
        assert "" not in shown("section, h2, p, thead th")
        assert len(shown(".answer")) == 3  # of three ε
        numbers = shown("noscript tbody td")
        assert len(numbers) == 3 * 3 * 3
        assert sum("★" in number for number in numbers) >= 3
        assert numbers[0].startswith(results.sheets()[0].cell("grr", "none").text)
    finally:
        browser.cdp("Emulation.setScriptExecutionDisabled", value=False)


def test_a_statement_fits_a_phone_and_one_sheet(browser: Browser, tmp_path: Path) -> None:
    labels, path = [f"{EVIL} {'x' * 80} {i}" for i in range(300)], tmp_path / "page.html"
    long = ldp3.Plan("a" * 60, labels, "olh", 8.5, batch=10_000_000, delta=1e-9)
    ldp3.statement(long, path)
    browser.cdp("Emulation.setDeviceMetricsOverride", width=390, height=900,
                deviceScaleFactor=1, mobile=True)  # fmt: skip
    browser.log(), browser.requests()
    browser.driver.get(path.as_uri())
    assert browser.js("return document.documentElement.scrollWidth") == 390
    assert browser.js("return document.scripts.length") == 0
    assert set(browser.requests()) == {path.as_uri()}
    assert browser.log() == []
    sheets = browser.cdp("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)["data"]
    assert len(re.findall(rb"/Type\s*/Page\b", b64decode(sheets))) == 1
