"""The site builds without a warning, loads nothing from elsewhere, and can be searched offline."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

pytestmark = pytest.mark.slow  # to build it takes half a minute
ROOT = Path(__file__).parents[2]
LOADED = re.compile(r"""<(?:script|link|img|iframe)[^>]*?(?:src|href)=["']([^"']+)["']""")
LINK = re.compile(r"""<a [^>]*?href=["']([^"'#?]*)""")
IMPORTED = re.compile(r"""(?:url\(|@import )["']?(https?:[^"')]+)""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build = ["-m", "sphinx", "-W", "--keep-going", "-q", "-E", "docs", str(folder)]
    done = subprocess.run([sys.executable, *build], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = [p.read_text(encoding="utf-8") for p in site.rglob("*.html")]
    loaded = {address for page in pages for address in LOADED.findall(page)}
    assert len(pages) > 20
    assert not [a for a in loaded if a.startswith(("http:", "https:", "//"))]


def test_every_link_within_the_site_leads_somewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        links = set(LINK.findall(page.read_text(encoding="utf-8")))
        local = {unquote(link) for link in links if not re.match(r"\w+:", link)}
        assert not [link for link in local if link and not (page.parent / link).exists()], page


def test_no_style_loads_from_elsewhere(site: Path) -> None:
    styles = [p.read_text(encoding="utf-8") for p in site.rglob("*.css")]
    assert not [address for style in styles for address in IMPORTED.findall(style)]


def test_every_protocol_method_and_metric_has_its_section(site: Path) -> None:
    from ldp3.kinds import every_kind, find

    for several, kind in every_kind().items():
        page = (site / "reference" / f"{several}.html").read_text(encoding="utf-8")
        for name in find(kind):
            assert f'<span class="pre">{name}</span>' in page


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    import ldp3

    page = (site / "reference" / "api.html").read_text(encoding="utf-8")
    for name in ldp3.__all__:
        assert f'<span class="pre">ldp3.{name}</span>' in page


def test_formulas_are_mathml(site: Path) -> None:
    page = (site / "reference" / "protocols.html").read_text(encoding="utf-8")
    assert "<math" in page
    assert "\\frac" not in page


def test_no_page_shows_a_stray_dollar(site: Path) -> None:
    for page in site.rglob("*.html"):
        if page.name == "leaderboard.html":  # made by its own command, with its own tests
            continue
        text = re.sub(
            r"<(script|style|pre|code|math)\b.*?</\1>", "", page.read_text("utf-8"), flags=re.S
        )
        assert re.findall(r".{0,40}\$.{0,40}", re.sub("<[^>]*>", "", text)) == [], page


def test_notebooks_show_what_they_print(site: Path) -> None:
    page = (site / "notebooks" / "compare.html").read_text(encoding="utf-8")
    assert "336776 people" in page
    assert "<svg" in page or "<img" in page
    assert str(ROOT) not in page


@pytest.mark.skipif(
    not (shutil.which("chromium") and shutil.which("chromedriver")),
    reason="no chromium and chromedriver here (Debian: chromium, chromium-driver)",
)
def test_the_search_works_without_a_network(site: Path) -> None:
    options = ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium") or ""
    driver = Chrome(options, Service(shutil.which("chromedriver")))
    try:
        driver.execute_cdp_cmd("Network.enable", {})
        driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["http://*", "https://*"]})
        driver.get(f"{(site / 'search.html').as_uri()}?q=subset+selection")
        found = By.CSS_SELECTOR, "#search-results ul.search li a"
        WebDriverWait(driver, 60).until(lambda page: page.find_elements(*found))
        addresses = [link.get_attribute("href") or "" for link in driver.find_elements(*found)]
        assert any("reference/protocols.html" in address for address in addresses)
    finally:
        driver.quit()
