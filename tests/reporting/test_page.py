import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html import escape, unescape
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ldp3
from ldp3.errors import LDPError
from ldp3.reporting.findings import Findings
from ldp3.reporting.page import SCRIPTS, command, origin, page
from ldp3.results.table import Results
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
    found: dict[str, object] = json.loads(match[1])["datasets"][0]
    return found


def test_the_page_loads_nothing(text: str) -> None:
    own = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)  # but for the scripts
    own = re.sub(r'<script type="application/json".*?</script>', "", own)
    assert not re.search(r"\b(src|href|action)\s*=|url\(|@import|<link|<iframe", own)
    assert "default-src 'none'" in own


def test_only_the_pages_own_scripts_may_run(text: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    scripts = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    hashes = [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    assert len(scripts) == 1 + len(SCRIPTS)  # the library, and ours
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    assert policy[1] == (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; base-uri 'none'; "
        f"form-action 'none'"
    )


def test_what_is_shown_apart_is_told_apart(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    apart = {"visits": results, "visits in round 1": results}
    monkeypatch.setattr("ldp3.reporting.page.each_dataset", lambda _: apart)
    match = re.search(r'id="data">(.*?)</script>', page(results))
    assert match is not None
    assert [one["name"] for one in json.loads(match[1])["datasets"]] == list(apart)


def test_names_and_labels_are_text(text: str) -> None:
    assert EVIL not in text
    assert f"<h1>{escape(EVIL)}</h1>" in text.replace("&#39;", "&#x27;")
    assert data(text)["frequencies"]["labels"] == LABELS  # type: ignore[index]
    assert text.count("<script") == text.count("</script") == 2 + len(SCRIPTS)
    own = re.search(r'id="data">(.*?)</script>', text)
    assert own is not None
    assert "<" not in own[1]


@pytest.mark.parametrize("name", ["{{ 7 * 7 }}", "{% include 'page.css' %}", "{# gone #}", "}}{{"])
def test_a_name_that_looks_like_a_template_is_text(results: Results, name: str) -> None:
    table = results.table.with_columns(dataset=pl.lit(name), protocol=pl.lit(name)).filter(
        repeat=0, epsilon=1.0, metric="l1", method="none"
    )
    text = page(Results(table.head(1)))
    assert name in unescape(text.partition("<h1>")[2].partition("</h1>")[0])
    assert data(text)["protocol"] == [name]


def test_results_show_their_labels_as_text_in_notebooks(results: Results) -> None:
    text = results._repr_markdown_()
    assert r"\<script\>" in text
    assert "<script" not in text.replace(r"\<", "")


def test_the_page_says_how_to_repeat_the_run(results: Results, text: str) -> None:
    assert "To repeat it" in text
    assert results.manifest["data"][0]["digest"] in text
    assert f"numpy {results.manifest['versions']['numpy']}" in text


def test_the_page_says_how_far_the_limit_is_and_what_it_is_not(results: Results, text: str) -> None:
    combinations: Any = data(text)["combinations"]
    times = [row[combinations["columns"].index("times_limit")] for row in combinations["rows"]]
    assert any(x is not None and x > 1 for x in times)
    assert "no method, only a yardstick" in text
    assert "may be below 1" in text
    nulls = {name: pl.lit(None, pl.Float64) for name in ("limit", "distribution_limit")}
    without = page(replace(results, table=results.table.with_columns(**nulls)))
    assert "yardstick" not in without


def test_without_a_manifest_no_command_is_made_up(results: Results) -> None:
    bare = page(Results(results.table))
    assert "To repeat it" not in bare
    assert "seed, versions and command are not known" in bare
    assert "Left out: True and estimated frequencies" in bare


def test_a_manifest_may_hold_anything(results: Results) -> None:
    odd = {"versions": 3, "plugins": [1], "seed": {"<b>": 1}, "command": ["x"], "better": "up",
           "data": [3, {"name": ["x"]}]}  # fmt: skip
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


def test_a_page_is_written_whole_or_not_at_all(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "page.html").write_text("before")
    monkeypatch.setattr(Path, "write_text", stopped)
    with pytest.raises(KeyboardInterrupt):
        ldp3.report(results, tmp_path / "page.html")
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    assert (tmp_path / "page.html").read_text() == "before"


def stopped(path: Path, text: str, **how: object) -> int:
    """Half of it, and then Ctrl-C."""
    path.write_bytes(text.encode()[: len(text) // 2])
    raise KeyboardInterrupt


def test_a_page_may_have_a_heading_and_a_sentence_of_its_own(results: Results) -> None:
    text = page(results, "Leaderboard", "By the <worst> loss.")
    assert "<title>LDP³ · Leaderboard</title>" in text
    assert "<h1>Leaderboard</h1>\n<p>By the &lt;worst&gt; loss.</p>" in text


@pytest.fixture(scope="module")
def two() -> Results:
    data = ["flights", "zipf(d=8, n=100, s=1.1)"]
    return ldp3.benchmark(data, [0.5, 1.0], "grr", "norm_sub", "l1", repeats=2, seed=5)


def test_a_run_from_python_gets_a_command_that_gives_the_same_table(two: Results) -> None:
    assert command(two.manifest) == (
        "ldp3 run -d flights 'zipf(d=8, n=100, s=1.1)' -e 0.5 1 -p grr -m none norm_sub -u l1 -r 2 "
        "--seed 5 --simulate exact --reference truth"
    )


def test_the_command_that_was_given_is_shown_as_it_was() -> None:
    assert command({"command": "ldp3 run -e 1"}) == "ldp3 run -e 1"


@pytest.mark.parametrize("name", ["data", "epsilons", "seed", "reference"])
def test_without_all_of_the_manifest_no_command_is_made_up(two: Results, name: str) -> None:
    assert command({key: value for key, value in two.manifest.items() if key != name}) is None
    assert command({**two.manifest, "data": "flights"}) is None


def test_the_digest_is_that_of_the_dataset_that_is_shown(two: Results) -> None:
    one = two.table.filter(pl.col("dataset") != "flights")
    found = origin(Findings(Results(one, two.manifest)))
    assert found["SHA-256 of the data"] == two.manifest["data"][1]["digest"]
    assert found["Dataset"].startswith("zipf(d=8, n=100, s=1.1): 100 people")


def test_what_is_not_known_is_not_said(two: Results) -> None:
    found = origin(Findings(Results(two.table.filter(dataset="flights"))))
    assert [what for what in found if not what.startswith("Left out")] == ["Dataset", "Simulation"]


def test_an_attacked_run_gets_the_command_that_attacks() -> None:
    options = {"attacks": "mga", "fake_users": "1%", "targets": "bottom:2"}
    made = ldp3.benchmark("flights", 1.0, "grr", "norm_sub", "l1", repeats=2, **options)  # type: ignore[arg-type]
    assert command(made.manifest) == (
        "ldp3 attack poison -d flights -e 1 -p grr -m none norm_sub -u l1 -r 2 --seed 0 "
        "--simulate exact --attack mga --targets bottom:2 --fake-users 1%"
    )
    assert command({**made.manifest, "attacks": 3}) is not None
    assert command({k: v for k, v in made.manifest.items() if k != "targets"}) is None
