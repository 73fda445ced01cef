"""The server: parts merge into the whole, counts files are checked, duplicates count once."""

import json
import pickle
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ldp3
from ldp3.arrays import Reports
from ldp3.collection.aggregator import Aggregator
from ldp3.collection.counts import DUPLICATE, LIMIT
from ldp3.collection.plan import Plan, deployable
from ldp3.collection.wire import IMPOSSIBLE, LENGTH
from ldp3.errors import InvalidData, InvalidParameter, LDPError
from tests.collection import suited

SPECS = deployable()
PLUGIN = Path(__file__).with_name("two_rows.py")
PLANS = {spec: Plan("colours", suited(spec, 20), spec, 1.0) for spec in SPECS}
PLANS |= {
    spec: Plan("colours", 20, spec, 1.0, plugins=[PLUGIN])
    for spec in ("two_rows", "half_points", "coin_and_value")
}


@cache
def sample(plan: Plan, n: int = 2_000) -> Reports:
    rng = ldp3.stream(0, plan.protocol)
    return plan.oracle.perturb(rng.integers(0, plan.d, size=n), rng)


def counted(plan: Plan, reports: Reports) -> Aggregator:
    server = Aggregator(plan)
    server.add(plan.wire.encode(reports).tobytes())
    return server


@pytest.mark.parametrize("spec", PLANS)
@settings(deadline=None, max_examples=20)
@given(cuts=st.lists(st.integers(0, 2_000), max_size=5))
def test_any_split_gives_exactly_the_same_estimate(spec: str, cuts: list[int]) -> None:
    plan = PLANS[spec]
    reports = sample(plan)
    whole = counted(plan, reports).estimate()
    merged = Aggregator(plan)
    for part in reversed(np.split(reports, sorted(cuts))):
        merged.merge(counted(plan, part))
    assert merged.n == whole.n == 2_000
    assert (merged.total == whole.tally.total).all()
    assert (merged.estimate().frequencies == whole.frequencies).all()


@pytest.mark.parametrize("spec", PLANS)
def test_bytes_single_reports_and_arrays_count_alike(spec: str) -> None:
    plan = PLANS[spec]
    reports = sample(plan, 100)
    rows = plan.wire.encode(reports)
    by_run, by_one, by_array = Aggregator(plan), Aggregator(plan), Aggregator(plan)
    by_run.add(memoryview(rows.tobytes()))
    by_one.add(row.tobytes() for row in rows)
    by_array.add(reports)
    expected = plan.oracle.aggregate(reports)
    for server in (by_run, by_one, by_array):
        assert (server.n, server.refused) == (100, {})
        assert server.tally.n == expected.n == 100
        assert (server.total == expected.total).all()


def test_an_array_with_impossible_rows_is_counted_without_them() -> None:
    server = Aggregator(PLANS["grr"])
    server.add(np.array([0, 19, 20, -1]))
    assert (server.n, server.refused) == (2, {IMPOSSIBLE: 2})


def test_a_report_with_a_known_identifier_counts_once() -> None:
    plan = PLANS["olh"]
    rows = [row.tobytes() for row in plan.wire.encode(sample(plan, 6))]
    server, expected = Aggregator(plan), Aggregator(plan)
    server.add(rows[:4], ids=["a", "b", "a", None])
    server.add(rows[4:], ids=[b"a", None])
    expected.add([rows[i] for i in (0, 1, 3, 5)])
    assert (server.n, server.refused, server.identified) == (4, {DUPLICATE: 2}, 2)
    assert (server.total == expected.total).all()


def test_a_report_that_is_refused_does_not_take_its_identifier_away() -> None:
    plan = PLANS["grr"]
    good, bad = plan.tag + b"\x00", plan.tag + b"\xff"
    server = Aggregator(plan)
    server.add([bad, b"", good], ids=["a", "a", "a"])
    assert (server.n, server.refused) == (1, {IMPOSSIBLE: 1, LENGTH: 1})


def test_identifiers_must_fit_the_reports() -> None:
    plan = PLANS["grr"]
    with pytest.raises(InvalidParameter, match="2 reports need as many identifiers, got 1"):
        Aggregator(plan).add([b"", b""], ids=["a"])
    with pytest.raises(InvalidParameter, match="give a list of bytes"):
        Aggregator(plan).add(b"", ids=["a"])


def test_parts_that_share_a_report_do_not_merge() -> None:
    plan = PLANS["grr"]
    first, second = Aggregator(plan), Aggregator(plan)
    first.add([plan.tag + b"\x00"], ids=["a"])
    second.add([plan.tag + b"\x00"], ids=["a"])
    with pytest.raises(InvalidData, match="1 reports are in both parts"):
        first.merge(second)
    assert first.n == 1


@pytest.mark.parametrize(
    "other", [Plan("colours", 20, "grr", 1.1), Plan("shapes", 20, "grr", 1.0), PLANS["olh"]]
)
def test_another_collection_does_not_merge(other: Plan) -> None:
    with pytest.raises(InvalidData, match="different collections"):
        Aggregator(PLANS["grr"]).merge(Aggregator(other))


@pytest.mark.parametrize("spec", PLANS)
def test_what_is_saved_is_what_is_loaded(tmp_path: Path, spec: str) -> None:
    server = counted(PLANS[spec], sample(PLANS[spec]))
    server.add(b"nonsense")
    server.add([], ids=[])
    server.save(tmp_path / "counts.json")
    again = Aggregator.load(tmp_path / "counts.json", [PLUGIN])
    assert again.plan == server.plan
    assert (again.n, again.refused) == (2_000, {LENGTH: 1})
    assert (again.total == server.total).all()
    assert again.total.dtype == server.total.dtype
    assert (again.estimate().frequencies == server.estimate().frequencies).all()
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "counts.json").read_bytes()


HOSTILE: list[Callable[[dict[str, Any]], object]] = [
    lambda c: c.update(n=-1), lambda c: c.update(n=1.0), lambda c: c.update(n=True),
    lambda c: c.update(n=LIMIT), lambda c: c.update(n=10**30), lambda c: c.update(n=1_999),
    lambda c: c.update(total=None), lambda c: c.update(total=[]), lambda c: c["total"].append(0),
    lambda c: c["total"].__setitem__(0, -1), lambda c: c["total"].__setitem__(0, 2_001),
    lambda c: c["total"].__setitem__(0, 0.5), lambda c: c["total"].__setitem__(0, 10**30),
    lambda c: c["total"].__setitem__(0, "1"), lambda c: c["total"].__setitem__(0, [1]),
    lambda c: c["total"].__setitem__(0, c["total"][0] + 1), lambda c: c.update(refused=[]),
    lambda c: c.update(refused={"x": -1}), lambda c: c.update(identified=-1),
    lambda c: c.pop("n"), lambda c: c.pop("total"), lambda c: c.pop("plan"),
    lambda c: c.update(version=1), lambda c: c.update(format="x"), lambda c: c["plan"].update(d=3),
    lambda c: c["plan"].update(epsilon=9.0), lambda c: c.update(plan=None),
]  # fmt: skip


def unsealed(path: Path) -> dict[str, Any]:
    """What a file of counts says, as another program would write it."""
    content: dict[str, Any] = json.loads(path.read_text())
    del content["seal"]
    return content


@pytest.mark.parametrize("spec", ["grr", "ss"])
@pytest.mark.parametrize("edit", HOSTILE)
def test_counts_that_cannot_be_are_refused(
    tmp_path: Path, spec: str, edit: Callable[[dict[str, Any]], object]
) -> None:
    counted(PLANS[spec], sample(PLANS[spec])).save(tmp_path / "counts.json")
    content = unsealed(tmp_path / "counts.json")
    edit(content)
    (tmp_path / "counts.json").write_text(json.dumps(content))
    with pytest.raises(LDPError, match=r"counts\.json"):
        Aggregator.load(tmp_path / "counts.json")


def test_no_value_has_more_supports_than_there_are_reports(tmp_path: Path) -> None:
    counted(PLANS["oue"], sample(PLANS["oue"])).save(tmp_path / "counts.json")
    content = unsealed(tmp_path / "counts.json")
    for count, refused in ((2_000, False), (2_001, True)):
        content["total"][0] = count
        (tmp_path / "counts.json").write_text(json.dumps(content))
        if refused:
            with pytest.raises(InvalidData, match="are no counts of 'colours'"):
                Aggregator.load(tmp_path / "counts.json")
        else:
            with pytest.warns(UserWarning, match="these counts have no seal"):
                assert Aggregator.load(tmp_path / "counts.json").total[0] == count


def test_totals_of_another_shape_or_type_are_refused(tmp_path: Path) -> None:
    hostile: dict[str, list[object]] = {
        "two_rows": [[[0] * 20] * 3, [0] * 40, [[0] * 20, [0] * 19], [[0.0] * 20] * 2, [[[0]]], 0],
        "half_points": [[0] * 20, [1e999] * 20, [float("nan")] * 20, ["0.0"] * 20, [[0.0] * 20]],
    }
    for spec, totals in hostile.items():
        counted(PLANS[spec], sample(PLANS[spec])).save(tmp_path / "counts.json")
        content = unsealed(tmp_path / "counts.json")
        for total in totals:
            (tmp_path / "counts.json").write_text(json.dumps({**content, "total": total}))
            with pytest.raises(InvalidData, match="are no counts of 'colours'"):
                Aggregator.load(tmp_path / "counts.json", [PLUGIN])


def test_no_reports_add_up_to_nothing(tmp_path: Path) -> None:
    Aggregator(PLANS["oue"]).save(tmp_path / "counts.json")
    assert Aggregator.load(tmp_path / "counts.json").n == 0
    content = unsealed(tmp_path / "counts.json")
    (tmp_path / "counts.json").write_text(json.dumps({**content, "total": [1] + [0] * 19}))
    with pytest.raises(InvalidData, match="are no counts of 'colours'"):
        Aggregator.load(tmp_path / "counts.json")


def test_counts_of_a_plugin_need_the_plugin(tmp_path: Path) -> None:
    counted(PLANS["two_rows"], sample(PLANS["two_rows"])).save(tmp_path / "counts.json")
    with pytest.raises(InvalidData, match=r"counts\.json: plan: no protocol here is called 'two_"):
        Aggregator.load(tmp_path / "counts.json")


def test_sums_cannot_overflow(tmp_path: Path) -> None:
    plan = Plan("x", 2, "oue", 1.0)
    Aggregator(plan).save(tmp_path / "counts.json")
    content = unsealed(tmp_path / "counts.json")
    content.update(n=LIMIT - 1, total=[LIMIT - 1, 0])
    (tmp_path / "counts.json").write_text(json.dumps(content))
    with pytest.warns(UserWarning, match="these counts have no seal"):
        server = Aggregator.load(tmp_path / "counts.json")
    with pytest.raises(InvalidData, match="too many"):
        server.merge(server)


def test_nothing_counted_is_nothing_to_estimate() -> None:
    with pytest.raises(InvalidData, match="no report was counted"):
        Aggregator(PLANS["grr"]).estimate()


def test_frequencies_are_processed_by_the_plans_method_or_another() -> None:
    plan = Plan("colours", 20, "grr", 1.0, "norm_sub")
    server = counted(plan, sample(plan))
    expected = ldp3.postprocess("norm_sub")(server.estimate())
    assert (server.frequencies() == expected).all()
    assert (server.frequencies("Norm-Sub") == expected).all()


def test_threads_may_add_to_one_server() -> None:
    plan = PLANS["oue"]
    rows = plan.wire.encode(sample(plan, 400))
    single, ids = [row.tobytes() for row in rows], [f"r{i}" for i in range(400)]
    expected = counted(plan, sample(plan, 400))
    for number in range(20):
        server, start = Aggregator(plan), Barrier(8)

        def work(part: int, server: Aggregator = server, start: Barrier = start) -> None:
            start.wait()
            for i in range(part, 400, 8):  # and everybody sends the first ten
                server.add(single[i])
                server.add([single[i], b"short"], [ids[i], None])
                server.add(single[i % 10 : i % 10 + 1], [ids[i % 10]])

        switch = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            with ThreadPoolExecutor(8) as pool:
                list(pool.map(work, range(8)))
        finally:
            sys.setswitchinterval(switch)
        assert (server.n, server.identified) == (800, 400), number
        assert server.refused == {DUPLICATE: 400, LENGTH: 400}
        assert (server.total == 2 * expected.total).all()


def test_a_server_travels_and_goes_on() -> None:
    plan = PLANS["grr"]
    server = counted(plan, sample(plan, 100))
    copy = pickle.loads(pickle.dumps(server))
    copy.add(plan.wire.encode(sample(plan, 50)).tobytes())
    assert (server.n, copy.n) == (100, 150)


def test_what_is_in_two_parts_is_not_added_up(tmp_path: Path) -> None:
    plan = PLANS["grr"]
    one, two = (counted(plan, sample(plan, 100)) for _ in range(2))
    one.save(tmp_path / "one.json")
    copy = Aggregator.load(tmp_path / "one.json")
    copy.add(plan.wire.encode(sample(plan, 50)).tobytes())
    whole = Aggregator(plan)
    whole.merge(one)
    whole.merge(two)
    for again in (one, two, copy, whole):
        with pytest.raises(InvalidData, match="the same reports are in both parts"):
            whole.merge(again)
    assert whole.n == 200


def test_copies_of_an_empty_server_count_for_themselves() -> None:
    plan = PLANS["grr"]
    empty = Aggregator(plan)
    workers = [pickle.loads(pickle.dumps(empty)) for _ in range(3)]
    for worker in workers:
        worker.add(sample(plan, 10))
        empty.merge(worker)
    assert empty.n == 30
