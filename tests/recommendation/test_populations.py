from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import ldp3
from ldp3 import stream
from ldp3.arrays import FloatArray, IntArray
from ldp3.domain import Labels
from ldp3.recommendation.populations import Populations, flat_prior, rough_prior
from ldp3.types import Dataset

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


def test_the_fit_raises_the_likelihood_and_weights_stay_a_distribution() -> None:
    data = sample(1 / np.full(64, 64), 640, "fit")
    flat = flat_prior(data.histogram)
    fitted = flat.fitted(data.histogram)
    before, after = (
        np.log((p.likelihood(data.histogram) * p.weights).sum(axis=1)).sum() for p in (flat, fitted)
    )
    assert after > before
    assert np.isclose(fitted.weights.sum(), 1, rtol=1e-9)


def test_counts_are_negative_binomial() -> None:
    prior = flat_prior(np.array([3, 5, 2, 90]))
    counts = np.arange(6)
    k, mu = prior.shapes, 100 * prior.means
    law = stats.nbinom.pmf(counts[:, None], k, k / (k + mu))
    ratio = prior.likelihood(counts) * stats.poisson.pmf(counts, 1.0)[:, None] / law
    assert np.allclose(prior.likelihood(counts).max(axis=1), 1)
    assert np.allclose(ratio, ratio[:, :1], rtol=1e-6)  # proportional, count by count


@pytest.mark.parametrize("people", [500, 2_000])
def test_the_roughness_of_the_sample_is_not_taken_for_that_of_the_population(people: int) -> None:
    """Everybody is alike, so all spread in the sample is chance; resampling it would add to it."""
    data = sample(np.full(256, 1 / 256), people, "rough")
    again = stream(0, "again").multinomial(people, data.frequencies)
    drawn = [spread(Populations(data, 10**8, seed=0).draw(b).histogram) for b in range(8)]
    assert np.mean(drawn) < spread(data.histogram) / 2
    assert spread(again) > spread(data.histogram)


def test_values_that_nobody_in_the_sample_holds_may_be_held() -> None:
    data = sample(np.full(256, 1 / 256), 300, "unseen")
    unseen = data.histogram == 0
    share = [Populations(data, 10**8, seed=0).draw(b).frequencies[unseen].sum() for b in range(8)]
    assert unseen.mean() / 2 < np.mean(share) < 2 * unseen.mean()


def test_a_large_sample_leaves_little_open() -> None:
    frequencies = np.array([0.4, 0.3, 0.2, 0.1])
    data = sample(frequencies, 10**7, "large")
    for b in range(8):
        drawn = Populations(data, 10**9, seed=0).draw(b).frequencies
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
        np.mean([roughness(Populations(s, 10**6, 0).draw(b).frequencies) for b in range(5)])
        for s in (labels, ordered)
    )
    assert smooth < rough / 10


def test_an_order_that_means_nothing_leaves_a_sample_as_rough_as_it_is() -> None:
    shuffled = stream(0, "shuffled").permutation(ldp3.load("zipf(s=1.1, d=128)").frequencies)
    labels = sample(shuffled, 3_000, "rough")
    ordered = replace(labels, domain=labels.domain.in_order())
    drawn = [roughness(Populations(ordered, 10**6, 0).draw(b).frequencies) for b in range(5)]
    assert np.mean(drawn) > 0.9 * roughness(shuffled)


def test_what_no_noise_explains_of_an_octave_is_kept() -> None:
    histogram = stream(0, "octaves").poisson(400 * bell(128) * 128)
    kept = rough_prior(128).fitted(histogram).kept
    assert kept[0] == 1  # the sum
    assert kept[2] > 0.99
    assert (kept[64:] < 0.5).all()
    assert (rough_prior(128).fitted(np.full(128, 7)).kept[1:] == 0).all()
