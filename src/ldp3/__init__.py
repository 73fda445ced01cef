"""LDP³: local differential privacy, every protocol × post-processing × metric."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ldp3.errors import LDPError, needing_full, require_values

if TYPE_CHECKING:  # nobody must wait for what they do not use, nor `ldp3 --help` for NumPy
    from ldp3.attacks.base import Attack
    from ldp3.collection.aggregator import Aggregator
    from ldp3.collection.client import Client
    from ldp3.collection.differences import difference
    from ldp3.collection.plan import Plan
    from ldp3.datasets.base import Source
    from ldp3.datasets.loading import load
    from ldp3.experiment.run import benchmark
    from ldp3.metrics.base import Metric
    from ldp3.noise import Noise, PureNoise, Support
    from ldp3.postprocessing.base import PostProcessor
    from ldp3.protocols.base import FrequencyOracle, PureOracle
    from ldp3.protocols.layout import Bits, Code, Fields
    from ldp3.randomness import Words, secure, stream
    from ldp3.recommendation.recommend import recommend
    from ldp3.reporting.figures import plot
    from ldp3.reporting.page import report
    from ldp3.results.storage import load_results
    from ldp3.results.table import Results
    from ldp3.sizing.size import size
    from ldp3.threats.detection import inspect
    from ldp3.threats.inference import inference
    from ldp3.types import Dataset, Estimate, Tally
    from ldp3.verification.verify import verify

__version__ = "0.2.0"

_LAZY = {
    "Aggregator": "ldp3.collection.aggregator",
    "Attack": "ldp3.attacks.base",
    "Bits": "ldp3.protocols.layout",
    "Client": "ldp3.collection.client",
    "Code": "ldp3.protocols.layout",
    "Dataset": "ldp3.types",
    "Estimate": "ldp3.types",
    "Fields": "ldp3.protocols.layout",
    "FrequencyOracle": "ldp3.protocols.base",
    "Metric": "ldp3.metrics.base",
    "Noise": "ldp3.noise",
    "Plan": "ldp3.collection.plan",
    "PostProcessor": "ldp3.postprocessing.base",
    "PureNoise": "ldp3.noise",
    "PureOracle": "ldp3.protocols.base",
    "Results": "ldp3.results.table",
    "Source": "ldp3.datasets.base",
    "Support": "ldp3.noise",
    "Tally": "ldp3.types",
    "Words": "ldp3.randomness",
    "benchmark": "ldp3.experiment.run",
    "difference": "ldp3.collection.differences",
    "inference": "ldp3.threats.inference",
    "inspect": "ldp3.threats.detection",
    "load": "ldp3.datasets.loading",
    "load_results": "ldp3.results.storage",
    "plot": "ldp3.reporting.figures",
    "recommend": "ldp3.recommendation.recommend",
    "report": "ldp3.reporting.page",
    "secure": "ldp3.randomness",
    "size": "ldp3.sizing.size",
    "stream": "ldp3.randomness",
    "verify": "ldp3.verification.verify",
}

__all__ = [
    "Aggregator",
    "Attack",
    "Bits",
    "Client",
    "Code",
    "Dataset",
    "Estimate",
    "Fields",
    "FrequencyOracle",
    "LDPError",
    "Metric",
    "Noise",
    "Plan",
    "PostProcessor",
    "PureNoise",
    "PureOracle",
    "Results",
    "Source",
    "Support",
    "Tally",
    "Words",
    "benchmark",
    "difference",
    "inference",
    "inspect",
    "load",
    "load_results",
    "metric",
    "oracle",
    "plot",
    "postprocess",
    "recommend",
    "report",
    "require_values",
    "secure",
    "size",
    "stream",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Import what is slow to import when it is asked for."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with needing_full(f"ldp3.{name}"):
        return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})


def oracle(
    spec: "str | type[FrequencyOracle] | FrequencyOracle", epsilon: float, d: int
) -> "FrequencyOracle":
    """The frequency oracle that `spec` names: ``"olh"``, ``"olh(g=4)"``, a class; or as it is."""
    from ldp3.protocols.base import FrequencyOracle
    from ldp3.specs import build

    return build(FrequencyOracle, spec, epsilon=epsilon, d=d)  # type: ignore[type-abstract]


def postprocess(spec: "str | type[PostProcessor] | PostProcessor") -> "PostProcessor":
    """The post-processing method that `spec` names: ``"norm_sub"``, or ``"power+norm_sub"``."""
    from ldp3.postprocessing.base import method

    return method(spec)


def metric(spec: "str | type[Metric] | Metric") -> "Metric":
    """The metric that `spec` names, such as ``"l1"``."""
    from ldp3.metrics.base import Metric
    from ldp3.specs import build

    return build(Metric, spec)  # type: ignore[type-abstract]
