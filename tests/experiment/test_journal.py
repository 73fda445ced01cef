import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp3.domain import Labels
from ldp3.errors import LDPError
from ldp3.experiment.journal import Journal, difference, open_journal, path_of
from ldp3.experiment.outcomes import Outcome, exact_sums, from_sums
from ldp3.experiment.simulator import Simulator
from ldp3.experiment.tabulation import tabulated
from ldp3.files import sealed
from ldp3.people import Dataset
from ldp3.results.table import Results
from tests.experiment.running import cells_of, collected, outcomes, simulator

DATA = Dataset("small", Labels(["a", "b", "c"]), np.array([500, 300, 200]))


def small(**changes: Any) -> Simulator:
    given: dict[str, Any] = {"epsilons": [0.5, 1], "protocols": ["grr", "oue"], "repeats": 9}
    return simulator(DATA, methods="norm_sub", **{**given, **changes})


def opened(output: Path, at: Simulator, fresh: bool = False) -> Journal:
    journal = open_journal(output, at.experiment, fresh)
    assert journal is not None
    return journal


def begin(output: Path, at: Simulator, blocks: int) -> Sequence[Outcome]:
    """A run that is stopped after so many blocks."""
    journal = opened(output, at)
    for outcome in list(outcomes(at))[:blocks]:
        journal.append(outcome)
    journal.close()
    return journal.measured.outcomes


def finish(output: Path, at: Simulator) -> Results:
    journal = opened(output, at)
    for outcome in outcomes(at, done=cells_of(journal.measured.outcomes)):
        journal.append(outcome)
    results = tabulated(at, journal.measured, {})
    journal.finish(results)
    return results


@pytest.mark.parametrize("name", ["x.csv", "folder"])
@pytest.mark.parametrize("keep", ["means", "estimates"])
def test_a_resumed_run_ends_with_the_same_results(tmp_path: Path, name: str, keep: str) -> None:
    at = small(keep=keep)
    whole = collected(at, outcomes(at))
    begin(tmp_path / name, at, blocks=5)
    resumed = finish(tmp_path / name, at)
    assert resumed.table.equals(whole.table)
    assert resumed.means.equals(whole.means)  # type: ignore[union-attr, arg-type]
    if keep == "estimates":
        assert resumed.estimates.equals(whole.estimates)  # type: ignore[union-attr, arg-type]


def test_finished_blocks_are_not_lost_and_not_run_again(tmp_path: Path) -> None:
    at = small()
    before = begin(tmp_path / "x.csv", at, blocks=5)
    journal = opened(tmp_path / "x.csv", at)
    assert [o.block for o in journal.measured.outcomes] == [o.block for o in before]
    journal.close()


def test_a_block_is_on_disk_when_append_returns(tmp_path: Path) -> None:
    output, at = tmp_path / "x.csv", small()
    journal = opened(output, at)
    for i, outcome in enumerate(outcomes(at), start=1):
        journal.append(outcome)
        assert path_of(output).read_bytes().count(b"\n") == 1 + i
    journal.close()


def test_a_full_disk_is_said_in_one_line(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("only Linux has a disk that is always full")
    at = small()
    with Path("/dev/full").open("wb", buffering=0) as full:
        journal = Journal(tmp_path / "x.csv", at.experiment, full)
        with pytest.raises(LDPError, match="No space left on device"):
            journal.append(next(iter(outcomes(at))))


@pytest.mark.parametrize("cut", [1, 10, 200])
def test_half_a_line_at_the_end_is_cut_off(tmp_path: Path, cut: int) -> None:
    output, at = tmp_path / "x.csv", small()
    begin(output, at, blocks=5)
    path = path_of(output)
    path.write_bytes(path.read_bytes()[:-cut])
    journal = opened(output, at)
    assert len(journal.measured.outcomes) == 4
    known = journal.measured.cells
    journal.append(next(o for o in outcomes(at) if not known.intersection(o.block.cells)))
    journal.close()
    journal = opened(output, at)
    assert len(journal.measured.outcomes) == 5  # what was appended stands on a line of its own
    journal.close()
    assert finish(output, at).table.equals(collected(at, outcomes(at)).table)


def test_a_line_that_stands_there_twice_counts_once(tmp_path: Path) -> None:
    output, at = tmp_path / "x.csv", small()
    begin(output, at, blocks=3)
    head, *lines = path_of(output).read_bytes().splitlines(keepends=True)
    path_of(output).write_bytes(b"".join([head, *lines, lines[0]]))
    assert finish(output, at).table.equals(collected(at, outcomes(at)).table)


def test_half_a_first_line_is_as_good_as_none(tmp_path: Path) -> None:
    output, at = tmp_path / "x.csv", small()
    begin(output, at, blocks=1)
    path_of(output).write_bytes(path_of(output).read_bytes()[:20])
    journal = opened(output, at)
    assert journal.measured.outcomes == []
    journal.close()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"seed": 1}, "seed was 0, is 1"),
        ({"epsilons": [0.5]}, "epsilons was 0.5 1.0, is 0.5"),
        ({"protocols": ["grr"]}, "protocols was grr oue, is grr"),
        ({"simulate": "users"}, "simulate was exact, is users"),
        ({"reference": "raw"}, "reference was truth, is raw"),
        ({"keep": "estimates"}, "keep_estimates was False, is True"),
    ],
)
def test_another_run_is_refused_with_the_reason(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    output = tmp_path / "x.csv"
    begin(output, small(), blocks=2)
    with pytest.raises(LDPError, match=f"part of another run: {reason}"):
        open_journal(output, small(**changes).experiment)
    finish(output, small())
    with pytest.raises(LDPError, match=f"holds another run: {reason}"):
        open_journal(output, small(**changes).experiment)


def test_other_data_under_the_same_name_is_refused(tmp_path: Path) -> None:
    begin(tmp_path / "x.csv", small(), blocks=2)
    other = Dataset("small", Labels(["a", "b", "c"]), np.array([500, 200, 300]))
    changed = simulator(other, [0.5, 1], ["grr", "oue"], "norm_sub", repeats=9)
    with pytest.raises(LDPError, match="the content of the dataset small has changed"):
        open_journal(tmp_path / "x.csv", changed.experiment)


def test_versions_and_plug_ins_are_named() -> None:
    assert difference({"versions": {"numpy": "1"}}, {"versions": {"numpy": "2"}}) == (
        "numpy was 1, is 2"
    )
    assert difference({"plugins": {"a.py": "x"}}, {"plugins": {"a.py": "y"}}) == (
        "the source of a.py has changed"
    )
    assert difference({"seed": 1, "more": 2}, {"seed": 1}) is None


def test_fresh_starts_over(tmp_path: Path) -> None:
    output = tmp_path / "x.csv"
    begin(output, small(), blocks=2)
    journal = opened(output, small(seed=1), fresh=True)
    assert journal.measured.outcomes == []
    journal.close()
    finish(output, small(seed=2))
    opened(output, small(seed=3), fresh=True).close()


def test_fresh_leaves_nothing_of_the_old_run(tmp_path: Path) -> None:
    finish(tmp_path / "out", small(keep="estimates"))
    opened(tmp_path / "out", small(), fresh=True).close()
    assert list((tmp_path / "out").iterdir()) == []


def test_a_complete_output_is_left_alone(tmp_path: Path) -> None:
    for name in ("x.csv", "folder"):
        finish(tmp_path / name, small())
        before = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")}
        assert open_journal(tmp_path / name, small().experiment) is None
        assert before == {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")}


def test_killed_between_output_and_journal_is_complete(tmp_path: Path) -> None:
    output, at = tmp_path / "x.csv", small()
    begin(output, at, blocks=2)
    left = path_of(output).read_bytes()
    finish(output, at)
    path_of(output).write_bytes(left)
    assert open_journal(output, at.experiment) is None
    longer = small(repeats=12)
    assert finish(output, longer).table.equals(collected(longer, outcomes(longer)).table)


@pytest.mark.parametrize("name", ["x.csv", "folder"])
def test_a_finished_journal_has_one_line_for_each_cell(tmp_path: Path, name: str) -> None:
    output, at = tmp_path / name, small()
    finish(output, at)
    head, saved, *cells = path_of(output).read_bytes().splitlines()
    assert (b"journal" in head, b"saved" in saved) == (True, True)
    assert len(cells) == len(at.cells)
    journal = opened(output, small(repeats=12))
    assert cells_of(journal.measured.outcomes) == cells_of(list(outcomes(at)))
    journal.close()


def test_a_table_that_took_the_place_of_an_output_is_not_ours(tmp_path: Path) -> None:
    """The journal that stays behind does not vouch for what somebody put there since."""
    output = tmp_path / "x.csv"
    finish(output, small())
    output.write_text("mine")
    output.with_name("x.csv.manifest.json").unlink()
    with pytest.raises(LDPError, match="is no output of ours"):
        open_journal(output, small().experiment)
    assert output.read_text() == "mine"
    output.unlink()
    assert finish(output, small()).table.equals(collected(small(), outcomes(small())).table)


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize(
    ("output", "theirs"),
    [
        ("x.csv", "x.csv"),
        ("x.csv", "x.csv.journal"),
        ("x.csv", "x.csv.manifest.json"),
        ("out", "out/manifest.json"),
        ("out", "out/table.parquet"),
        ("out", "out.journal"),
    ],
)
@pytest.mark.parametrize("content", ["{}", "mine\n", '{"seed": 1}\nand more\n'])
def test_a_file_of_someone_else_is_never_touched(
    tmp_path: Path, output: str, theirs: str, content: str, fresh: bool
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / theirs).write_text(content)
    with pytest.raises(LDPError) as caught:
        open_journal(tmp_path / output, small().experiment, fresh)
    assert "\n" not in str(caught.value)
    assert (tmp_path / theirs).read_text() == content


@pytest.mark.parametrize("fresh", [False, True])
def test_what_else_lies_in_a_folder_stays(tmp_path: Path, fresh: bool) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    finish(tmp_path / "out", small())
    if fresh:
        opened(tmp_path / "out", small(seed=1), fresh=True).close()
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("name", [".", "..", "/", ""])
def test_an_output_without_a_name_is_refused(name: str) -> None:
    with pytest.raises(LDPError, match="by its name"):
        open_journal(Path(name), small().experiment)


def test_fresh_waits_for_the_lock_before_it_forgets(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="files are locked on POSIX only")
    output = tmp_path / "x.csv"
    finish(output, small())
    journal = opened(output, small(), fresh=True)
    journal.append(next(iter(outcomes(small()))))
    kept = path_of(output).read_bytes()
    with pytest.raises(LDPError, match="Another run is writing"):
        open_journal(output, small(seed=1).experiment, fresh=True)
    assert path_of(output).read_bytes() == kept
    journal.close()


@pytest.mark.parametrize("name", ["missing/x.csv", "file/x.csv", "x.txt"])
def test_an_output_that_cannot_be_written_is_refused_before_the_work(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LDPError) as caught:
        open_journal(tmp_path / name, small().experiment)
    assert "\n" not in str(caught.value)


def test_two_runs_do_not_share_an_output(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="files are locked on POSIX only")
    journal = opened(tmp_path / "x.csv", small())
    with pytest.raises(LDPError, match="Another run is writing"):
        open_journal(tmp_path / "x.csv", small().experiment)
    journal.close()


def test_a_journal_without_a_block_leaves_no_file(tmp_path: Path) -> None:
    opened(tmp_path / "x.csv", small()).close()
    assert list(tmp_path.iterdir()) == []


@given(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3))
def test_the_sum_of_a_single_repeat_fits_a_float(frequencies: list[float]) -> None:
    sums = exact_sums([np.array([frequencies])])
    assert np.array_equal(exact_sums([from_sums(sums)]), sums)


def test_a_run_that_keeps_more_runs_again_what_kept_less(tmp_path: Path) -> None:
    output = tmp_path / "out"
    begin(output, small(keep="scores"), blocks=5)
    results = finish(output, small(keep="means"))
    whole = collected(small(), outcomes(small()))
    assert results.means is not None
    assert results.means.equals(whole.means)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("cell", 5), ("cell", {}), ("stop", "9"), ("stop", 0), ("stop", 10**12), ("values", None),
        ("values", ["<f8", [1], "AAAAAAAAAAA="]), ("values", ["O", [1], "AAAAAAAAAAA="]),
        ("sums", ["<i8", [1], "AAAAAAAAAAA="]), ("limits", 7), ("seconds", []), ("estimates", "x"),
    ],
)  # fmt: skip
def test_a_sealed_line_that_is_no_block_runs_again(tmp_path: Path, name: str, wrong: Any) -> None:
    at, output = small(), tmp_path / "x.csv"
    whole = collected(at, outcomes(at))
    begin(output, at, blocks=3)
    first, *lines = path_of(output).read_bytes().splitlines()
    found = json.loads(lines[0].partition(b" ")[2])
    changed = sealed(json.dumps({**found, name: wrong}).encode()).strip()
    path_of(output).write_bytes(b"\n".join([first, changed, *lines[1:], b""]))
    journal = opened(output, at)
    assert journal.damaged == 1
    journal.close()
    assert finish(output, at).table.equals(whole.table)


@pytest.mark.parametrize("run", [5, [], {}, {"repeats": "9"}])
def test_a_sealed_first_line_that_is_no_run_is_one_line(tmp_path: Path, run: object) -> None:
    at, output = small(), tmp_path / "x.csv"
    begin(output, at, blocks=3)
    _, *lines = path_of(output).read_bytes().splitlines()
    head = sealed(json.dumps({"journal": run}, separators=(",", ":")).encode()).strip()
    path_of(output).write_bytes(b"\n".join([head, *lines, b""]))
    with pytest.raises(LDPError, match="is damaged, or of another version: start over"):
        opened(output, at)
