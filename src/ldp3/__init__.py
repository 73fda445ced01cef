"""LDP³: local differential privacy, every protocol × post-processing × metric."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ldp3.errors import LDPError, needing_full, require_values

if TYPE_CHECKING:  # nobody must wait for what they do not use, nor `ldp3 --help` for NumPy
    from ldp3.attacks.base import Attack as Attack
    from ldp3.collection.aggregator import Aggregator as Aggregator
    from ldp3.collection.client import Client as Client
    from ldp3.collection.differences import difference as difference
    from ldp3.collection.plan import Plan as Plan
    from ldp3.datasets.base import Source as Source
    from ldp3.datasets.loading import load as load
    from ldp3.domain import Bins as Bins
    from ldp3.domain import Domain as Domain
    from ldp3.domain import Grid as Grid
    from ldp3.domain import Integers as Integers
    from ldp3.domain import Labels as Labels
    from ldp3.domain import Records as Records
    from ldp3.experiment.run import benchmark as benchmark
    from ldp3.metrics.base import Metric as Metric
    from ldp3.noise import Noise as Noise
    from ldp3.noise import PureNoise as PureNoise
    from ldp3.noise import Support as Support
    from ldp3.people import Dataset as Dataset
    from ldp3.people import Table as Table
    from ldp3.postprocessing.base import PostProcessor as PostProcessor
    from ldp3.protocols.base import FrequencyOracle as FrequencyOracle
    from ldp3.protocols.layout import Bits as Bits
    from ldp3.protocols.layout import Code as Code
    from ldp3.protocols.layout import Fields as Fields
    from ldp3.protocols.pure import PureOracle as PureOracle
    from ldp3.randomness import Words as Words
    from ldp3.randomness import secure as secure
    from ldp3.randomness import stream as stream
    from ldp3.recommendation.recommend import recommend as recommend
    from ldp3.reporting.figures import plot as plot
    from ldp3.reporting.page import report as report
    from ldp3.reporting.statement import statement as statement
    from ldp3.results.table import Results as Results
    from ldp3.results.table import load_results as load_results
    from ldp3.schemes.attributes import RecordScheme as RecordScheme
    from ldp3.sizing.size import size as size
    from ldp3.tables import Tables as Tables
    from ldp3.threats.detection import inspect as inspect
    from ldp3.threats.inference import inference as inference
    from ldp3.types import Estimate as Estimate
    from ldp3.types import Tally as Tally
    from ldp3.verification.verify import verify as verify

__version__ = "0.2.0"

_LAZY = {
    "Aggregator": "ldp3.collection.aggregator",
    "Attack": "ldp3.attacks.base",
    "Bins": "ldp3.domain",
    "Bits": "ldp3.protocols.layout",
    "Client": "ldp3.collection.client",
    "Code": "ldp3.protocols.layout",
    "Dataset": "ldp3.people",
    "Domain": "ldp3.domain",
    "Estimate": "ldp3.types",
    "Fields": "ldp3.protocols.layout",
    "FrequencyOracle": "ldp3.protocols.base",
    "Grid": "ldp3.domain",
    "Integers": "ldp3.domain",
    "Labels": "ldp3.domain",
    "Metric": "ldp3.metrics.base",
    "Noise": "ldp3.noise",
    "Plan": "ldp3.collection.plan",
    "PostProcessor": "ldp3.postprocessing.base",
    "PureNoise": "ldp3.noise",
    "PureOracle": "ldp3.protocols.pure",
    "RecordScheme": "ldp3.schemes.attributes",
    "Records": "ldp3.domain",
    "Results": "ldp3.results.table",
    "Source": "ldp3.datasets.base",
    "Support": "ldp3.noise",
    "Table": "ldp3.people",
    "Tables": "ldp3.tables",
    "Tally": "ldp3.types",
    "Words": "ldp3.randomness",
    "benchmark": "ldp3.experiment.run",
    "difference": "ldp3.collection.differences",
    "inference": "ldp3.threats.inference",
    "inspect": "ldp3.threats.detection",
    "load": "ldp3.datasets.loading",
    "load_results": "ldp3.results.table",
    "plot": "ldp3.reporting.figures",
    "recommend": "ldp3.recommendation.recommend",
    "report": "ldp3.reporting.page",
    "secure": "ldp3.randomness",
    "size": "ldp3.sizing.size",
    "statement": "ldp3.reporting.statement",
    "stream": "ldp3.randomness",
    "verify": "ldp3.verification.verify",
}
_PACKAGES = "attacks", "datasets", "metrics", "postprocessing", "protocols", "schemes"

__all__ = ["LDPError", "metric", "oracle", "postprocess", "require_values", "scheme", *_LAZY]


def __getattr__(name: str) -> Any:
    """Import what is slow to import when it is asked for."""
    if name in _PACKAGES:
        return import_module(f"ldp3.{name}")
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with needing_full(f"ldp3.{name}"):
        return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_PACKAGES})


def oracle(
    spec: "str | type[FrequencyOracle] | FrequencyOracle", epsilon: float, d: int
) -> "FrequencyOracle":
    """The frequency oracle that `spec` names: ``"olh"``, ``"olh(g=4)"``, a class; or as it is."""
    from ldp3.protocols.base import build_oracle

    return build_oracle(spec, epsilon=epsilon, d=d)


def scheme(
    spec: "str | type[RecordScheme]",
    epsilon: float,
    table: "Table | Records",
    targets: "Any" = None,
) -> "RecordScheme":
    """The scheme for several attributes that `spec` names: ``"groups"``, ``"smp"``, ``"joint"`` …

    `targets` are the tables that are wanted: 1 for those of each attribute, 2 for every two, or a
    list of such numbers and of tables, as ``[1, ("sex", "age")]``; by default 1 and 2.
    """
    from dataclasses import replace

    from ldp3.domain import Records
    from ldp3.errors import InvalidParameter
    from ldp3.protocols.base import build_oracle
    from ldp3.schemes.attributes import RecordScheme, by_number, numbered

    domain = getattr(table, "domain", table)
    if not isinstance(domain, Records):
        raise InvalidParameter("A scheme is for a Table, or for Records: ldp3.load(…, columns=…).")
    spec = by_number(spec, domain) if isinstance(spec, str) else spec
    made = build_oracle(spec, epsilon=epsilon, d=domain.d, sizes=domain.sizes)
    if not isinstance(made, RecordScheme):
        raise InvalidParameter(f"{type(made).__name__} says no tables: use groups, smp or pairs.")
    if targets is None:
        return made
    return replace(made, targets=numbered(targets, domain))


def postprocess(spec: "str | type[PostProcessor] | PostProcessor") -> "PostProcessor":
    """The post-processing method that `spec` names: ``"norm_sub"``, or ``"power+norm_sub"``."""
    from ldp3.postprocessing.base import build_method

    return build_method(spec)


def metric(spec: "str | type[Metric] | Metric") -> "Metric":
    """The metric that `spec` names, such as ``"l1"``."""
    from ldp3.metrics.base import build_metric

    return build_metric(spec)
