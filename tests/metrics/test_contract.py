"""Every metric keeps the contract that `ldp3 verify` checks; new ones are picked up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import ldp3
from ldp3.arrays import FloatArray
from ldp3.kinds import find
from ldp3.metrics.base import Metric
from ldp3.postprocessing.base import PostProcessor
from ldp3.types import Estimate
from ldp3.verification import findings
from ldp3.verification.metrics import broken
from tests.postprocessing.estimates import estimates, steady

METRICS = sorted(find(Metric))
METHODS = sorted(find(PostProcessor))
every_metric = pytest.mark.parametrize("spec", METRICS)
any_vector = arrays(np.float64, st.integers(1, 20), elements=st.floats(-1e15, 1e15))


@every_metric
def test_the_contract_holds(spec: str) -> None:
    assert [f for f in findings(ldp3.metric(spec)) if not f.passed] == []


@every_metric
@settings(steady, max_examples=80)
@given(f=any_vector, data=st.data())
def test_promises_are_kept_on_any_two_vectors(
    spec: str, f: FloatArray, data: st.DataObject
) -> None:
    other = data.draw(arrays(np.float64, len(f), elements=st.floats(-1e15, 1e15)))
    assert broken(ldp3.metric(spec), f, other) == []
    assert broken(ldp3.metric(spec), f, f) == []


@pytest.mark.parametrize("method", METHODS)
@settings(steady, max_examples=30)
@given(est=estimates())
def test_every_method_s_result_has_a_finite_value(method: str, est: Estimate) -> None:
    refine, truth = ldp3.postprocess(method), np.arange(1.0, est.d + 1)
    if refine.applies(est):
        result = refine(est)
        for spec in METRICS:
            assert broken(ldp3.metric(spec), truth / truth.sum(), result) == []


@pytest.mark.parametrize("spec", ["kendall", "spearman", "ndcg", "top_k"])
@settings(steady, max_examples=60)
@given(f=arrays(np.float64, st.integers(1, 20), elements=st.floats(0, 1)))
def test_a_ranking_is_one_at_the_truth_whatever_it_sums_to(spec: str, f: FloatArray) -> None:
    assert ldp3.metric(spec)(f, f) == pytest.approx(1, abs=1e-15)


@every_metric
def test_every_metric_states_its_formula_and_shows_an_example(spec: str) -> None:
    doc = find(Metric)[spec].__doc__ or ""
    assert "$$" in doc
    assert ">>>" in doc
