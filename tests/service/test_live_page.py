"""The live page in a real browser: what the demo page sends is what it shows."""

import re
from pathlib import Path

import numpy as np
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

from ldp3.collection.aggregator import Aggregator
from ldp3.collection.plan import Plan
from ldp3.domain import Bins, Integers, Labels, Records
from tests.clients.test_js import CLIENT, Page, needs_browser, page, site  # noqa: F401 (fixtures)
from tests.service.running import TOKEN, key, reports, running

pytestmark = [needs_browser, pytest.mark.xdist_group("browser")]
EVIL = '<img src=x onerror="document.body.dataset.broken = 1">'


def size(page: Page, width: int, *, dark: bool = False) -> None:  # noqa: F811
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": [scheme]})
    page.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
    )


def log_in(page: Page, address: str, token: str = TOKEN) -> None:  # noqa: F811
    page.driver.get(address)
    WebDriverWait(page.driver, 30, 0.05).until(
        lambda _: page.js("return document.body.dataset.ready")
    )
    page.driver.find_element(By.ID, "token").send_keys(token)
    page.driver.find_element(By.CSS_SELECTOR, "#login button").click()


def column(page: Page, name: str) -> list[str]:  # noqa: F811
    heads: list[str] = page.js(
        "return [...document.querySelectorAll('#results section:first-of-type th')]"
        ".map((head) => head.textContent)"
    )
    cells: list[str] = page.js(
        f"return [...document.querySelectorAll('#results section:first-of-type td:nth-child("
        f"{heads.index(name) + 1})')].map((cell) => cell.textContent)"
    )
    return cells


@pytest.mark.slow
def test_the_page_shows_within_its_intervals_what_2000_people_sent(
    page: Page,  # noqa: F811
    tmp_path: Path,
) -> None:
    plan = Plan.load(CLIENT / "demo" / "pages.ldp3.json")
    wait = WebDriverWait(page.driver, 60, 0.05)
    with running(str(tmp_path / "demo.sqlite"), [plan]) as collector:
        home = f"http://127.0.0.1:{collector.port}"
        where = f"collector={home}&plan={plan.identifier}"
        page.driver.get(f"{page.address}/clients/js/demo/index.html?{where}")
        wait.until(lambda _: page.js("return document.body.dataset.ready") == "yes")
        page.js("document.getElementById('crowd').click()")
        wait.until(lambda _: page.text("state") == "All 2000 reports were taken.")
        truth = page.js(
            "return [...document.querySelectorAll('#truth tbody tr')]"
            ".map((row) => [row.cells[0].textContent, Number(row.cells[1].textContent)])"
        )
        log_in(page, f"{home}{collector.path()}", "a wrong token, long enough")
        wait.until(lambda _: "does not fit" in page.text("said"))
        log_in(page, f"{home}{collector.path()}")
        wait.until(lambda _: "2,000 reports" in page.text("results"))
        labels = column(page, "value")
        lows, highs = (list(map(float, column(page, name))) for name in ("low", "high"))
        outside = [
            label
            for label, people in truth
            if not lows[labels.index(label)] <= people / 2_000 <= highs[labels.index(label)]
        ]
        # each holds with 95 %: that four of eight miss has a chance below 4e-4 at the most
        assert len(truth) > 2
        assert len(outside) < max(4, len(truth) // 2)
        assert "In the last 48 hours 2,000 reports came, 2,000 in this one." in page.text("results")
        assert "Nothing suspicious" in page.text("results")
        by_frequency = column(page, "frequency")
        assert by_frequency == sorted(by_frequency, key=float, reverse=True)
        Select(page.driver.find_element(By.ID, "order")).select_by_value("domain")
        wait.until(lambda _: column(page, "value") == list(plan.domain.labels))
        Select(page.driver.find_element(By.ID, "method")).select_by_value("norm_sub")
        wait.until(lambda _: "after Norm-Sub" in page.text("results"))
        page.js(
            "HTMLAnchorElement.prototype.click = function () { document.body.dataset.saved = "
            "this.download + ' ' + this.href; }"
        )
        page.js("document.querySelector('[data-format=csv]').click()")
        wait.until(lambda _: page.js("return document.body.dataset.saved"))
        assert page.js("return document.body.dataset.saved").startswith("estimate.csv blob:")
        name = key()  # while somebody looks
        collector.post(reports(plan, 500), name)
        collector.post(reports(plan, 500), name)
        wait.until(lambda _: "2,500 reports" in page.text("results"))
        wait.until(lambda _: re.search(r"duplicate\s*500", page.text("results")))
        for width in (320, 1280):
            for dark in (False, True):
                size(page, width, dark=dark)
                assert page.js("return document.documentElement.scrollWidth") <= width
        assert TOKEN not in page.driver.current_url


def test_labels_are_text(page: Page, tmp_path: Path) -> None:  # noqa: F811
    plan = Plan(EVIL, Labels([EVIL, "{{ 7 * 7 }}", "b"]), "grr", 2.0)
    with running(str(tmp_path / "evil.sqlite"), [plan]) as collector:
        log_in(page, f"http://127.0.0.1:{collector.port}{collector.path()}")
        wait = WebDriverWait(page.driver, 30, 0.05)
        wait.until(lambda _: "No report was counted yet." in page.text("results"))
        collector.post(reports(plan, 50))
        wait.until(lambda _: "50 reports" in page.text("results"))
        assert EVIL in column(page, "value")
        assert page.js("return document.body.dataset.broken") is None
        assert page.js("return document.querySelectorAll('img').length") == 0


@pytest.mark.slow
def test_several_answers_go_from_a_page_to_the_tables(page: Page, tmp_path: Path) -> None:  # noqa: F811
    who = [Labels([EVIL, "</script>", "עברית 🙂"], name=EVIL), Bins([0, 18, 65], name='"0,1"')]
    plan = Plan("several", Records([*who, Integers(2, name="constructor")]), "groups", 2.0)
    wait = WebDriverWait(page.driver, 60, 0.05)
    with running(str(tmp_path / "several.sqlite"), [plan]) as collector:
        home = f"http://127.0.0.1:{collector.port}"
        where = f"collector={home}&plan={plan.identifier}"
        page.driver.get(f"{page.address}/clients/js/demo/index.html?{where}")
        wait.until(lambda _: page.js("return document.body.dataset.ready") == "yes")
        page.js("document.querySelectorAll('#values button:first-child').forEach((b) => b.click())")
        wait.until(lambda _: not page.js("return document.getElementById('send').disabled"))
        assert "the group, by lot: it is asked for" in page.text("meaning")
        page.js("document.getElementById('send').click()")
        wait.until(lambda _: page.text("state") == "Taken.")
        page.js("document.getElementById('crowd').click()")
        wait.until(lambda _: page.text("state") == "All 2000 reports were taken.")
        truth = page.js(
            "return [...document.querySelectorAll('#truth tbody tr')]"
            ".map((row) => Number(row.cells[1].textContent))"
        )
        assert page.js("return document.querySelectorAll('img').length") == 0
        log_in(page, f"{home}{collector.path()}")
        wait.until(lambda _: "2,001 reports" in page.text("results"))
        assert set(column(page, "value")) == set(plan.attributes[0].labels)
        assert "2,001 reports are of group" in page.text("results")
        Select(page.driver.find_element(By.ID, "table")).select_by_value("0,1")
        wait.until(lambda _: len(column(page, "value")) == 6)
        assert page.js("return document.body.dataset.broken") is None
        assert page.js("return document.querySelectorAll('img').length") == 0
    server = Aggregator(plan)
    server.add_store(str(tmp_path / "several.sqlite"))
    assert server.n == 2_001
    tables = server.tables()
    estimates = [tables[attribute.name] for attribute in plan.attributes]
    low, high = (
        np.concatenate([e.confidence_interval(1 - 1e-6, simultaneous=True)[i] for e in estimates])
        for i in (0, 1)
    )
    share = np.array(truth) / 2_000
    assert len(share) == 7
    assert ((low - 1e-3 <= share) & (share <= high + 1e-3)).all()  # the first one was not counted
