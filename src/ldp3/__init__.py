"""LDP³: local differential privacy, every protocol × post-processing × metric."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ldp3.errors import LDPError
from ldp3.randomness import secure, stream

if TYPE_CHECKING:  # a client that only perturbs must not wait for what it does not use
    from os import PathLike

    from ldp3.collection.aggregator import Aggregator
    from ldp3.collection.client import Client
    from ldp3.datasets.base import Format, Missing, Pick
    from ldp3.engine import benchmark
    from ldp3.metrics.base import Metric
    from ldp3.postprocessing.base import PostProcessor
    from ldp3.protocols.base import FrequencyOracle
    from ldp3.recommendation.choosing import recommend
    from ldp3.reporting.figures import plot
    from ldp3.reporting.page import report
    from ldp3.results import load_results
    from ldp3.types import Dataset
    from ldp3.verification import verify

__version__ = "0.1.0"

__all__ = [
    "Aggregator",
    "Client",
    "LDPError",
    "benchmark",
    "load",
    "load_results",
    "metric",
    "oracle",
    "plot",
    "postprocess",
    "recommend",
    "report",
    "secure",
    "stream",
    "verify",
]
_ELSEWHERE = {
    "Aggregator": "ldp3.collection.aggregator",
    "Client": "ldp3.collection.client",
    "benchmark": "ldp3.engine",
    "load_results": "ldp3.results",
    "plot": "ldp3.reporting.figures",
    "recommend": "ldp3.recommendation.choosing",
    "report": "ldp3.reporting.page",
    "verify": "ldp3.verification",
}


def __getattr__(name: str) -> Any:
    """Import what is slow to import when it is asked for."""
    if name not in _ELSEWHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_ELSEWHERE[name]), name)


def oracle(spec: "str | type[FrequencyOracle]", epsilon: float, d: int) -> "FrequencyOracle":
    """The frequency oracle that `spec` names, such as ``"olh"`` or ``"olh(g=4)"``, or a class."""
    from ldp3.catalog import build
    from ldp3.protocols.base import FrequencyOracle

    return build(FrequencyOracle, spec, epsilon=epsilon, d=d)  # type: ignore[type-abstract]


def postprocess(spec: "str | type[PostProcessor] | PostProcessor") -> "PostProcessor":
    """The post-processing method that `spec` names: ``"norm_sub"``, or ``"power+norm_sub"``."""
    from ldp3.postprocessing.base import method

    return method(spec)


def metric(spec: "str | type[Metric]") -> "Metric":
    """The metric that `spec` names, such as ``"l1"``."""
    from ldp3.catalog import build
    from ldp3.metrics.base import Metric

    return build(Metric, spec)  # type: ignore[type-abstract]


def load(
    source: object,
    *,
    column: str | int | None = None,
    header: bool = False,
    counts: bool = False,
    domain: "str | PathLike[str] | None" = None,
    domain_size: int | None = None,
    top: int | None = None,
    pick: "Pick | None" = None,
    bins: str | int | None = None,
    grid: str | None = None,
    within: str | None = None,
    missing: "Missing" = "refuse",
    input_format: "Format | None" = None,
    keep_values: bool = False,
) -> "Dataset":
    """The dataset in `source`; the options are those of `ldp3.datasets.base.Reading`.

    `source` is a path, a spec such as ``"zipf(s=1.3, d=1024, n=10_000_000)"`` or ``"flights"``,
    a pandas, Polars or Arrow table or column, a NumPy array or list of values, or a dataset.

    >>> load(["b", "a", "b"]).histogram
    array([1, 2])
    """
    from pathlib import Path

    from ldp3.datasets.base import Reading
    from ldp3.datasets.loading import load

    reading = Reading(
        column=column,
        header=header,
        counts=counts,
        domain=Path(domain) if domain is not None else None,
        domain_size=domain_size,
        top=top,
        pick=pick,
        bins=bins,
        grid=grid,
        within=within,
        missing=missing,
        input_format=input_format,
        keep_values=keep_values,
    )
    return load(source, reading)
