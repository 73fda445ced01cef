from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import ldp3
from ldp3 import stream
from ldp3.arrays import FloatArray, IntArray
from ldp3.domain import Integers, Labels
from ldp3.people import Dataset
from ldp3.recommendation.populations import (
    POINTS,
    WORLDS,
    Populations,
    SmoothPrior,
    gamma_mixture,
)

ALPHA = 1e-6


def sample(frequencies: FloatArray, people: int, *key: str) -> Dataset:
    histogram = stream(0, "sample", *key).multinomial(people, frequencies)
    return Dataset("sample", Labels([str(v) for v in range(len(histogram))]), histogram)


def spread(histogram: IntArray) -> float:
    return float((histogram / histogram.sum()).std() * len(histogram))


def test_a_population_has_the_users_and_the_values_that_were_asked_for() -> None:
    data = ldp3.load("zipf(d=20, n=500)")
    drawn = Populations(data, 12_345, seed=0).draw(0)
    assert drawn.n == 12_345
    assert drawn.labels == data.labels
    assert np.array_equal(drawn.positions, data.positions)  # type: ignore[arg-type]


def test_every_index_is_another_population_and_the_same_one_again() -> None:
    data = ldp3.load("zipf(d=20, n=500)")
    one, two = (Populations(data, 10**6, seed=0) for _ in range(2))
    assert np.array_equal(one.draw(3).histogram, two.draw(3).histogram)
    assert not np.array_equal(one.draw(3).histogram, one.draw(4).histogram)
    other = Populations(data, 10**6, seed=1)
    assert not np.array_equal(one.draw(3).histogram, other.draw(3).histogram)


@pytest.mark.parametrize(("largest", "rarest"), [world[:2] for world in WORLDS])
def test_the_fit_raises_the_likelihood_and_weights_stay_a_distribution(
    largest: float, rarest: float
) -> None:
    h = sample(1 / np.full(64, 64), 640, "fit").histogram
    flat = gamma_mixture(h, largest, rarest)
    fitted = flat.fitted(h)
    each = np.exp(flat.log_likelihood(h))
    assert np.log(each @ fitted.weights).sum() > np.log(each @ flat.flat).sum()
    assert np.isclose(fitted.weights.sum(), 1, rtol=1e-9)
    assert flat.shapes.max() == largest
    assert flat.means.min() == pytest.approx(rarest / 640)


def test_counts_are_negative_binomial_and_those_of_points_are_poisson() -> None:
    h, counts = np.array([3, 5, 2, 90]), np.arange(6)
    prior, points = gamma_mixture(h, 8.0, 0.02), gamma_mixture(h, np.inf, 0.02)
    k, mu = prior.shapes, 100 * prior.means
    law = stats.nbinom.logpmf(counts[:, None], k, k / (k + mu))
    assert np.allclose(prior.log_likelihood(counts), law, rtol=1e-6)
    law = stats.poisson.logpmf(counts[:, None], 100 * points.means)
    assert np.allclose(points.log_likelihood(counts), law, rtol=1e-6)


def test_what_is_foretold_is_the_likelihood_after_a_fit_to_all_others() -> None:
    """Against the plain way: fit anew without each value, and one value's worth of the flat."""
    h = sample(np.arange(1, 13) / 78, 300, "left out").histogram
    prior = gamma_mixture(h, 2.0, 0.02)
    direct = 0.0
    for v in range(len(h)):
        others = prior.fitted(np.delete(h, v), steps=200).weights * (len(h) - 1)
        weights = (others + prior.flat) / len(h)
        direct += float(np.log(np.exp(prior.log_likelihood(h[[v]])) @ weights)[0])
    assert prior.fitted(h).foretold(h).sum() == pytest.approx(direct, abs=0.2 * len(h))  # nats
    inside = np.log(np.exp(prior.log_likelihood(h)) @ prior.fitted(h).weights).sum()
    assert prior.fitted(h).foretold(h).sum() < inside - 0.5  # what was fitted to is no prophecy


def test_the_sample_tells_shared_frequencies_from_unlike_ones() -> None:
    """In-sample likelihood would always prefer points."""
    shared = Populations(sample(np.full(64, 1 / 64), 5_000, "shared"), 10**6, 0)
    assert shared.possible[POINTS] > 0.2
    assert shared.possible[0] == 0
    unlike = stream(0, "unlike").dirichlet(np.full(64, 1.0))
    fine = Populations(sample(unlike, 5_000, "unlike"), 10**6, 0)
    assert fine.believed[POINTS] == 0
    assert fine.believed[:3].sum() > 0.5


def test_draws_are_spread_by_how_likely_worlds_are_and_some_are_of_points() -> None:
    fine = Populations(sample(np.arange(1, 31) / 465, 3_000, "spread"), 10**6, 0)
    counts = np.bincount(fine.world_of, minlength=len(WORLDS))
    assert counts[POINTS] >= 6
    assert (counts[fine.believed > 0] >= 6).all()
    assert (counts[(fine.believed == 0) & (fine.possible == 0)][:POINTS] == 0).all()
    assert [data.name for data in fine.drawn(2)][:2] == ["population 0", "population 1"]


def test_one_value_does_not_decide_between_worlds() -> None:
    h = np.array([400, 200, 100, 50, 25, 12, 6, 3])
    populations = Populations(Dataset("x", Integers(8), h), 10**6, 0)
    one = replace(populations.worlds[0], foretold=np.full(8, -3.0))
    by_one_value = replace(one, foretold=np.r_[np.full(7, -3.0), 3.0])
    by_all = replace(one, foretold=np.full(8, -2.25))
    found = []
    for better in (by_one_value, by_all):  # by 6 nats in sum
        populations.__dict__["worlds"] = [one, better]
        found.append(populations._weighed([1.0, 1.0])[1])
    assert 0.8 < found[0] < 0.95 < 1 / (1 + np.exp(-6)) <= found[1] + 0.01


def test_an_order_that_means_something_is_believed_and_one_that_does_not_is_not() -> None:
    for weights, smooth in ((bell(128), True), (stream(0, "x").permutation(bell(128)), False)):
        labels = sample(weights, 3_000, "order")
        ordered = Populations(replace(labels, domain=labels.domain.in_order()), 10**6, 0)
        assert isinstance(ordered.worlds[-1].prior, SmoothPrior)
        assert (ordered.believed[-1] > 0.99) == smooth


@pytest.mark.parametrize("people", [500, 2_000])
def test_the_roughness_of_the_sample_is_not_taken_for_that_of_the_population(people: int) -> None:
    """Everybody is alike, so all spread in the sample is chance; resampling it would add to it."""
    data = sample(np.full(256, 1 / 256), people, "rough")
    again = stream(0, "again").multinomial(people, data.frequencies)
    model = Populations(data, 10**8, seed=0)
    drawn = [spread(model.draw(b).histogram) for b in range(8)]
    assert np.mean(drawn) < 0.7 * spread(data.histogram)
    assert spread(again) > spread(data.histogram)


def test_values_that_nobody_in_the_sample_holds_may_be_held() -> None:
    data = sample(np.full(256, 1 / 256), 300, "unseen")
    unseen = data.histogram == 0
    model = Populations(data, 10**8, seed=0)
    share = [model.draw(b).frequencies[unseen].sum() for b in range(8)]
    assert unseen.mean() / 2 < np.mean(share) < 2 * unseen.mean()


def test_a_large_sample_leaves_little_open() -> None:
    frequencies = np.array([0.4, 0.3, 0.2, 0.1])
    data = sample(frequencies, 10**7, "large")
    model = Populations(data, 10**9, seed=0)
    for b in range(8):
        drawn = model.draw(b).frequencies
        # the sample strays from the truth, and the population from the sample, as much each
        limit = stats.norm.isf(ALPHA / 2 / 8 / 4) * np.sqrt(2 * frequencies / 10**7)
        assert (np.abs(drawn - frequencies) <= limit).all()


def test_a_sample_of_one_person_is_enough() -> None:
    data = Dataset("one", Labels(["a", "b", "c"]), np.array([0, 1, 0]))
    assert Populations(data, 1_000, seed=0).draw(0).n == 1_000


def bell(d: int) -> FloatArray:
    weights = np.exp(-((np.arange(d) / d - 0.5) ** 2) / 0.05)
    return np.asarray(weights / weights.sum())


def roughness(frequencies: FloatArray) -> float:
    return float(np.abs(np.diff(frequencies, 2)).sum())


def test_neighbours_are_alike_where_the_order_means_something_and_the_sample_says_so() -> None:
    labels = sample(bell(128), 1_000, "bell")
    ordered = replace(labels, domain=labels.domain.in_order())
    rough, smooth = (
        np.median([roughness(data.frequencies) for data in Populations(s, 10**6, 0).drawn(2)])
        for s in (labels, ordered)
    )
    assert smooth < rough / 10


def test_an_order_that_means_nothing_leaves_a_sample_as_rough_as_it_is() -> None:
    shuffled = stream(0, "shuffled").permutation(ldp3.load("zipf(s=1.1, d=128)").frequencies)
    labels = sample(shuffled, 3_000, "rough")
    ordered = replace(labels, domain=labels.domain.in_order())
    drawn = [roughness(data.frequencies) for data in Populations(ordered, 10**6, 0).drawn(2)]
    assert np.mean(drawn) > 0.9 * roughness(shuffled)


def test_what_no_noise_explains_of_an_octave_is_kept() -> None:
    histogram = stream(0, "octaves").poisson(400 * bell(128) * 128)
    kept = SmoothPrior(np.ones(128)).fitted(histogram).kept
    assert kept[0] == 1  # the sum
    assert kept[2] > 0.99
    assert (kept[64:] < 0.5).all()
    assert (SmoothPrior(np.ones(128)).fitted(np.full(128, 7)).kept[1:] == 0).all()
