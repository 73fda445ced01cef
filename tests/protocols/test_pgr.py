"""Projective geometry response: its geometry, its numbers, and its three ways to simulate."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ldp3
from ldp3 import LDPError, stream
from ldp3.arrays import IntArray
from ldp3.kernels import transforms
from ldp3.protocols import incidence
from ldp3.protocols.pgr import PGR
from ldp3.protocols.singer import Geometry, prime_factors, primitive_polynomial
from ldp3.randomness import WORDS
from ldp3.types import Tally
from ldp3.verification.base import ALPHA
from ldp3.verification.statistics import mean_p
from tests.laws import same_law_p

SPACES = [(2, 3), (3, 3), (4, 3), (5, 3), (7, 3), (8, 3), (9, 3), (16, 3), (25, 3), (27, 3)]
SPACES += [(2, 8), (3, 7), (4, 5), (9, 4), (2, 2), (4, 2), (53, 2)]


def covariances(samples: IntArray) -> NDArray[np.float64]:
    """Products of deviations, one column per pair of columns: their means are the covariances."""
    away = samples - samples.mean(axis=0)
    first, second = np.triu_indices(samples.shape[1])
    return away[:, first] * away[:, second]


@pytest.mark.parametrize(("q", "t"), SPACES)
def test_any_two_hyperplanes_share_the_same_number_of_points(q: int, t: int) -> None:
    space = Geometry(q, t)
    inside = space.members.astype(np.int64)
    assert inside.sum() == space.points_of_a_hyperplane
    shared = {int(inside @ np.roll(inside, shift)) for shift in range(1, space.points)}
    assert shared == {(q ** (t - 2) - 1) // (q - 1)}


@pytest.mark.parametrize(
    ("p", "m", "number"),
    [(2, 3, 0b011), (2, 8, 0b11101), (2, 22, 0b11), (3, 7, 16), (3, 14, 5), (5, 4, 37), (7, 3, 23)],
)
def test_the_first_primitive_polynomial_is_fixed(p: int, m: int, number: int) -> None:
    f = primitive_polynomial(p, m)
    assert sum(a * p**j for j, a in enumerate(f)) == number


def test_no_earlier_polynomial_is_primitive() -> None:
    p, m = 3, 4
    first = sum(a * p**j for j, a in enumerate(primitive_polynomial(p, m)))
    for number in range(first):
        f = [number // p**j % p for j in range(m)]
        state, steps = (0, 0, 0, 1), 0
        while steps == 0 or (state != (0, 0, 0, 1) and steps < p**m):
            new = -sum(a * s for a, s in zip(f, state, strict=True)) % p
            state, steps = (*state[1:], new), steps + 1
        assert steps != p**m - 1


def test_the_sequence_is_the_recurrence_term_by_term() -> None:
    for q, t in ((4, 4), (5, 3), (9, 3)):
        space = Geometry(q, t)
        p, f = space.prime, space.polynomial
        s = [0] * (len(f) - 1) + [1]
        while len(s) < 300:
            s.append(-sum(a * x for a, x in zip(f, s[-len(f) :], strict=True)) % p)
        assert space.sequence(0, 300).tolist() == s
        assert space.sequence(117, 100).tolist() == s[117:217]


@pytest.mark.parametrize(("epsilon", "d"), [(0.5, 5), (1.0, 13), (2.0, 21), (4.0, 7)])
def test_p_and_q_are_what_the_law_of_reports_gives(epsilon: float, d: int) -> None:
    oracle = PGR(epsilon, d)
    points, blind = oracle.points, oracle.blind / WORDS
    law = np.full((d, points), blind / points)
    for v in range(d):
        law[v, (oracle.geometry.difference_set.astype(int) - v) % points] += (1 - blind) / oracle.k
    held = np.array([oracle.supports(np.arange(points), w) for w in range(d)])
    support = law @ held.T
    assert np.allclose(np.diag(support), oracle.p, rtol=1e-12)
    assert np.allclose(support[~np.eye(d, dtype=bool)], oracle.q, rtol=1e-12)
    worst = (law.max(axis=0) / law.min(axis=0)).max()
    assert worst == pytest.approx(float(oracle.support_ratio), rel=1e-12)
    assert worst == pytest.approx(np.exp(epsilon), rel=1e-12)


@pytest.mark.parametrize(
    ("d", "epsilon", "q", "points"),
    [(128, 1.0, 4, 341), (128, 4.0, 127, 128), (1024, 0.5, 3, 1093), (1024, 1.0, 4, 1365),
     (1024, 4.0, 53, 2863), (65_536, 2.0, 9, 66_430), (2**20, 1.0, 4, 1_398_101)],
)  # fmt: skip
def test_the_order_is_chosen_by_variance(d: int, epsilon: float, q: int, points: int) -> None:
    oracle = PGR(epsilon, d)
    assert (oracle.order, oracle.points) == (q, points)


@pytest.mark.parametrize(
    ("epsilon", "share"),
    [(0.1, 0.03), (0.3, 0.03), (0.36, 0.04), (0.5, 0.03), (1.0, 0.03), (1.5, 0.03), (1.93, 0.04),
     (2.0, 0.03)],
)  # fmt: skip
def test_it_is_nearly_as_accurate_as_subset_selection(epsilon: float, share: float) -> None:
    for d in (128, 129, 134, 158, 200, 256, 365, 700, 1_100, 5_000, 66_431, 10**6):
        best = ldp3.oracle("ss", epsilon, d).variance(1)  # type: ignore[attr-defined]
        assert PGR(epsilon, d).variance(1) <= (1 + share) * best


def test_where_points_beyond_the_domain_cost_more_it_is_grr() -> None:
    oracle, best = PGR(4.0, 128), ldp3.oracle("ss", 4.0, 128)
    assert oracle.k == 1
    assert oracle.variance(1) / best.variance(1) == pytest.approx(1.076, abs=5e-4)  # type: ignore[attr-defined]


@pytest.mark.parametrize("most", [2**10, 2**40, 2**61])
def test_counts_of_any_size_are_decoded_exactly(most: int) -> None:
    space, d = Geometry(4, 5), 300
    y = stream(0, most).integers(0, most // space.points, space.points)
    y[7] = most
    counts = transforms.correlation(y, space.members, d)
    for v in (0, 1, 150, 299):
        held = space.members[(np.arange(space.points) + v) % space.points]
        assert int(counts[v]) == sum(map(int, y[held]))


@pytest.mark.parametrize("few", [1, 50, 400])
def test_points_are_transformed_some_at_a_time(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    space, rng = Geometry(3, 7), stream(0, few)
    y = rng.integers(0, 1000, space.points)
    at_once = transforms.correlation(y, space.members, 100)
    monkeypatch.setattr(transforms, "_FEW", few)
    assert np.array_equal(transforms.correlation(y, space.members, 100), at_once)


def test_a_machine_whose_fft_is_wrong_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    true = np.fft.irfft
    monkeypatch.setattr(np.fft, "irfft", lambda *a: true(*a) + 0.4)
    with pytest.raises(LDPError, match="The rounding of an FFT is larger than its bound"):
        transforms.correlation(np.arange(7), Geometry(2, 3).members, 7)


@pytest.mark.parametrize(("q", "t"), [(2, 4), (3, 3), (4, 3), (5, 3), (9, 3)])
def test_coordinates_say_which_hyperplane_holds_which_point(q: int, t: int) -> None:
    space = Geometry(q, t)
    places, points = incidence.Coordinates(space), space.points
    vectors = places.of_hyperplanes
    assert sorted(vectors.reshape(-1)) == list(range(1, q**t))
    u, v = (n[:, None] // q ** np.arange(t) % q for n in (vectors[-1], places.of_points(points)))
    product = np.zeros((points, points), dtype=np.int64)
    for i in range(t):
        product = places.add[product, places.multiply[u[:, i][:, None], v[:, i]]]
    around = (np.arange(points)[:, None] + np.arange(points)) % points
    assert ((product == 0) == space.members[around]).all()


@pytest.mark.parametrize(("q", "t"), [(2, 4), (3, 3), (4, 3)])
def test_all_ways_to_simulate_have_one_law(q: int, t: int) -> None:
    space, runs = Geometry(q, t), 3_000
    keep = np.zeros(space.points, dtype=np.int64)
    keep[[0, 3, 7]] = (2, 3, 1)
    rng = stream(0, q)
    one = np.array([incidence.by_point(space, keep, rng) for _ in range(runs)])
    other = np.array([incidence.by_butterfly(space, keep, rng) for _ in range(runs)])
    many = np.array([incidence.by_point(space, 100 * keep, rng) for _ in range(runs)])
    most = np.array([incidence.by_butterfly(space, 100 * keep, rng) for _ in range(runs)])
    assert same_law_p(one[:, :4], other[:, :4]) > ALPHA
    for a, b in ((one, other), (many, most)):
        assert (a.sum(axis=1) == b.sum(axis=1)).all()
        p = mean_p((a - b).astype(float), 0.0)
        assert p.min() * p.size > ALPHA
        p = mean_p(covariances(a) - covariances(b), 0.0)
        assert p.min() * p.size > ALPHA


def test_the_butterfly_is_taken_where_it_is_cheaper(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []

    def watched(name: str, way: Callable[..., IntArray]) -> Callable[..., IntArray]:
        def work(*args: Any) -> IntArray:
            taken.append(name)
            return way(*args)

        return work

    for name in ("by_point", "by_butterfly"):
        monkeypatch.setattr(incidence, name, watched(name, getattr(incidence, name)))
    small, large = Geometry(2, 6), Geometry(11, 3)
    for space in (small, large):
        for users in (1, 10**9):
            incidence.simulated(space, np.full(space.points, users), 5, stream(0))
    assert taken == ["by_point", "by_butterfly", "by_point", "by_point"]


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("pgr(q=6)", "PGR: q must be a prime power, such as .*, got 6"),
        ("pgr(q=1)", "PGR: q must be a prime power"),
        ("pgr(q=4.0)", "PGR: q must be a prime power"),
        ("pgr(q=True)", "PGR: q must be a prime power"),
        ("pgr(q=99991)", "PGR: d=100000 and q=99991 must need at most 2\\^28 points"),
        ("pgr(design=0.5)", "PGR: design must be between 0 and ½ or 'minimax', got 0.5"),
        ("pgr(design=0)", "PGR: design must be between 0 and ½"),
        ("pgr(design='least')", "PGR: design must be between 0 and ½"),
        ("pgr(q=4, design=0.1)", "PGR: design chooses what is given: leave one out"),
    ],
)
def test_bad_parameters_are_refused(spec: str, reason: str) -> None:
    with pytest.raises(LDPError, match=reason):
        ldp3.oracle(spec, 1.0, 100_000)


def test_every_report_can_be_honest_and_no_other_number_is_a_report() -> None:
    oracle = PGR(1.0, 100)  # of 121 points
    assert oracle.valid(np.arange(oracle.points)).all()
    assert not oracle.valid(np.array([oracle.points, -1])).any()
    seen = np.unique(oracle.perturb(np.zeros(20_000, dtype=np.int64), stream(2)))
    assert len(seen) == oracle.points


def test_a_tally_that_its_reports_cannot_give_is_refused() -> None:
    oracle = PGR(1.0, 100)
    with pytest.raises(LDPError, match="PGR: these are no counts of n=5 reports"):
        oracle.estimate(Tally(np.ones(oracle.points, dtype=np.int64), 5))


def test_factors_are_primes() -> None:
    assert prime_factors(2**22 - 1) == [3, 23, 89, 683]
    assert prime_factors(1) == []


@pytest.mark.parametrize(("epsilon", "d"), [(1.0, 16), (2.0, 64), (3.0, 256)])
def test_the_channel_is_the_incidence_whatever_the_length_of_its_transforms(
    epsilon: float, d: int
) -> None:
    oracle = PGR(epsilon, d)
    points, blind = oracle.points, oracle.blind / WORDS
    once = prime_factors(points)[-1] <= 31
    assert (oracle.channel._length == points) == once == (d == 16)
    inside = oracle.geometry.members[np.add.outer(np.arange(points), np.arange(d)) % points]
    law = (1 - blind) / oracle.k * inside + blind / points
    held, told = stream(0).normal(size=(2, d)), stream(1).normal(size=(2, points))
    np.testing.assert_allclose(oracle.channel.forward(held), held @ law.T, atol=1e-12)
    np.testing.assert_allclose(oracle.channel.backward(told), told @ law, atol=1e-12)
