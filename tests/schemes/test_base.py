"""What every scheme has in common, on a small one made for it."""

from dataclasses import dataclass
from functools import cached_property
from math import exp, prod

import numpy as np
import pytest

import ldp3
from ldp3.errors import InvalidData, InvalidReport
from ldp3.randomness import WORDS, Words
from ldp3.schemes.base import Group, Scheme, View, whole_shares
from ldp3.tails import binomial_p
from ldp3.types import Estimate, Tally


def words_of(seed: int) -> Words:
    rng = ldp3.stream(seed)
    return Words(lambda n: rng.integers(0, WORDS - 1, n, dtype=np.uint64, endpoint=True))


FALSE_ALARM = 1e-6  # of each statistical assertion; seeds are fixed


@dataclass(frozen=True)
class Lots(Scheme):
    """Three groups over two attributes: the first, the second in bins, and both."""

    shape: tuple[int, ...] = (3, 5)

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.shape

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        views = View(((0, None),)), View(((1, 2),)), View(((0, None), (1, None)))
        specs = "grr", "grr", "pgr"
        shares = whole_shares([1, 2, 3])
        return tuple(
            Group(view, share, ldp3.oracle(spec, epsilon=self.epsilon, d=view.size(self.sizes)))
            for view, share, spec in zip(views, shares, specs, strict=True)
        )

    def estimate(self, tally: Tally) -> Estimate:
        group, part = self.groups[2], self.split(tally)[2]
        return group.oracle.estimate(part)


@pytest.fixture
def lots() -> Lots:
    scheme = Lots(1.0, 15)
    scheme.require_groups()
    return scheme


def test_shares_are_whole_and_add_up() -> None:
    for weights in ([0.1] * 10, [1e-300, 1.0], [0.3, 0.7]):
        shares = whole_shares(weights)
        assert sum(shares) == WORDS
        expected = [w / sum(weights) for w in weights]
        assert np.allclose([share / WORDS for share in shares], expected)


def test_a_view_counts_cells_with_the_last_part_fastest() -> None:
    view = View(((1, None), (0, 2)))
    records = np.array([[0, 0], [4, 2], [2, 1]])
    assert view.cells((5, 3), records).tolist() == [0, 5, 2]
    assert view.size((5, 3)) == 6


@pytest.mark.parametrize(
    ("fine", "coarse", "sees"),
    [
        (((0, None), (1, None)), ((1, 4),), True),
        (((0, 8),), ((0, 4),), True),
        (((0, 6),), ((0, 4),), False),
        (((0, 4),), ((0, None),), False),
        (((0, None),), ((1, None),), False),
    ],
)
def test_a_view_knows_what_it_sees(
    fine: tuple[tuple[int, int | None], ...], coarse: tuple[tuple[int, int | None], ...], sees: bool
) -> None:
    assert View(fine).refines(View(coarse)) is sees


def test_records_are_numbered_with_the_last_attribute_fastest(lots: Lots) -> None:
    assert lots.records([0, 4, 5, 14]).tolist() == [[0, 0], [0, 4], [1, 0], [2, 4]]


def test_draw_and_perturb_have_the_law_of_the_channel(lots: Lots) -> None:
    n, value = 40_000, 8
    channel = lots.channel
    assert channel is not None
    law = channel.forward(np.eye(15)[value])
    assert law.sum() == pytest.approx(1)
    words = words_of(1)
    drawn = [lots.draw(value, words).to_bytes(lots.layout.size, "little") for _ in range(n)]
    rows = np.frombuffer(b"".join(drawn), np.uint8).reshape(n, -1)
    made = lots.perturb(np.full(n, value), ldp3.stream(2))
    simulated = lots.simulate(n * np.eye(15, dtype=np.int64)[value], ldp3.stream(3))
    for tally in (lots.aggregate(rows), lots.aggregate(made), simulated):
        counts = channel.counts(tally.total)
        assert counts.sum() == n == tally.n
        assert binomial_p(counts, n, law).min() > FALSE_ALARM / len(law)


def test_whole_records_are_as_private_as_the_worst_group(lots: Lots) -> None:
    channel = lots.channel
    assert channel is not None
    laws = np.array([channel.forward(row) for row in np.eye(15)])
    worst = (laws.max(axis=0) / laws.min(axis=0)).max()
    assert worst == pytest.approx(float(lots.privacy_ratio or 0), rel=1e-9)
    assert worst <= exp(1.0) * (1 + 1e-12)


def test_a_report_of_a_known_group_takes_no_lot(lots: Lots) -> None:
    draws = {lots.draw(7, words_of(seed), group=1) & 0xFF for seed in range(20)}
    assert draws == {1}


def test_tallies_add_and_come_apart(lots: Lots) -> None:
    rng = ldp3.stream(4)
    first, second = (lots.aggregate(lots.perturb(np.arange(n) % 15, rng)) for n in (100, 31))
    parts = lots.split(first + second)
    assert sum(part.n for part in parts) == 131
    for group, part in zip(lots.groups, parts, strict=True):
        assert part.total.shape == group.oracle.empty.total.shape
    lots.require_tally(first + second)
    lots.require_tally(lots.empty)


def test_tallies_that_no_reports_give_are_refused(lots: Lots) -> None:
    tally = lots.aggregate(lots.perturb(np.arange(60) % 15, ldp3.stream(5)))
    for wrong in (Tally(tally.total, 61), Tally(tally.total + 1, 60), Tally(tally.total[1:], 60)):
        with pytest.raises(InvalidData):
            lots.require_tally(wrong)


def test_reports_of_no_group_or_with_stray_bytes_are_refused(lots: Lots) -> None:
    rows = lots.perturb(np.zeros(50, dtype=int), ldp3.stream(6))
    assert lots.valid(rows).all()
    unknown, other = rows.copy(), rows.copy()
    unknown[3, 0] = 3
    other[7, 1] = 255
    for bad, place in ((unknown, 3), (other, 7)):
        assert np.flatnonzero(~lots.valid(bad)).tolist() == [place]
        with pytest.raises(InvalidReport, match=f"report {place} "):
            lots.aggregate(bad)


@dataclass(frozen=True)
class Wide(Lots):
    """One group for each of 40 attributes."""

    most_values = 2**63 - 1
    shape: tuple[int, ...] = (2,) * 40

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        grr = ldp3.oracle("grr", epsilon=self.epsilon, d=2)
        shares = whole_shares([1] * 40)
        return tuple(Group(View(((a, None),)), s, grr) for a, s in enumerate(shares))


def test_records_beyond_32_bits_are_dealt_out_without_a_histogram() -> None:
    scheme = Wide(1.0, prod((2,) * 40))
    records = np.array([[1] * 40, [0] * 40])
    tally = scheme.simulate_records(records, np.array([10**9, 1]), ldp3.stream(0))
    assert tally.n == 10**9 + 1
    assert scheme.records([2**40 - 1]).tolist() == [[1] * 40]
    assert scheme.valid(scheme.perturb(np.array([2**40 - 1] * 9), ldp3.stream(0))).all()


def test_everybody_is_dealt_to_one_group_whether_few_or_many_hold_a_record() -> None:
    scheme, rng = Wide(1.0, 2**40), ldp3.stream(3)
    records = np.stack(np.unravel_index(np.arange(600), scheme.sizes), axis=1)
    counts = np.resize([1, 3, 10, 11, 500, 0], 600)  # up to ten people have lots of their own
    held = np.zeros((40, 600), dtype=np.int64)
    for own, (some, people) in zip(held, scheme._dealt(records, counts, rng), strict=True):
        np.add.at(own, np.ravel_multi_index(tuple(some.T), scheme.sizes), people)
    assert held.sum(axis=0).tolist() == counts.tolist()
    for kind in np.unique(counts[counts > 0]):
        mine = counts == kind
        p = binomial_p(held[:, mine].sum(axis=1), int(counts[mine].sum()), 1 / 40)
        assert p.min() > FALSE_ALARM / 200
    assert scheme.simulate_records(records, counts, rng).n == counts.sum()
