"""The site builds without a warning, loads nothing from elsewhere, and can be searched offline."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOADED = re.compile(r"""<(?:script|link|img|iframe)[^>]*?(?:src|href)=["']([^"']+)["']""")
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
