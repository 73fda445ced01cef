"""Bytes and back, and everything that can happen to them on the way."""

from pathlib import Path

import numpy as np
import pytest

import ldp3
from ldp3.arrays import Reports
from ldp3.collection.aggregator import Aggregator
from ldp3.collection.plan import Plan, deployable
from ldp3.collection.wire import IMPOSSIBLE, LENGTH, OTHER_COLLECTION, OTHER_VERSION, TAG_BYTES
from ldp3.kinds import look_up
from ldp3.protocols.base import FrequencyOracle
from ldp3.randomness import Words
from tests.collection import suited

PLUGIN = Path(__file__).with_name("two_rows.py")
PLANS = [
    Plan("wire", suited(spec, d), spec, 1.0)
    for spec in deployable()
    for d in (2, 5, 64, 65, 300, 70_000)
    if d <= look_up(FrequencyOracle, spec).most_values
    and ldp3.oracle(spec, 1.0, d).report_bits < 1_000
] + [Plan("wire", 9, "olh(g=70000)", 1.0), Plan("wire", 9, "olh(g=300)", 1.0)]
NAMES = [f"{plan.protocol}-{plan.d}" for plan in PLANS]
SMALL = [Plan("wire", 5, spec, 1.0) for spec in ("grr", "oue", "olh", "ss")]


def sample(plan: Plan, n: int) -> tuple[Reports, np.ndarray]:
    rng = ldp3.stream(0, plan.protocol, plan.d)
    reports = plan.oracle.perturb(rng.integers(0, plan.d, size=n), rng)
    return reports, plan.wire.encode(reports)


@pytest.mark.parametrize("plan", PLANS, ids=NAMES)
def test_decoding_undoes_encoding(plan: Plan) -> None:
    reports, rows = sample(plan, 100)
    refused: dict[str, int] = {}
    again, kept = plan.wire.accept(rows, refused)
    assert kept.all()
    assert not refused
    assert (again == reports).all()
    assert (plan.oracle.aggregate(again).total == plan.oracle.aggregate(reports).total).all()


@pytest.mark.parametrize("plan", PLANS, ids=NAMES)
def test_a_report_takes_its_bits_rounded_up_and_eight_bytes_more(plan: Plan) -> None:
    _, rows = sample(plan, 3)
    assert rows.shape[1] == plan.report_bytes == 8 + -(-plan.oracle.report_bits // 8)


@pytest.mark.parametrize("plan", SMALL, ids=lambda plan: plan.protocol)
def test_every_flipped_byte_is_refused_or_one_other_report(plan: Plan) -> None:
    _, rows = sample(plan, 3)
    whole = Aggregator(plan)
    whole.add(rows[[0, 2]].tobytes())
    for at in range(plan.report_bytes):
        for flip in range(1, 256):
            damaged = rows.copy()
            damaged[1, at] ^= flip
            server = Aggregator(plan)
            server.add(damaged.tobytes())
            if at < TAG_BYTES:
                reason = OTHER_VERSION if at == 0 else OTHER_COLLECTION
                assert (server.n, server.refused) == (2, {reason: 1})
                assert (server.total == whole.total).all()
                continue
            valid = plan.wire.accept(damaged[1:2], {})[1][0]
            assert (server.n, server.refused) == ((3, {}) if valid else (2, {IMPOSSIBLE: 1}))
            assert (server.total - whole.total >= 0).all()
            assert (server.total - whole.total <= (1 if valid else 0)).all()


@pytest.mark.parametrize("plan", SMALL, ids=lambda plan: plan.protocol)
def test_a_report_cut_anywhere_takes_no_other_with_it(plan: Plan) -> None:
    _, rows = sample(plan, 5)
    size = plan.report_bytes
    whole = Aggregator(plan)
    whole.add(rows[[0, 1, 3, 4]].tobytes())
    for kept in range(1, size):
        damaged = rows[:2].tobytes() + rows[2].tobytes()[:kept] + rows[3:].tobytes()
        server = Aggregator(plan)
        server.add(damaged)
        assert (server.total == whole.total).all()  # what follows the cut is found again
        assert (server.n, server.refused) == (4, {LENGTH: 1})
        server = Aggregator(plan)
        server.add(rows.tobytes()[: 4 * size + kept])
        assert (server.n, server.refused) == (4, {LENGTH: 1})
        server = Aggregator(plan)
        server.add([row.tobytes() for row in rows[:4]] + [rows[4].tobytes()[:kept]])
        assert (server.n, server.refused) == (4, {LENGTH: 1})


@pytest.mark.parametrize("plan", SMALL, ids=lambda plan: plan.protocol)
def test_noise_between_reports_is_skipped(plan: Plan) -> None:
    _, rows = sample(plan, 50)
    rng = ldp3.stream(0, "noise")
    noise = [rng.bytes(int(length)) for length in rng.integers(0, 60, size=51)]
    data = noise[0] + b"".join(r.tobytes() + x for r, x in zip(rows, noise[1:], strict=True))
    server, whole = Aggregator(plan), Aggregator(plan)
    server.add(data)
    whole.add(rows.tobytes())
    assert server.n == 50
    assert (server.total == whole.total).all()
    assert sum(server.refused.values()) > 0


def test_reports_of_another_collection_version_or_epsilon_are_refused() -> None:
    plan = Plan("pages", 5, "grr", 1.0)
    _, rows = sample(plan, 10)
    for other in (Plan("pages", 5, "grr", 1.1), Plan("other", 5, "grr", 1.0)):
        server = Aggregator(other)
        server.add(rows.tobytes())
        assert (server.n, server.refused) == (0, {OTHER_COLLECTION: 10})
    rows[:, 0] = 1
    server = Aggregator(plan)
    server.add(rows.tobytes())
    server.add(list(map(bytes, rows)))
    assert (server.n, server.refused) == (0, {OTHER_VERSION: 20})


def test_two_small_fields_are_one_number_for_client_and_server() -> None:
    plan = Plan("x", 300, "coin_and_value", 1.0, plugins=[PLUGIN])
    assert plan.report_bytes == 8 + 2  # 1 bit and 9
    words = Words.drawn(ldp3.stream(0))
    drawn = [plan.oracle.draw(299, words) for _ in range(100)]
    rows = np.array([list(plan.wire.write(report)) for report in drawn], dtype=np.uint8)
    reports, kept = plan.wire.accept(rows, {})
    assert kept.all()
    assert [int(coin) + 2 * int(value) for coin, value in reports] == drawn
    assert (plan.wire.encode(reports) == rows).all()


def test_impossible_reports_are_refused() -> None:
    def count(plan: Plan, payload: int) -> dict[str, int]:
        server = Aggregator(plan)
        server.add([plan.tag + payload.to_bytes(plan.wire.payload_bytes, "little")])
        return server.refused

    refused = {IMPOSSIBLE: 1}
    assert count(Plan("x", 5, "grr", 1.0), 4) == {}
    assert count(Plan("x", 5, "grr", 1.0), 5) == refused
    assert count(Plan("x", 70_000, "grr", 1.0), 70_000) == refused
    assert count(Plan("x", 12, "oue", 1.0), 2**12 - 1) == {}
    assert count(Plan("x", 12, "oue", 1.0), 2**12) == refused
    assert count(Plan("x", 12, "olh", 1.0), 3 << 64) == {}
    assert count(Plan("x", 12, "olh", 1.0), 4 << 64) == refused
    assert count(Plan("x", 12, "ss(k=3)", 1.0), 0b111) == {}
    assert count(Plan("x", 12, "ss(k=3)", 1.0), 0b1111) == refused
    assert count(Plan("x", 12, "ss(k=3)", 1.0), 0b11) == refused


@pytest.mark.parametrize("plan", SMALL, ids=lambda plan: plan.protocol)
def test_any_bytes_at_all_leave_the_server_standing(plan: Plan) -> None:
    rng = ldp3.stream(0, "any", plan.protocol)
    for length in (0, 1, 7, 8, 9, 1000):
        for _ in range(50):
            server = Aggregator(plan)
            server.add(rng.bytes(length))
            size = plan.report_bytes
            assert server.n == 0
            assert -(-length // size) - 1 <= sum(server.refused.values()) <= -(-length // size)
