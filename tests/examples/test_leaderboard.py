import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from benchmarks import leaderboard
from ldp3 import benchmark
from ldp3.reporting.filtering import each_dataset
from ldp3.reporting.findings import Findings
from ldp3.reporting.page_data import overview
from ldp3.results.verdict import comparisons

PAGE = leaderboard.ROOT / "docs" / "leaderboard.html"
ENTRY = '''
from dataclasses import dataclass

from ldp3.arrays import FloatArray
from ldp3.postprocessing.base import PostProcessor
from ldp3.types import Estimate


@dataclass(frozen=True)
class Halfway(PostProcessor):
    """Half of the way to the uniform distribution: $f'_v = (f_v + 1/d)/2$."""

    def refine(self, estimate: Estimate) -> FloatArray:
        return (estimate.frequencies + 1 / estimate.d) / 2
'''


def test_one_command_writes_the_page_and_the_table_with_every_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaderboard, "DATASETS", ("zipf(d=8, n=1000)", "gaussian(d=8, n=1000)"))
    monkeypatch.setattr(leaderboard, "EPSILONS", (1.0,))
    monkeypatch.setattr(leaderboard, "METRICS", ("l1", "emd"))
    monkeypatch.setattr(leaderboard, "PROTOCOLS", ("grr",))
    monkeypatch.setattr(leaderboard, "ATTACKED", ("grr",))
    monkeypatch.setattr(leaderboard, "TARGETS", "bottom:2")
    monkeypatch.setattr(leaderboard, "ENTRIES", tmp_path)
    (tmp_path / "halfway.py").write_text(ENTRY)
    readme, page = tmp_path / "README.md", tmp_path / "page.html"
    readme.write_text("before\n<!-- leaderboard -->\n<!-- end leaderboard -->\nafter\n")
    leaderboard.main(["--repeats=2", f"--readme={readme}", f"--page={page}"])
    text = readme.read_text()
    assert text.startswith("before\n")
    assert "| question | ε = 1 |" in text
    assert "| ℓ1, 1% fake users (MGA) | GRR + " in text
    assert "halfway" in page.read_text()
    assert f"<h1>Leaderboard</h1>\n<p>{leaderboard.RULE}</p>" in page.read_text()
    assert "Under attack" in page.read_text()
    assert "fake users (" in page.read_text()
    assert page.stat().st_size < 3_000_000


def test_the_page_and_the_table_name_the_same_winners() -> None:
    data = ["zipf(d=8, n=1000)", "gaussian(d=8, n=1000)"]
    found = benchmark(data, [1.0, 2.0], ["grr", "oue"], ["norm_sub"], ["l1", "emd"], repeats=3)
    shown = overview({name: Findings(part) for name, part in each_dataset(found).items()})
    made = comparisons(found.sheets())
    assert [one.metric for one in made] == ["l1", "l1"]  # one dataset alone has an order
    first = [(one["rows"][0]["protocol"], one["rows"][0]["method"]) for one in shown]
    assert [one.rows[0].pair for one in made] == first
    assert leaderboard.table(made).splitlines()[2].count(" % |") == 2


def test_a_readme_without_marks_is_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaderboard, "run", None)
    (tmp_path / "README.md").write_text("nothing")
    with pytest.raises(SystemExit, match="<!-- leaderboard -->"):
        leaderboard.main([f"--readme={tmp_path / 'README.md'}"])


@pytest.mark.skipif(not PAGE.exists(), reason="the source package comes without it")
def test_every_script_of_the_page_of_the_site_may_run() -> None:
    text = PAGE.read_text(encoding="utf-8")
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    hashes = [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    assert re.findall(r"'sha256-([^']+)'", text[:5000]) == hashes
