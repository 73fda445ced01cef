"""What every metric promises; new metrics are picked up by themselves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import ldp3
from ldp3.catalog import find
from ldp3.errors import InvalidData
from ldp3.metrics.base import Metric
from ldp3.postprocessing.base import PostProcessor
from ldp3.arrays import FloatArray
from ldp3.types import Dataset, Estimate
from tests.postprocessing.estimates import estimates, steady

METRICS = sorted(find(Metric))  # type: ignore[type-abstract]
METHODS = sorted(find(PostProcessor))  # type: ignore[type-abstract]
every_metric = pytest.mark.parametrize("spec", METRICS)
any_vector = arrays(np.float64, st.integers(1, 20), elements=st.floats(-1e15, 1e15))


def a_distribution(d: int) -> FloatArray:
    return np.arange(1.0, d + 1) / np.arange(1.0, d + 1).sum()


@every_metric
@settings(steady, max_examples=80)
@given(f=any_vector, data=st.data())
def test_any_two_finite_vectors_have_a_finite_value(
    spec: str, f: FloatArray, data: st.DataObject
) -> None:
    other = data.draw(arrays(np.float64, len(f), elements=st.floats(-1e15, 1e15)))
    value = ldp3.metric(spec)(f, other)
    assert type(value) is float
    assert np.isfinite(value)
    assert value >= 0


@pytest.mark.parametrize("method", METHODS)
@settings(steady, max_examples=30)
@given(est=estimates())
def test_every_method_s_result_has_a_finite_value(method: str, est: Estimate) -> None:
    refine = ldp3.postprocess(method)
    if refine.applies(est):
        for spec in METRICS:
            metric = ldp3.metric(spec)
            assert np.isfinite(metric(a_distribution(est.d), refine(est)))


@every_metric
@settings(steady, max_examples=60)
@given(f=arrays(np.float64, st.integers(1, 20), elements=st.floats(0, 1)))
def test_nothing_is_better_than_the_truth(spec: str, f: FloatArray) -> None:
    metric = ldp3.metric(spec)
    assert metric(f, f) == pytest.approx({"lower": 0, "higher": 1}[metric.better], abs=1e-15)


@every_metric
def test_a_worse_estimate_is_worse(spec: str) -> None:
    metric = ldp3.metric(spec + "(k=2)" if spec in ("top_k", "ndcg") else spec)
    truth, good = np.array([0.5, 0.25, 0.15, 0.1]), np.array([0.5, 0.24, 0.15, 0.11])
    bad = np.array([0.0, -0.1, 0.2, 0.9])
    sign = {"lower": 1, "higher": -1}[metric.better]
    assert sign * metric(truth, bad) > sign * metric(truth, good)


@every_metric
def test_bad_input_is_refused_in_one_line(spec: str) -> None:
    metric, good = ldp3.metric(spec), np.array([0.5, 0.5])
    with pytest.raises(InvalidData, match="lengths must agree, got 2 truth and 3 frequencies"):
        metric(good, np.ones(3))
    with pytest.raises(InvalidData, match="frequencies must be finite, got nan at 1"):
        metric(good, np.array([0.5, np.nan]))
    with pytest.raises(InvalidData, match="truth must be finite, got -inf at 0"):
        metric(np.array([-np.inf, 1]), good)
    with pytest.raises(InvalidData, match="not empty"):
        metric(np.array([]), np.array([]))


@every_metric
def test_every_metric_can_be_made_for_a_dataset(spec: str) -> None:
    data = Dataset("numbers", np.array([5, 3, 2]), ["1", "2", "4"], np.array([1.0, 2, 4]))
    metric = ldp3.metric(spec).for_data(data)
    assert metric.for_data(data) == metric
    assert hash(metric) == hash(metric.for_data(data))
    assert np.isfinite(metric(data.frequencies, np.array([0.6, 0.3, 0.1])))


@every_metric
def test_every_metric_states_its_formula_and_shows_an_example(spec: str) -> None:
    doc = find(Metric)[spec].__doc__ or ""  # type: ignore[type-abstract]
    assert "$$" in doc
    assert ">>>" in doc


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("ℓ1 distance", "l1"),
        ("L2", "l2"),
        ("KL-divergence", "kl"),
        ("Kullback-Leibler Divergence", "kl"),
        ("Earth Mover's Distance", "emd"),
        ("EMD", "emd"),
        ("top-k", "top_k"),
        ("range query", "range_query"),
    ],
)
def test_the_paper_s_spellings_work(spelling: str, name: str) -> None:
    assert type(ldp3.metric(spelling)) is find(Metric)[name]  # type: ignore[type-abstract]


def test_unknown_names_get_a_hint() -> None:
    with pytest.raises(ldp3.LDPError, match=r"No metric is called 'helinger'. Did you mean 'hell"):
        ldp3.metric("helinger")
