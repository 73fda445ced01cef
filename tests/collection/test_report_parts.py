"""Files of reports in every format: whole, damaged, cut into parts, on any executor."""

import json
import multiprocessing
from base64 import b64encode
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import ldp3
from ldp3.collection import report_parts
from ldp3.collection.aggregator import Aggregator
from ldp3.collection.counts import DUPLICATE
from ldp3.collection.plan import Plan, deployable
from ldp3.collection.reports import ENDINGS, ReportFormat, format_of, write_reports
from ldp3.collection.wire import IMPOSSIBLE, LENGTH, OTHER_COLLECTION, OTHER_VERSION
from ldp3.errors import InvalidData, InvalidParameter
from ldp3.protocols.layout import Bytes
from tests.collection import suited

PLAN = Plan("pages", 50, "olh", 1.0)
FORMATS: list[ReportFormat] = ["raw", "jsonl", "parquet", "arrow"]
ENDING = {format: ending for ending, format in reversed(ENDINGS.items())}


def rows_of(plan: Plan, n: int) -> Bytes:
    rng = ldp3.stream(0, plan.protocol, n)
    return plan.wire.encode(plan.oracle.perturb(rng.integers(0, plan.d, size=n), rng))


def write_some(
    folder: Path, format: ReportFormat, rows: Bytes, ids: list[str] | None = None
) -> Path:
    path = folder / f"reports{ENDING[format]}"
    write_reports(path, format, [(rows[:10], ids and ids[:10]), (rows[10:], ids and ids[10:])])
    return path


def counted(plan: Plan, *paths: Path, **options: Any) -> Aggregator:
    server = Aggregator(plan)
    server.add_files(paths, **options)
    return server


def total(plan: Plan, rows: Bytes) -> list[int]:
    server = Aggregator(plan)
    server.add(rows.tobytes())
    return server.total.tolist()


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("spec", deployable())
def test_every_format_gives_back_what_was_written(
    tmp_path: Path, format: ReportFormat, spec: str
) -> None:
    plan = Plan("pages", suited(spec, 50), spec, 1.0)
    rows = rows_of(plan, 1_000)
    server = counted(plan, write_some(tmp_path, format, rows))
    assert (server.n, server.refused) == (1_000, {})
    assert server.total.tolist() == total(plan, rows)


@pytest.mark.parametrize("format", FORMATS)
def test_small_parts_give_the_same_counts(
    tmp_path: Path, format: ReportFormat, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = rows_of(PLAN, 1_000)
    rows[::7, 3] ^= 1  # of another collection
    rows[::11, -1] = 255  # no cell
    path = write_some(tmp_path, format, rows)
    if format == "raw":  # a lost byte moves everything that follows
        data = path.read_bytes()
        path.write_bytes(data[: 500 * PLAN.report_bytes + 5] + data[500 * PLAN.report_bytes + 6 :])
    whole = counted(PLAN, path)
    assert whole.n > 700
    for size in (1, 100, 1_000, 5_000):
        monkeypatch.setattr(report_parts, "PART", size)
        parts = counted(PLAN, path)
        assert (parts.n, parts.refused) == (whole.n, whole.refused)
        assert (parts.total == whole.total).all()


def test_malformed_lines_are_told_by_reason(tmp_path: Path) -> None:
    rows = rows_of(PLAN, 3)
    good = [json.dumps({"report": b64encode(row).decode()}) for row in rows]
    foreign, version, impossible = (rows[0].copy() for _ in range(3))
    foreign[5] ^= 1
    version[0] = 9
    impossible[-1] = 4
    strange = [json.dumps({"report": b64encode(row).decode()}) for row in (foreign, version)]
    lines = [
        good[0], "", "{", "[]", "null", "5", '"report"', "{}", '{"report": null}', '{"report": 5}',
        '{"report": "?"}', '{"report": [1]}', good[0][:-1], good[0] + "x", "\ufeff", "\x00",
        '{"report": ""}', '{"report": "AAAA"}', *strange,
        json.dumps({"report": b64encode(impossible).decode()}), "   ", good[1] + "\r",
        '{"other": {"deep": [1, 2]}, ' + good[2][1:],
    ]  # fmt: skip
    path = tmp_path / "reports.jsonl"
    path.write_bytes("\n".join(lines).encode() + b"\n\xff\xfe\xfa\n" + b"[" * 100_000)
    server = counted(PLAN, path)
    assert server.n == 3
    assert server.total.tolist() == total(PLAN, rows)
    assert server.refused == {
        report_parts.NO_REPORT: 16, LENGTH: 2, OTHER_COLLECTION: 1, OTHER_VERSION: 1, IMPOSSIBLE: 1,
    }  # fmt: skip


def test_a_line_of_any_length_is_one_of_many(tmp_path: Path) -> None:
    rows = rows_of(PLAN, 2)
    good = [json.dumps({"report": b64encode(row).decode()}).encode() for row in rows]
    path = tmp_path / "reports.jsonl"
    path.write_bytes(good[0] + b"\n" + b'{"report": "' + b"A" * 40_000_000 + b'"}\n' + good[1])
    server = counted(PLAN, path)
    assert server.n == 2
    assert set(server.refused) <= {report_parts.NO_REPORT, LENGTH}


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_malformed_rows_of_a_table_are_told_by_reason(tmp_path: Path, format: ReportFormat) -> None:
    rows = [row.tobytes() for row in rows_of(PLAN, 3)]
    foreign = rows[0][:3] + b"\x00\x00" + rows[0][5:]
    column = [rows[0], None, b"", rows[1], b"x" * 1_000_000, foreign, rows[0][:-1] + b"\xff"]
    table = pl.DataFrame({"more": range(7), "report": pl.Series(column, dtype=pl.Binary)})
    path = tmp_path / f"reports.{format}"
    table.write_parquet(path) if format == "parquet" else table.write_ipc(path)
    server = counted(PLAN, path)
    assert (server.n, server.refused) == (
        2, {report_parts.NO_REPORT: 1, LENGTH: 2, OTHER_COLLECTION: 1, IMPOSSIBLE: 1}
    )  # fmt: skip


@pytest.mark.parametrize("format", ["jsonl", "parquet", "arrow"])
def test_identifiers_count_once_over_all_files(
    tmp_path: Path, format: ReportFormat, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = rows_of(PLAN, 200)
    ids = [f"r{i % 150}" for i in range(200)]  # the last fifty again
    monkeypatch.setattr(report_parts, "PART", 1_000)
    first = write_some(tmp_path, format, rows, ids)
    (tmp_path / "more").mkdir()
    second = write_some(tmp_path / "more", format, rows, ids)
    server = counted(PLAN, first, second)
    assert (server.n, server.refused, server.identified) == (150, {DUPLICATE: 250}, 150)
    assert server.total.tolist() == total(PLAN, rows[:150])
    server.add_files([second])
    assert (server.n, server.refused) == (150, {DUPLICATE: 450})


def test_identifiers_of_any_type_will_do(tmp_path: Path) -> None:
    rows = [row.tobytes() for row in rows_of(PLAN, 4)]
    for ids, n in (([1, 2, 1, None], 3), ([b"a", b"a", None, None], 3), (["a", "b", "c", "a"], 3)):
        path = tmp_path / "reports.parquet"
        pl.DataFrame({"report": rows, "id": ids}).write_parquet(path)
        assert counted(PLAN, path).n == n


@pytest.mark.parametrize(("n", "lost"), [(4_000, 1_000), (500, 500)])
def test_damaged_pages_cost_their_part_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n: int, lost: int
) -> None:
    path = tmp_path / "reports.parquet"
    rows = [row.tobytes() for row in rows_of(PLAN, n)]
    pl.DataFrame({"report": rows}).write_parquet(path, row_group_size=1_000)
    data = bytearray(path.read_bytes())
    data[20:2_000] = bytes(1_980)  # inside the first row group
    path.write_bytes(data)
    monkeypatch.setattr(report_parts, "PART", 1_000 * PLAN.report_bytes)
    server = counted(PLAN, path)
    assert (server.n, server.refused) == (n - lost, {report_parts.UNREADABLE: lost})


def test_files_that_cannot_be_read_at_all_are_refused_before_anything_is_counted(
    tmp_path: Path,
) -> None:
    good = write_some(tmp_path, "parquet", rows_of(PLAN, 20))
    (tmp_path / "no.parquet").write_bytes(b"PAR1 is how it starts")
    (tmp_path / "no.arrow").write_bytes(b"")
    pl.DataFrame({"text": ["a"]}).write_parquet(tmp_path / "other.parquet")
    pl.DataFrame({"report": ["a"]}).write_parquet(tmp_path / "text.parquet")
    (tmp_path / "reports.xyz").touch()
    for name, reason in {
        "no.parquet": "is no parquet file", "no.arrow": "is no arrow file",
        "other.parquet": "binary column 'report'", "text.parquet": r"report \(String\)",
        "none.bin": "no such file", "reports.xyz": "input_format",
    }.items():  # fmt: skip
        server = Aggregator(PLAN)
        with pytest.raises((InvalidData, InvalidParameter), match=reason) as caught:
            server.add_files([good, tmp_path / name])
        assert "\n" not in str(caught.value)
        assert server.n == 0


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_without_reports_is_fine(tmp_path: Path, format: ReportFormat) -> None:
    path = tmp_path / f"empty{ENDING[format]}"
    write_reports(path, format, [])
    assert counted(PLAN, path).n == 0


def test_names_with_patterns_are_names(tmp_path: Path) -> None:
    folder = tmp_path / "a*[b]?"
    folder.mkdir()
    for format in ("parquet", "arrow"):
        assert counted(PLAN, write_some(folder, format, rows_of(PLAN, 20))).n == 20


class Backwards(Executor):
    """Runs nothing until a result is wanted, then the newest task first."""

    def __init__(self) -> None:
        self.tasks: list[tuple[Future[Any], Any]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        result = future.result

        def run_all(timeout: float | None = None) -> Any:
            while self.tasks:
                task, call = self.tasks.pop()
                task.set_result(call())
            return result(timeout)

        future.result = run_all  # type: ignore[method-assign]
        self.tasks.append((future, lambda: fn(*args, **kwargs)))
        return future


def test_the_executor_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(PLAN, 500)
    ids = [f"r{i % 300}" for i in range(500)]
    path = write_some(tmp_path, "parquet", rows, ids)
    expected = counted(PLAN, path)
    monkeypatch.setattr(report_parts, "PART", 1_000)
    assert (counted(PLAN, path, executor=Backwards()).total == expected.total).all()
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        server = counted(PLAN, path, executor=pool)
    assert (server.n, server.refused) == (300, {DUPLICATE: 200})
    assert (server.total == expected.total).all()


def test_another_process_loads_the_plugin_that_the_protocol_comes_from(tmp_path: Path) -> None:
    source = Path(__file__).with_name("two_rows.py").read_text()
    (tmp_path / "mine.py").write_text(source)
    plan = Plan("x", 5, "two_rows", 1.0, plugins=[tmp_path / "mine.py"])
    path = write_some(tmp_path, "raw", rows_of(plan, 100))
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        server = counted(plan, path, executor=pool)
    assert (server.n, server.refused) == (100, {})
    assert (server.total == counted(plan, path).total).all()


def test_a_format_is_known_by_the_ending_or_named() -> None:
    assert format_of(Path("a.PARQUET"), None, "input_format") == "parquet"
    assert format_of(Path("a.PARQUET"), "raw", "input_format") == "raw"
    with pytest.raises(
        InvalidParameter, match="`format`: must be one of raw, jsonl, parquet, arrow"
    ):
        format_of(Path("a.bin"), "csv", "format")  # type: ignore[arg-type]


def test_of_two_different_reports_with_one_identifier_the_first_file_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan("x", 5, "grr", 1.0)
    monkeypatch.setattr(report_parts, "IN_FLIGHT", 2)
    for name, payload in (("a", b"\x00"), ("b", b"\x01")):
        column = {"report": [plan.tag + payload], "id": ["same"]}
        pl.DataFrame(column).write_parquet(tmp_path / f"{name}.parquet")
    for first, second, expected in (("a", "b", 0), ("b", "a", 1)):
        paths = (tmp_path / f"{first}.parquet", tmp_path / f"{second}.parquet")
        for executor in (None, Backwards()):
            server = counted(plan, *paths, executor=executor)
            assert np.flatnonzero(server.total).tolist() == [expected]


def lines_of(plan: Plan, n: int, **fields: object) -> list[str]:
    made = [b64encode(row).decode() for row in rows_of(plan, n)]
    return [json.dumps({**fields, "report": text}) for text in made]


def test_a_line_longer_than_a_part_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_parts, "PART", 2**12)
    monkeypatch.setattr(report_parts, "LONGEST", 2**13)
    first, second, *many = lines_of(PLAN, 9)
    trap = (" " * (2**12 - 40)).join(many)  # whatever it is cut at, pieces of it are reports
    (tmp_path / "r.jsonl").write_text(f"{first}\n{trap}{' ' * 2**17}\n{second}\n")
    server = counted(PLAN, tmp_path / "r.jsonl")
    assert (server.n, server.refused) == (2, {"no report": 1})


def test_a_byte_order_mark_costs_no_report(tmp_path: Path) -> None:
    text = "\n".join(lines_of(PLAN, 3))
    (tmp_path / "r.jsonl").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert counted(PLAN, tmp_path / "r.jsonl").n == 3


def test_identifiers_that_differ_in_any_digit_are_others(tmp_path: Path) -> None:
    made = [json.loads(line)["report"] for line in lines_of(PLAN, 8)]
    ids = ["18446744073709551616", "18446744073709551617", "-18446744073709551616", "1", "2",
           "0.12345678901234567890", "0.12345678901234567891", "18446744073709551616"]  # fmt: skip
    lines = [f'{{"id": {i}, "report": "{r}"}}' for i, r in zip(ids, made, strict=True)]
    (tmp_path / "r.jsonl").write_text("\n".join(lines))
    server = counted(PLAN, tmp_path / "r.jsonl")
    assert (server.n, server.refused) == (7, {DUPLICATE: 1})


def test_lines_that_are_no_text_are_no_reports(tmp_path: Path) -> None:
    lines = [line.encode() for line in lines_of(PLAN, 3, id="x?")]
    lines = [
        line.replace(b"?", end) for line, end in zip(lines, (b"\xff", b"\xfe", b"y"), strict=True)
    ]
    (tmp_path / "r.jsonl").write_bytes(b"\n".join(lines))
    server = counted(PLAN, tmp_path / "r.jsonl")
    assert (server.n, server.refused) == (1, {"no report": 2})
