"""LDP³: local differential privacy, every protocol × post-processing × metric."""

from typing import TYPE_CHECKING

from ldp3.errors import LDPError
from ldp3.randomness import secure, stream

if TYPE_CHECKING:  # a client that only perturbs must not wait for what it does not use
    from ldp3.metrics.base import Metric
    from ldp3.postprocessing.base import PostProcessor
    from ldp3.protocols.base import FrequencyOracle

__version__ = "0.1.0"

__all__ = ["LDPError", "metric", "oracle", "postprocess", "secure", "stream"]


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
