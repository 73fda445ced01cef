"""Shares of groups, their certificate, and the limit of every mechanism."""

from functools import partial
from itertools import combinations, product
from math import comb, exp

import numpy as np
import pytest

from ldp3.errors import InvalidParameter
from ldp3.protocols.grr import GRR
from ldp3.protocols.pgr import PGR
from ldp3.protocols.pure import PureOracle
from ldp3.protocols.subset_selection import SS
from ldp3.schemes import shares
from ldp3.schemes.attributes import SMP, Groups, Pairs


@pytest.mark.parametrize(
    "oracle", [SS(1.0, 7), SS(0.5, 4, k=3), SS(1.0, 2), GRR(2.0, 5), GRR(1.0, 2)], ids=str
)
def test_the_law_of_a_report_is_that_of_all_its_reports(oracle: PureOracle) -> None:
    d, k = oracle.d, oracle.support_size
    assert k is not None
    sets = np.array([[v in s for v in range(d)] for s in combinations(range(d), k)], dtype=float)
    ratio = float(oracle.support_ratio or 0)
    w = np.linspace(-1, 1, d) ** 3
    w -= w.mean()
    f = np.arange(1, d + 1) / np.arange(1, d + 1).sum()
    base, slope = shares.law(oracle)
    scores, given = sets @ w / (oracle.p - oracle.q), []
    for v in range(d):
        law = np.where(sets[:, v] > 0, ratio, 1.0)
        law /= law.sum()
        given.append(law @ scores**2 - (law @ scores) ** 2)
    assert f @ given == pytest.approx(base * (w**2).sum() + slope * (w**2) @ f, rel=1e-9)


@pytest.mark.parametrize("d", [2, 5, 40])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_information_is_the_closed_form(epsilon: float, d: int) -> None:
    closed = shares.best_information(epsilon, d)
    assert shares.information(SS(epsilon, d)) == pytest.approx(closed, rel=1e-9)
    x = exp(epsilon)
    expected = (x - 1) ** 2 / (d + x - 1) ** 2
    assert shares.information(GRR(epsilon, d)) == pytest.approx(expected, rel=1e-9)


def test_information_of_geometry_is_nearly_that_of_subsets() -> None:
    ratio = shares.information(PGR(1.0, 400)) / shares.best_information(1.0, 400)
    assert 0.96 < ratio < 1


@pytest.mark.parametrize(("epsilon", "d"), [(1.0, 8), (1.0, 200), (4.0, 128), (2.0, 20_000)])
def test_a_shorter_report_costs_little(epsilon: float, d: int) -> None:
    chosen = shares.best_oracle(epsilon, d)
    assert shares.information(chosen) >= shares.best_information(epsilon, d) / 1.05
    assert chosen.report_bits <= shares.LONGEST_SUBSET


LOAD = shares.loads([shares.all_tables(1, 3), shares.all_tables(2, 3)], (2, 3, 4))


def _known(told: dict[tuple[int, ...], float], interaction: tuple[int, ...]) -> float:
    return sum(some for group, some in told.items() if set(interaction) <= set(group))


def test_no_shares_beat_the_certificate() -> None:
    sizes, rng = (2, 3, 4), np.random.default_rng(0)
    found = shares.best_shares(sizes, 1.0, tuple(LOAD.items()))
    assert found.certified <= found.loss <= found.certified * 1.01
    groups = shares.candidates(sizes, list(LOAD))
    told = [shares.best_information(1.0, shares.cells(S, sizes)) for S in groups]
    for _ in range(200):
        other = rng.dirichlet(np.full(len(groups), 0.5))
        told_of = dict(zip(groups, other * told, strict=True))
        loss = shares.loss_with(partial(_known, told_of), sizes, LOAD)
        assert loss >= found.certified * (1 - 1e-9)


def test_no_mechanism_beats_the_limit() -> None:
    """Of random ε-LDP matrices on all 24 records, by their Fisher information."""
    sizes, rng, epsilon = (2, 3, 4), np.random.default_rng(1), 1.0
    limit = shares.limit(epsilon, sizes, LOAD)
    every = np.array(list(product(*map(range, sizes))))
    wanted = np.zeros((24, 24))
    for S, weight in LOAD.items():
        same = (every[:, None, list(S)] == every[None, :, list(S)]).all(axis=2)
        wanted += weight * same
    for density in (0.1, 0.25, 0.5):
        reports = 1 + (exp(epsilon) - 1) * (rng.random((3000, 24)) < density)
        reports /= reports.sum(axis=1).mean() * len(reports) / 24  # columns sum to nearly one
        told = reports.T @ (reports / reports.mean(axis=1, keepdims=True))
        centre = np.eye(24) - 1 / 24
        loss = np.trace(wanted @ np.linalg.pinv(centre @ told @ centre))
        assert loss >= limit * 0.99  # these columns sum to one but for a percent
    assert limit < Groups(epsilon, 24, sizes).loss < 1.1 * limit


def test_sampling_reaches_the_limit_where_attributes_are_large() -> None:
    assert SMP(1.0, 30**3, (30, 30, 30)).above_limit < 0.04  # pgr tells up to 3 % less than ss


def test_groups_are_few_and_their_shares_are_not_tiny() -> None:
    scheme = Groups(1.0, 2**12, (2,) * 12, targets=(2,))
    assert len(scheme.groups) <= 80
    assert min(g.share for g in scheme.groups) > 2**64 / 80 / 100
    assert scheme.above_limit < 0.25
    assert Pairs(1.0, 2**12, (2,) * 12, targets=(2,)).above_limit > 0.38


def test_a_table_with_too_many_cells_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="merge values"):
        _ = Groups(1.0, 4_000_000, (2_000, 2_000)).groups


@pytest.mark.parametrize("way", [3, 4, 31, 62])
def test_more_tables_than_can_be_planned_are_refused(way: int) -> None:
    said = f"{comb(62, way):,} tables of 62 attributes are too many, or too large"
    with pytest.raises(InvalidParameter, match=said):
        _ = Groups(1.0, 2**62, (2,) * 62, targets=(way,)).groups
