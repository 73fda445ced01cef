import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from ldp3.cli import main
from ldp3.results.table import Results
from tests.reporting.examples import several


@pytest.fixture(scope="module")
def results() -> Results:
    return several()


@pytest.fixture
def folder(results: Results, tmp_path: Path) -> Path:
    results.save(tmp_path / "results")
    return tmp_path / "results"


@dataclass(frozen=True)
class Command:
    """Runs `ldp3` with some words."""

    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *words: object) -> tuple[int, str, str]:
        self.monkeypatch.setattr("sys.argv", ["ldp3", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        out, err = self.capsys.readouterr()
        return int(end.value.code or 0), out, err


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


def refused(command: Command, *words: object) -> str:
    """The one line that a mistake gets."""
    code, out, err = command("report", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    return err


def test_a_folder_becomes_a_page_and_figures(
    command: Command, results: Results, tmp_path: Path
) -> None:
    page, folder = tmp_path / "page.html", tmp_path / "small"
    replace(results, table=results.table.filter(metric="l1", epsilon=1.0)).save(folder)
    code, out, err = command("report", folder, "-o", page, "--figures", tmp_path / "figures")
    assert (code, out) == (0, "")
    assert "works offline" in err
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (tmp_path / "figures" / "heatmap-l1-1.pdf").exists()


def test_one_chooses_what_to_write(command: Command, folder: Path, tmp_path: Path) -> None:
    only = ["-u", "l1", "-e", "1", "--format", "tex", "md"]
    code, _, err = command("report", folder, "--figures", tmp_path / "figures", *only)
    assert (code, err) == (0, f"{tmp_path / 'figures'}: 2 files.\n")
    assert command("report", folder, "--figures", tmp_path / "quiet", *only, "-q") == (0, "", "")
    assert len(list((tmp_path / "quiet").iterdir())) == 2
    said = refused(command, folder, "-o", tmp_path / "page.html", "--format", "tex")
    assert "--format says which --figures to write" in said
    assert "hold no metric 'kl'" in refused(command, folder, "-o", tmp_path / "p.html", "-u", "kl")


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json"])
def test_a_table_becomes_a_page(
    command: Command, results: Results, tmp_path: Path, suffix: str
) -> None:
    results.save(tmp_path / f"table{suffix}")
    assert command("report", tmp_path / f"table{suffix}", "-o", tmp_path / "page.html")[0] == 0
    assert (tmp_path / "page.html").exists()


def test_run_writes_the_page_too(command: Command, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    small = ["run", "-q", "-p", "grr", "-m", "norm_sub", "-r", 2]
    code, out, _ = command(*small, "--report", page)
    assert code == 0
    assert "ℓ1" in out
    assert "--report" in page.read_text(encoding="utf-8")  # in the command to repeat it


def test_a_page_that_cannot_be_written_stops_the_run_before_it_starts(
    command: Command, tmp_path: Path
) -> None:
    code, out, err = command("run", "--report", tmp_path / "nowhere" / "page.html")
    assert (code, out) == (2, "")
    assert "no such folder" in err


def test_something_must_be_asked_for(command: Command, folder: Path) -> None:
    assert "--output PAGE.html or --figures FOLDER" in refused(command, folder)


def test_results_that_are_not_there_are_one_line(command: Command, tmp_path: Path) -> None:
    assert "no such file" in refused(command, tmp_path / "nothing", "-o", tmp_path / "p.html")


@pytest.mark.parametrize("name", ["table.parquet", "datasets.json", "means.parquet"])
def test_a_truncated_file_is_one_line(command: Command, folder: Path, name: str) -> None:
    file = folder / name
    file.write_bytes(file.read_bytes()[:100])
    assert name in refused(command, folder, "-o", folder / "p.html")


def test_a_truncated_manifest_is_one_line(command: Command, folder: Path) -> None:
    (folder / "manifest.json").write_text("{")
    assert "manifest.json" in refused(command, folder, "-o", folder / "p.html")


def test_a_foreign_file_is_one_line(command: Command, folder: Path) -> None:
    (folder / "other.csv").write_text("a,b\n1,2\n")
    assert "no table of results" in refused(command, folder / "other.csv", "-o", folder / "p.html")
    (folder / "other.json").write_text(json.dumps({"a": 1}))
    assert "no table of results" in refused(command, folder / "other.json", "-o", folder / "p.html")
    (folder / "datasets.json").write_text(json.dumps([{"name": "a", "users": [1, 2]}]))
    assert "datasets.json" in refused(command, folder, "-o", folder / "p.html")


def test_a_table_of_an_older_version_is_one_line(
    command: Command, results: Results, tmp_path: Path
) -> None:
    results.table.drop("simulate").write_csv(tmp_path / "old.csv")
    err = refused(command, tmp_path / "old.csv", "-o", tmp_path / "p.html")
    assert "no column 'simulate'" in err


def test_a_table_with_one_epsilon_and_one_method_makes_a_page(
    command: Command, results: Results, tmp_path: Path
) -> None:
    results.table.filter(epsilon=1.0, method="none").write_csv(tmp_path / "one.csv")
    assert command("report", tmp_path / "one.csv", "-o", tmp_path / "p.html")[0] == 0


def test_list_cites_what_results_used(command: Command, folder: Path) -> None:
    code, out, _ = command("list", "--cite", "--used", folder)
    assert code == 0
    assert "@inproceedings{wang2020locally" in out
    assert "ye2018optimal" not in out
    assert "ye2018optimal" in command("list", "protocols", "--cite")[1]


def test_list_shows_what_results_used(command: Command, folder: Path) -> None:
    names = re.findall(r"^  (\w+)", command("list", "--used", folder)[1], re.MULTILINE)
    assert names == ["grr", "olh", "oue", "base_pos", "none", "norm_sub", "l1", "ndcg"]
