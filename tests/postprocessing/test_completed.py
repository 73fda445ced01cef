from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

import ldp3
from ldp3.arrays import FloatArray
from ldp3.noise import Noise
from ldp3.postprocessing import completed as module
from ldp3.postprocessing.base import default_method
from ldp3.postprocessing.posterior import Posterior
from ldp3.types import Estimate
from tests.postprocessing.estimates import impure, simulated

completed = ldp3.postprocess("completed")
completed_mean = ldp3.postprocess("completed_mean")
completed_root = ldp3.postprocess("completed_root")
multiscale = ldp3.postprocess("multiscale")
l1 = ldp3.metric("l1")


def zipf(d: int, s: float = 1.1) -> FloatArray:
    f: FloatArray = np.arange(1.0, d + 1) ** -s
    return f / f.sum()


def definition(est: Estimate) -> tuple[FloatArray, FloatArray]:
    """Frequencies, and the posterior of each value on them: constant noise, all in sight."""
    sd, d, posterior = sqrt(est.noise.floor), est.d, Posterior.of(est)
    x, grid, prior = posterior.seen, posterior.theta, posterior.priors.mean(axis=0)

    def seen(theta: FloatArray) -> FloatArray:
        return np.exp(-0.5 * ((x[:, None] - theta) / sd) ** 2)

    share = seen(grid) * prior
    share /= share.sum(axis=1, keepdims=True)
    models = []
    for level in (1, 2, 4):
        high = grid > (level - 0.01) * sd
        n, mass = share[:, high].sum(), (share[:, high] @ grid[high]).sum()
        if n > d - 1:
            continue
        upper = grid[high], prior[high] * n / prior[high].sum()
        first = max(n, 0.5)
        ranks = np.linspace(first, d, 20_001)
        ranks = (ranks[1:] + ranks[:-1]) / 2
        s = 0.0
        for step in 2.0 ** np.arange(6, -50, -1):  # steeper, as long as it holds more than is left
            held = (d - first) * np.mean(level * sd * (ranks / first) ** -(s + step))
            s += step if held > 1 - mass else 0
        many = np.full(len(ranks), (d - first) / len(ranks))
        evenly = (np.arange(16) + 0.5) / 16 * level * sd
        some = min(max(1 - mass, 0) / evenly.mean(), d - first)
        for weight, lower in (
            (0.55, (level * sd * (ranks / first) ** -s, many)),
            (0.3, (np.append(0, evenly), np.append(d - first - some, np.full(16, some / 16)))),
            (0.15, (np.array([max(1 - mass, 0) / (d - first)]), np.array([d - first]))),
        ):
            theta, values = (np.concatenate(pair) for pair in zip(lower, upper, strict=True))
            models.append((weight, theta, seen(theta) * values))
    fit = np.array([np.log(w) + np.log(q.sum(axis=1)).sum() for w, _, q in models])
    weights = np.exp(fit - fit.max()) / np.exp(fit - fit.max()).sum()
    theta = np.concatenate([theta for _, theta, _ in models])
    mixed = [
        w * q / q.sum(axis=1, keepdims=True) for w, (_, _, q) in zip(weights, models, strict=True)
    ]
    order = np.argsort(theta)
    return theta[order], np.concatenate(mixed, axis=1)[:, order]


@pytest.mark.parametrize(("s", "sd"), [(0.5, 0.03), (1.1, 0.01), (2.0, 0.01)])
def test_it_does_what_its_definition_says(s: float, sd: float) -> None:
    rng = ldp3.stream(0, "completed", str(s))
    est = impure(zipf(60, s) + rng.normal(0, sd, 60), noise=sd**2)
    theta, posterior = definition(est)
    medians = theta[(posterior.cumsum(axis=1) >= 0.5).argmax(axis=1)]
    assert np.count_nonzero(medians < sd) > 10
    # a power law is cut into a hundred pieces, here into twenty thousand
    near, half = 0.02 * sd, 0.5 / est.n
    expected = np.where(medians < sd, medians, multiscale(est))
    assert np.allclose(completed(est), expected, rtol=0, atol=near)
    means = posterior @ theta
    assert np.allclose(completed_mean(est), means / means.sum(), rtol=0, atol=near)
    roots = (posterior @ np.sqrt(theta + half)) ** 2
    expected = roots / roots.sum() * (1 + est.d * half) - half
    assert np.allclose(completed_root(est), expected, rtol=0, atol=near)


@pytest.mark.parametrize("mass", [-0.1, 0.0, 1e-9, 0.001, 0.3, 4.9])
@pytest.mark.parametrize("n", [0.5, 7.3, 99.0])
def test_a_power_law_holds_the_values_and_the_mass_that_are_left(n: float, mass: float) -> None:
    theta, values = module._power_law(n, 0.05, 100, mass)
    assert values.sum() == pytest.approx(100 - n)
    assert theta @ values == pytest.approx(min(max(mass, 0), 0.05 * (100 - n)), abs=1e-3 * 0.05)
    assert (np.diff(theta) <= 1e-9 * 0.05).all()
    assert theta.max() <= 0.05 * (1 + 1e-9)


def test_where_nothing_is_hidden_it_is_multiscale() -> None:
    f = np.arange(1.0, 21) / 210
    est = impure(f + ldp3.stream(0).normal(0, 1e-5, 20), noise=1e-10)
    assert np.array_equal(completed(est), multiscale(est))


def test_above_the_noise_it_is_multiscale_and_below_no_higher_than_the_noise() -> None:
    rng = ldp3.stream(0, "above")
    est = simulated("oue", 1.0, zipf(500), 10**6, rng)
    found, same, sd = completed(est), multiscale(est), sqrt(est.noise.floor)
    apart = found != same
    assert 0 < np.count_nonzero(apart) < 500
    assert found[apart].max() < sd
    assert found.min() >= 0
    assert found.sum() < 1


@pytest.mark.parametrize("protocol", ["oue", "ss"])
def test_in_absolute_error_it_is_ahead_of_multiscale_on_a_power_law(protocol: str) -> None:
    """Of 100 other collections the ratio had mean 0.875 and deviation 0.043: 1 is 6.5 of five's."""
    f, rng = zipf(1024), ldp3.stream(0, "ahead", protocol)
    drawn = [simulated(protocol, 1.0, f, 10**6, rng) for _ in range(5)]
    assert np.mean([l1(f, completed(e)) / l1(f, multiscale(e)) for e in drawn]) < 1


def test_values_with_noise_of_their_own_are_served_like_others() -> None:
    rng, f = ldp3.stream(0, "own"), zipf(300)
    equal = impure(f + rng.normal(0, 0.002, 300), noise=0.002**2)
    nearly = replace(equal, noise=Noise(np.linspace(1, 1 + 1e-9, 300) * 0.002**2))
    assert np.allclose(completed(equal), completed(nearly), rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    ("spec", "metrics"),
    [
        ("completed", ["l1", "tv", "mae"]),
        ("completed_mean", ["kl"]),
        ("completed_root", ["hellinger", "js"]),
        ("multiscale", ["l2", "mse", "linf", "top_k"]),
    ],
)
def test_a_metric_that_wants_its_point_takes_it(spec: str, metrics: list[str]) -> None:
    for metric in map(ldp3.metric, metrics):
        assert default_method(sums=False, ordered=True, point=metric.bayes) == spec
    assert ldp3.postprocess(spec).distribution == (spec != "completed")
