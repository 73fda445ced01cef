import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import ldp3
from ldp3.errors import LDPError
from ldp3.reporting.page import command, page
from ldp3.results import Results
from tests.reporting.examples import EVIL, LABELS, large, several


@pytest.fixture(scope="module")
def results() -> Results:
    return several()


@pytest.fixture(scope="module")
def text(results: Results) -> str:
    return page(results)


def data(text: str) -> dict[str, object]:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', text)
    assert match is not None
    found: dict[str, object] = json.loads(match[1])
    return found


def test_the_page_loads_nothing(text: str) -> None:
    own = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)  # but for the scripts
    own = re.sub(r'<script type="application/json".*?</script>', "", own)
    assert not re.search(r"\b(src|href|action)\s*=|url\(|@import|<link|<iframe", own)
    assert "default-src 'none'" in own


def test_only_the_pages_own_two_scripts_may_run(text: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert policy[1].count("'sha256-") == 2
    assert "script-src 'sha256-" in policy[1]
    assert "unsafe-eval" not in policy[1]


def test_names_and_labels_are_text(text: str) -> None:
    assert EVIL not in text
    assert EVIL.replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#x27;") in text
    assert data(text)["frequencies"]["labels"] == LABELS  # type: ignore[index]
    assert text.count("<script>") == text.count("</script>") - 1 == 2


def test_the_page_says_how_to_repeat_the_run(results: Results, text: str) -> None:
    assert "To repeat it" in text
    assert results.manifest["digest"] in text
    assert f"numpy {results.manifest['versions']['numpy']}" in text


def test_a_run_from_python_gets_a_command_that_gives_the_same_table(tmp_path: Path) -> None:
    made = ldp3.benchmark("flights", [0.5, 1.0], "grr", "norm_sub", "l1", repeats=2, seed=5)
    words = command(made.manifest)
    assert words == (
        "ldp3 run -d flights -e 0.5 1 -p grr -m none norm_sub -u l1 -r 2 --seed 5 "
        "--simulate exact --reference truth"
    )


def test_the_command_that_was_given_is_shown_as_it_was() -> None:
    assert command({"command": "ldp3 run -e 1"}) == "ldp3 run -e 1"


def test_without_a_manifest_no_command_is_made_up(results: Results) -> None:
    assert command({}) is None
    bare = page(Results(results.table))
    assert "To repeat it" not in bare
    assert "seed, versions and command are not known" in bare
    assert "Left out: True and estimated frequencies" in bare


def test_a_manifest_may_hold_anything(results: Results) -> None:
    odd = {"versions": 3, "plug-ins": [1], "seed": {"<b>": 1}, "command": ["x"], "better": "up"}
    text = page(replace(results, manifest=odd))
    assert "&lt;b&gt;" in text
    assert "<b>'" not in text


def test_a_large_domain_does_not_make_the_page_large(results: Results, text: str) -> None:
    wide = page(large())
    assert len(wide) < len(text)
    assert "The 40 most frequent of 1,000 values" in wide


@pytest.mark.parametrize("path", ["page.pdf", "page", "nowhere/page.html", "folder.html"])
def test_a_page_that_cannot_be_written_is_refused(
    results: Results, path: str, tmp_path: Path
) -> None:
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(LDPError, match=r"\.html|no such folder"):
        ldp3.report(results, tmp_path / path)
