"""Resolutions: what is joined is least squares, unbiased, with the variance that is stated."""

import numpy as np
import pytest

import ldp3
from ldp3.arrays import FloatArray, IntArray, apportion
from ldp3.errors import InvalidData, InvalidParameter
from ldp3.protocols.pure import PureOracle
from ldp3.randomness import WORDS
from ldp3.schemes import resolutions
from ldp3.schemes.resolutions import Join, Resolutions, Tree
from ldp3.tails import binomial_p
from ldp3.types import Tally

BOTH = pytest.mark.parametrize("wave", [0.0, 0.5])


def crowd(d: int, n: int) -> IntArray:
    return apportion(ldp3.stream(0, "crowd").dirichlet(np.full(d, 0.3)), n)


def joined(scheme: Resolutions, n: int) -> Join:
    join = scheme.noise(np.full(scheme.d, 1 / scheme.d), n).join
    assert join is not None
    return join


@pytest.mark.parametrize("d", [2, 3, 5, 11, 16, 100])
def test_cells_of_views_are_nodes_of_the_tree(d: int) -> None:
    tree, every = Tree(d), np.arange(d)
    for t, (above, size) in enumerate(zip(tree.sizes, tree.sizes[1:], strict=False)):
        fine = every * size // d
        held = np.bincount(fine, minlength=size).astype(float)
        coarse = np.bincount(every * above // d, minlength=above)
        assert tree.up(held, t + 1).tolist() == coarse.tolist()
        assert set(tree.children[t].tolist()) <= {1, 2}


def test_levels_are_joined_by_least_squares() -> None:
    """Against the dense solution, where all cells of a level are alike: a power of two."""
    scheme = Resolutions(1.0, 16)
    join, rng = joined(scheme, 10_000), ldp3.stream(1)
    design, target, weight = [], [], []
    parts: list[FloatArray] = []
    for _, oracle, n in join.levels:
        part = rng.dirichlet(np.ones(oracle.d))
        parts.append(part)
        design.append(np.eye(oracle.d)[np.arange(16) * oracle.d // 16].T)
        target.append(part)
        weight.append(np.full(oracle.d, np.sqrt(n / resolutions._spread(oracle))))
    weights = np.concatenate(weight)
    rows = np.concatenate(design) * weights[:, None]
    aim = np.concatenate(target) * weights - rows @ np.full(16, 1 / 16)
    off = np.eye(16) - 1 / 16  # the sum is known
    best = 1 / 16 + off @ np.linalg.lstsq(rows @ off, aim, rcond=1e-9)[0]
    assert join.together(parts, 1.0) == pytest.approx(best, abs=1e-12)


@BOTH
@pytest.mark.parametrize("d", [2, 5, 11, 64])
def test_sums_are_unbiased_and_vary_as_stated(d: int, wave: float) -> None:
    scheme, n, runs, rng = Resolutions(1.0, d, wave), 20_000, 400, ldp3.stream(d, str(wave))
    histogram = crowd(d, n)
    truth, estimates = histogram / n, []
    for _ in range(runs):
        estimates.append(scheme.estimate(scheme.simulate(histogram, rng)).frequencies - truth)
    rows = np.array([np.arange(d) / d, np.arange(d) < d // 2, np.eye(d)[d // 2], np.eye(d)[0]])
    stated = joined(scheme, n).variances(rows, truth)
    errors = np.array(estimates) @ rows.T
    z = errors.mean(axis=0) / np.sqrt(stated / runs)
    assert np.abs(z).max() < 5.6  # normal, 2e-8 each
    ratio = (errors**2).mean(axis=0) / stated
    assert np.abs(ratio - 1).max() < 6 * np.sqrt(2 / runs)  # a mean of squares, 1e-7 or so each
    assert np.abs(np.sum(estimates, axis=1)).max() < 1e-9


@BOTH
def test_single_frequencies_are_queries(wave: float) -> None:
    scheme, f = Resolutions(2.0, 11, wave), crowd(11, 1_000) / 1_000
    noise = scheme.noise(f, 1_000)
    each = [noise.of_query(row, f) for row in np.eye(11)]
    assert noise.variance(f) == pytest.approx(each)
    assert noise.variance(f[:3]).shape == (3,)


def test_the_wave_makes_the_mean_better() -> None:
    d, n = 64, 10_000
    line, f = np.arange(d) / d, np.full(d, 1 / d)
    plain, both = (Resolutions(1.0, d, wave).noise(f, n) for wave in (0.0, 0.5))
    noises = plain, both, ldp3.oracle("sw", epsilon=1.0, d=d).noise(f, n // 2)
    levels, mixed, wave = (noise.of_query(line, f) or 0.0 for noise in noises)
    assert 0 < mixed < min(levels, wave)


@pytest.mark.parametrize(("epsilon", "d"), [(1.0, 64), (4.0, 50)])
def test_nobody_gains_by_moving_people_to_another_level(epsilon: float, d: int) -> None:
    """The mean variance over ranges, from the variances themselves."""
    ends = ldp3.stream(2, d).integers(0, d + 1, (2, 2_000))
    ranges = ((np.arange(d) >= ends.min(0)[:, None]) & (np.arange(d) < ends.max(0)[:, None])) * 1.0
    scheme, even, n = Resolutions(epsilon, d), np.full(d, 1 / d), 10**6

    def cost(people: FloatArray) -> float:
        join = Join(Tree(d), scheme.groups, tuple(people))
        return float(join.variances(ranges, even).mean())

    shares = np.array([group.share / WORDS for group in scheme.groups])
    best = cost(n * shares)
    for give in range(len(shares)):
        for take in range(len(shares)):
            moved = shares + (np.eye(len(shares))[take] - np.eye(len(shares))[give]) / 64
            if give != take and moved.min() > 0:
                assert cost(n * moved) > 0.997 * best


def test_an_estimate_needs_somebody_who_was_asked_for_the_value() -> None:
    scheme = Resolutions(1.0, 64)
    parts = [group.oracle.empty for group in scheme.groups]
    parts[0] = scheme.groups[0].oracle.aggregate(np.zeros(1, dtype=np.uint8))
    with pytest.raises(InvalidData, match="in all 64 bins, and none of 1 was"):
        scheme.estimate(scheme.join(parts))
    scheme.require_tally(scheme.join(parts))  # honest all the same
    with pytest.raises(InvalidData):
        scheme.estimate(Tally(scheme.join(parts).total, 2))


@pytest.mark.parametrize("wave", [-0.1, 1.0, "half", float("nan")])
def test_a_wave_is_a_share(wave: object) -> None:
    with pytest.raises(InvalidParameter, match="wave must be a share"):
        Resolutions(1.0, 16, wave)  # type: ignore[arg-type]


@BOTH
def test_several_frequencies_go_through_the_channel_at_once(wave: float) -> None:
    channel = Resolutions(1.0, 100, wave).channel
    assert channel is not None
    rows = ldp3.stream(3).random((3, 100))
    forth = channel.forward(rows)
    assert forth == pytest.approx(np.array([channel.forward(row) for row in rows]))
    back = channel.backward(forth)
    assert back == pytest.approx(np.array([channel.backward(row) for row in forth]))


@BOTH
def test_people_are_counted_once(wave: float) -> None:
    scheme = Resolutions(1.0, 100, wave)
    tally = scheme.aggregate(scheme.perturb(np.arange(30_000) % 100, ldp3.stream(4)))
    people = np.array([part.n for part in scheme.split(tally)])
    shares = np.array([group.share / WORDS for group in scheme.groups])
    assert people.sum() == 30_000
    assert binomial_p(people, 30_000, shares).min() > 1e-7
    assert all(isinstance(g.oracle, PureOracle) for g in scheme.groups[: len(shares) - bool(wave)])


def test_the_mixture_is_nearer_to_the_truth_than_either_half() -> None:
    d, n = 256, 10**5
    histogram = apportion(np.repeat(ldp3.stream(5).gamma(2.0, 1.0, 16), 16), n)  # with steps
    off: dict[str, list[float]] = {"resolutions(wave=0.5)": [], "sw": [], "resolutions": []}
    for spec, found in off.items():
        oracle = ldp3.oracle(spec, epsilon=1.0, d=d)
        method = ldp3.postprocess(oracle.usual_method)
        for seed in range(5):
            f = method(oracle.estimate(oracle.simulate(histogram, ldp3.stream(seed, spec))))
            found.append(float(np.abs(np.cumsum(f - histogram / n)).mean()))
    mixture, wave, plain = (float(np.mean(found)) for found in off.values())
    assert mixture < min(wave, plain)
    pgr = ldp3.oracle("pgr", epsilon=1.0, d=d)
    f = ldp3.postprocess("multiscale_ordered")(
        pgr.estimate(pgr.simulate(histogram, ldp3.stream(0)))
    )
    assert mixture < np.abs(np.cumsum(f - histogram / n)).mean() / 2
