"""Whatever is handed to the public functions, a mistake is one line that says what is needed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ldp3
from ldp3.errors import InvalidData, InvalidParameter, LDPError

ORACLE = ldp3.oracle("oue", 1.0, 4)
TALLY = ORACLE.simulate(np.array([5, 3, 2, 1]), ldp3.stream(0))
ESTIMATE = ORACLE.estimate(TALLY)
PLAN = ldp3.Plan("x", 4, "oue", 1.0)
RESULTS = ldp3.benchmark("zipf(d=4, n=100)", protocols="grr", methods="norm", repeats=2)
WRONG: dict[str, Any] = {
    "None": None, "42": 42, "-1.5": -1.5, "nan": float("nan"), "huge": 10**400, "True": True,
    "bytes": b"x", "dict": {"a": 1}, "object": object(), "scalar": np.array(3),
    "matrix": np.zeros((2, 2)), "lists": pl.Series([[1], [2]]), "table": pd.DataFrame({"a": [1]}),
    "function": lambda: 1, "complex": complex(1, 2),
}  # fmt: skip
RIGHT = {  # for some
    "Dataset, labels": ("matrix", "lists"),
    "load, domain": ("None",),
    "benchmark, epsilons": ("42", "scalar"),
    "benchmark, repeats": ("None", "42"),
    "benchmark, output": ("None",),
    "benchmark, progress": ("None",),
    "stream": ("42", "huge"),
    "Tally": ("42", "huge"),
}
TAKERS: dict[str, Callable[[Any], object]] = {
    "oracle": lambda x: ldp3.oracle(x, 1.0, 4),
    "postprocess": ldp3.postprocess,
    "a method": ldp3.postprocess("norm_sub"),
    "metric": ldp3.metric,
    "a metric": lambda x: ldp3.metric("l1")(x, np.array([0.5, 0.5])),
    "perturb, values": lambda x: ORACLE.perturb(x, ldp3.stream(0)),
    "perturb, rng": lambda x: ORACLE.perturb([1, 2], x),  # type: ignore[arg-type]
    "aggregate": ORACLE.aggregate,
    "estimate": ORACLE.estimate,
    "simulate, histogram": lambda x: ORACLE.simulate(x, ldp3.stream(0)),
    "simulate, rng": lambda x: ORACLE.simulate(np.array([5, 3, 2, 1]), x),
    "confidence_interval": ESTIMATE.confidence_interval,
    "Estimate.of": lambda x: ldp3.Estimate.of(x, 3, 0.1),
    "Tally": lambda x: ldp3.Tally(TALLY.total, x),
    "Dataset": lambda x: ldp3.Dataset("x", ldp3.Labels(["a", "b"]), x),
    "Dataset, labels": lambda x: ldp3.Dataset("x", ldp3.Labels(x), np.array([1, 2])),
    "load": ldp3.load,
    "load, domain": lambda x: ldp3.load([1, 2], domain=x),
    "benchmark": lambda x: ldp3.benchmark(x, protocols="grr", repeats=1),
    "benchmark, epsilons": lambda x: ldp3.benchmark("zipf", x),
    "benchmark, protocols": lambda x: ldp3.benchmark("zipf", 1, x),
    "benchmark, repeats": lambda x: ldp3.benchmark("zipf", repeats=x),
    "benchmark, output": lambda x: ldp3.benchmark("zipf", output=x),
    "benchmark, progress": lambda x: ldp3.benchmark("zipf", progress=x),
    "benchmark, plugins": lambda x: ldp3.benchmark("zipf", plugins=x),
    "load_results": ldp3.load_results,
    "report": lambda x: ldp3.report(x, "x.html"),
    "plot": lambda x: ldp3.plot(x, "figures"),
    "Results.render": RESULTS.render,
    "Results.best": RESULTS.best,
    "Results.save": RESULTS.save,
    "Plan.load": ldp3.Plan.load,
    "Plan.save": PLAN.save,
    "Client": ldp3.Client,
    "Client.report": lambda x: ldp3.Client(PLAN).report(x),
    "Aggregator": ldp3.Aggregator,
    "Aggregator.merge": ldp3.Aggregator(PLAN).merge,
    "Aggregator.add_files": ldp3.Aggregator(PLAN).add_files,
    "stream": lambda x: ldp3.stream(x),
}


@pytest.mark.parametrize("taker", TAKERS)
def test_what_cannot_be_is_refused_in_one_line(
    taker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in WRONG.keys() - RIGHT.get(taker, ()):
        with pytest.raises(LDPError) as refused:
            TAKERS[taker](WRONG[name])
        assert "\n" not in str(refused.value)
        assert len(str(refused.value)) < 400
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("protocol", ["grr", "rappor", "oue", "blh", "olh", "ss"])
def test_a_seed_is_no_generator(protocol: str) -> None:
    oracle = ldp3.oracle(protocol, 1.0, 4)
    for stage in (
        lambda: oracle.perturb(np.array([1, 2]), 42),  # type: ignore[arg-type]
        lambda: oracle.simulate(np.array([5, 3, 2, 1]), 42),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidParameter, match=r"`ldp3\.stream\(seed\)` .*, got 42"):
            stage()


@pytest.mark.parametrize("protocol", ["grr", "rappor", "oue", "blh", "olh", "ss"])
def test_a_histogram_of_another_domain_is_refused(protocol: str) -> None:
    for histogram in ([5, 3], [5, 3, 2, 1, 0], [5, 3, 2, -1], [0.5, 0.5, 0.0, 0.0]):
        with pytest.raises(InvalidData, match="a histogram of 4 numbers of people is needed"):
            ldp3.oracle(protocol, 1.0, 4).simulate(histogram, ldp3.stream(0))  # type: ignore[arg-type]


def test_a_method_takes_an_estimate_and_says_how_to_make_one() -> None:
    with pytest.raises(InvalidData, match=r"NormSub: an Estimate is needed.*got ndarray"):
        ldp3.postprocess("norm_sub")(np.array([0.5, 0.5]))  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "spec",
    [
        "kl(n=True)", "js(n=True)", "hellinger(n=True)", "top_k(k=True)", "ndcg(k=True)",
        "kl(n='5')", "kl(n=1.5)", "top_k(k=[1])",
    ],
)  # fmt: skip
def test_true_is_no_number_of_users(spec: str) -> None:
    with pytest.raises(InvalidParameter, match="must be an integer"):
        ldp3.metric(spec)


@pytest.mark.parametrize("spec", ["olh(g=True)", "ss(k=True)", "olh(g='4')"])
def test_true_is_no_size_of_a_protocol(spec: str) -> None:
    with pytest.raises(InvalidParameter, match="must be"):
        ldp3.oracle(spec, 1.0, 8)


def test_a_key_that_would_not_be_the_same_tomorrow_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="texts and numbers"):
        ldp3.stream(0, object())  # type: ignore[arg-type]
