"""Damaged files: thousands of mutations, each refused in one line or read as what it was."""

import gzip
import json
import random
from base64 import b64encode
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldp3
from ldp3.collection import report_parts
from ldp3.collection.aggregator import Aggregator
from ldp3.collection.client import Client
from ldp3.collection.plan import Plan
from ldp3.domain import Labels
from ldp3.errors import InvalidData, LDPError
from ldp3.experiment.journal import open_journal, path_of
from ldp3.experiment.run import run
from ldp3.people import Dataset
from tests.experiment.running import outcomes, simulator
from tests.faults.test_power_cuts import Quiet

PLAN = Plan("pages", 50, "olh", 1.0)
DATA = Dataset("small", Labels(["a", "b", "c"]), np.array([500, 300, 200]))


def flipped(data: bytes, rng: random.Random) -> bytes:
    """With one bit flipped."""
    place = rng.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]


def mutated(data: bytes, rng: random.Random) -> bytes:
    """With a flipped bit, other bytes at a place, or without its end."""
    how, place = rng.random(), rng.randrange(len(data))
    if how < 0.7:
        return flipped(data, rng)
    if how < 0.85:
        return data[:place] + rng.randbytes(8) + data[place + rng.randrange(16) :]
    return data[:place]


def outcome_of(read: Callable[[], object]) -> str:
    """How reading ended: anything but an error of ours in one line would end the test."""
    try:
        read()
    except LDPError as error:
        one_line(error)
        return "refused"
    return "read"


def one_line(error: LDPError) -> None:
    """A person's mistake is one line."""
    assert "\n" not in str(error)


def tables(folder: Path) -> list[Path]:
    """The same reports in every kind of table."""
    rng = ldp3.stream(0)
    rows = PLAN.wire.encode(PLAN.oracle.perturb(rng.integers(0, 50, size=300), rng))
    reports, ids = [row.tobytes() for row in rows], [f"r{i}" for i in range(300)]
    frame = pl.DataFrame({"report": reports, "id": ids})
    for how in ("zstd", "snappy", "uncompressed"):
        frame.write_parquet(folder / f"{how}.parquet", compression=how, row_group_size=100)
    frame[:3].sample(300, with_replacement=True, seed=0).write_parquet(folder / "few.parquet")
    pq.write_table(pa.table({"report": reports, "id": ids}), folder / "other.parquet")
    for codec in ("uncompressed", "zstd", "lz4"):
        frame.write_ipc(folder / f"{codec}.arrow", compression=codec)
    lines = (
        json.dumps({"id": i, "report": b64encode(r).decode()})
        for i, r in zip(ids, reports, strict=True)
    )
    (folder / "lines.jsonl").write_text("\n".join(lines))
    return sorted(folder.iterdir())


@pytest.mark.slow
def test_no_damaged_file_of_reports_stops_a_server(tmp_path: Path) -> None:
    rng, seen = random.Random(0), Counter[str]()
    for path in tables(tmp_path):
        whole, target = path.read_bytes(), tmp_path / f"damaged{path.suffix}"
        for _ in range(120):
            target.write_bytes(mutated(whole, rng))
            server = Aggregator(PLAN)
            read = partial(server.add_files, [target], threads=1)
            seen[outcome_of(read)] += 1
            assert server.n <= 300
    assert seen["read"] > 200
    assert seen["refused"] > 200


def test_a_small_file_cannot_take_all_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_parts, "MEMORY", 2**27)
    wide = pa.array([bytes(200_000)] * 4_000, pa.large_binary())  # 800 MB
    bomb = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"report": wide}), bomb, use_dictionary=False, compression="zstd")
    assert bomb.stat().st_size < 2**20
    server = Aggregator(PLAN)
    server.add_files([bomb], threads=1)
    assert server.n == 0
    assert server.refused == {"unreadable": 4_000}
    monkeypatch.setattr(report_parts, "MEMORY", 2**31)
    server.add_files([bomb], threads=1)
    assert server.refused == {"unreadable": 4_000, "wrong length": 4_000}


@pytest.mark.slow
def test_no_damaged_dataset_or_result_is_more_than_one_line(tmp_path: Path) -> None:
    rng, values = random.Random(0), [f"v{i % 7}" for i in range(300)]
    frame = pl.DataFrame({"value": values, "number": range(300)})
    frame.write_parquet(tmp_path / "d.parquet")
    frame.write_ipc(tmp_path / "d.arrow")
    frame.write_ipc_stream(tmp_path / "stream.arrow")
    frame.write_csv(tmp_path / "d.csv")
    (tmp_path / "d.parquet.gz").write_bytes(gzip.compress((tmp_path / "d.parquet").read_bytes()))
    results = ldp3.benchmark(values, [1.0], "grr", "norm_sub", repeats=2, progress=Quiet())
    for name in ("r.csv", "r.parquet", "r.json", "r"):
        results.save(tmp_path / name)
    datasets = [tmp_path / name for name in (
        "d.parquet", "d.arrow", "stream.arrow", "d.csv", "d.parquet.gz"
    )]  # fmt: skip
    others = [path for path in tmp_path.rglob("*") if path.is_file() and path not in datasets]
    for path in (*datasets, *others):
        whole, target = path.read_bytes(), tmp_path / path.name.removesuffix(".manifest.json")
        target = path.parent if path.parent != tmp_path else target
        read: Any = ldp3.load if path in datasets else ldp3.load_results
        options = {"column": 1} if path in datasets else {}
        for _ in range(100):
            path.write_bytes(mutated(whole, rng))
            outcome_of(partial(read, target, **options))
        path.write_bytes(whole)


@pytest.mark.slow
def test_a_damaged_journal_never_changes_the_table(tmp_path: Path) -> None:
    rng, at = random.Random(0), simulator(DATA, [1.0], ["grr", "oue"], "norm_sub", repeats=3)
    expected = run(at, threads=1).table
    output = tmp_path / "x.csv"
    journal = open_journal(output, at.experiment)
    assert journal is not None
    for outcome in list(outcomes(at))[:-1]:
        journal.append(outcome)
    journal.close()
    whole, ends = path_of(output).read_bytes(), Counter[str]()
    for number in range(200):
        for path in tmp_path.iterdir():
            path.unlink()
        path_of(output).write_bytes((flipped if number % 2 else mutated)(whole, rng))
        told = Quiet()
        try:
            assert run(at, threads=1, output=output, progress=told).table.equals(expected)
            ends["told" if any("damaged" in note for note in told.notes) else "not told"] += 1
        except LDPError as error:
            one_line(error)
            ends["refused"] += 1
            assert run(at, threads=1, output=tmp_path / "other.csv").table.equals(expected)
    assert ends["told"] > 60
    assert ends["not told"] < 60  # half a line at the end is what every kill leaves


@pytest.mark.parametrize("changed", ["crlf", "doubled", "backwards"])
def test_lines_of_a_journal_in_any_form_count_once(tmp_path: Path, changed: str) -> None:
    at, output = simulator(DATA, [1.0], ["grr", "oue"], "norm_sub", repeats=3), tmp_path / "x.csv"
    journal = open_journal(output, at.experiment)
    assert journal is not None
    for outcome in outcomes(at):
        journal.append(outcome)
    journal.close()
    head, *lines = path_of(output).read_bytes().splitlines(keepends=True)
    some = {"crlf": [head, *lines], "doubled": [head, head, *lines, *lines]}
    data = b"".join(some.get(changed, [head, *reversed(lines)]))
    path_of(output).write_bytes(data.replace(b"\n", b"\r\n") if changed == "crlf" else data)
    again = open_journal(output, at.experiment)
    assert again is not None
    assert (len(again.measured.outcomes), again.damaged) == (len(lines), 0)
    again.close()


def test_a_journal_without_seals_is_refused_and_fresh_starts_over(tmp_path: Path) -> None:
    at, output = simulator(DATA, [1.0], ["grr"], "norm_sub", repeats=3), tmp_path / "x.csv"
    path_of(output).write_text(json.dumps({"journal": at.experiment.identity}) + "\n{}\n")
    with pytest.raises(LDPError, match="of another version: start over with `fresh`"):
        open_journal(output, at.experiment)
    journal = open_journal(output, at.experiment, fresh=True)
    assert journal is not None
    journal.close()


@pytest.mark.parametrize("journal", ["", "\n", "something else\n"])
def test_a_strangers_file_beside_a_journal_is_not_touched(tmp_path: Path, journal: str) -> None:
    at, output = simulator(DATA, [1.0], ["grr"], "norm_sub", repeats=3), tmp_path / "visits.csv"
    output.write_text("theirs")
    (tmp_path / "visits.csv.journal").write_text(journal)
    for fresh in (False, True):
        with pytest.raises(LDPError, match="is no output of ours"):
            open_journal(output, at.experiment, fresh)
    assert output.read_text() == "theirs"


def test_a_strangers_file_that_came_while_a_run_was_stopped_is_not_touched(tmp_path: Path) -> None:
    at, output = simulator(DATA, [1.0], ["grr"], "norm_sub", repeats=3), tmp_path / "visits.csv"
    journal = open_journal(output, at.experiment)
    assert journal is not None
    journal.append(next(iter(outcomes(at))))
    journal.close()
    output.write_text("theirs")
    with pytest.raises(LDPError, match="is no output of ours"):
        open_journal(output, at.experiment)
    assert output.read_text() == "theirs"


def test_a_flipped_bit_of_a_memo_is_told_and_nothing_reported_afresh(tmp_path: Path) -> None:
    path, value = tmp_path / "memo", 8
    sent = {value: Client(PLAN, memo=path).report(value) for value in (7, 8, 9)}
    whole = path.read_bytes()
    for place in range(8 * len(whole)):
        data = bytearray(whole)
        data[place // 8] ^= 1 << place % 8
        path.write_bytes(data)
        if not whole[place // 8 : place // 8 + 1].strip():  # the end of a line may be a blank now
            reported_again_or_refused(path, sent)
            continue
        with pytest.raises(InvalidData, match="of the memo is damaged; restore the file"):
            Client(PLAN, memo=path).report(value)


def test_a_damaged_memo_never_reports_afresh(tmp_path: Path) -> None:
    rng, path = random.Random(0), tmp_path / "memo"
    sent = {value: Client(PLAN, memo=path).report(value) for value in (7, 8, 9)}
    whole = path.read_bytes()
    for _ in range(150):
        data = flipped(flipped(flipped(whole, rng), rng), rng)
        path.write_bytes(data)
        reported_again_or_refused(path, sent)
        assert path.read_bytes() == data  # nothing was added


def reported_again_or_refused(memo: Path, sent: dict[int, bytes]) -> None:
    for value, report in sent.items():
        try:
            assert Client(PLAN, memo=memo).report(value) == report
        except InvalidData as error:
            one_line(error)


@pytest.mark.parametrize("changed", ["crlf", "doubled", "bom"])
def test_a_memo_in_any_form_gives_the_same_reports(tmp_path: Path, changed: str) -> None:
    path = tmp_path / "memo"
    sent = {value: Client(PLAN, memo=path).report(value) for value in (7, 8)}
    whole = path.read_bytes()
    changes = {
        "crlf": whole.replace(b"\n", b"\r\n"),
        "doubled": whole * 2,
        "bom": b"\xef\xbb\xbf" + whole,
    }
    path.write_bytes(changes[changed])
    client = Client(PLAN, memo=path)
    assert {value: client.report(value) for value in sent} == sent
    assert client.spent == 2 * PLAN.epsilon


def test_a_mutated_plan_is_refused_or_the_same(tmp_path: Path) -> None:
    rng, path = random.Random(0), tmp_path / "plan.json"
    plan = Plan(
        "colours", Labels(("red", "green", "blue", "other"), other="other"), "olh", 1.0, "norm_sub"
    )
    plan.save(path)
    whole, seen = path.read_bytes(), Counter[str]()
    for _ in range(1_000):
        path.write_bytes(mutated(whole, rng))
        try:
            assert Plan.load(path) == plan
            seen["the same"] += 1
        except LDPError as error:
            one_line(error)
            seen["refused"] += 1
    assert seen["refused"] > 500


@pytest.mark.filterwarnings("ignore:.*these counts have no seal")  # its own name was flipped
def test_no_flipped_bit_changes_counts(tmp_path: Path) -> None:
    rng, target = random.Random(0), tmp_path / "counts.json"
    server = Aggregator(PLAN)
    server.add(PLAN.oracle.perturb(np.arange(50).repeat(20), ldp3.stream(0)))
    server.save(target)
    whole, seen = target.read_bytes(), Counter[str]()
    for _ in range(1_000):
        target.write_bytes(flipped(whole, rng))
        seen[outcome_of(lambda: same_counts(Aggregator.load(target), server))] += 1
    assert seen["refused"] > 900


def same_counts(one: Aggregator, other: Aggregator) -> None:
    assert (one.n, one.refused, one.identified) == (other.n, other.refused, other.identified)
    assert one.total.tolist() == other.total.tolist()
