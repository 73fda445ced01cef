"""What a metric promises."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean
from types import ModuleType
from typing import ClassVar, Literal, Self

import numpy as np

from ldp3 import specs
from ldp3.arrays import FloatArray
from ldp3.errors import InvalidData, as_floats, needing_full, require_finite, site
from ldp3.people import Dataset, Marginals
from ldp3.types import Point


@dataclass(frozen=True)
class Metric(ABC):
    """How far frequencies are from the truth; both may be unnormalised and negative."""

    aliases: ClassVar[tuple[str, ...]] = ()
    title: ClassVar[str] = ""  # as papers write it, where that is not the name of the class
    unit: ClassVar[str] = ""  # of its values, where people read them
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    bayes: ClassVar[Point | None] = None  # the point of a posterior that it wants
    needs_order: ClassVar[bool] = False  # says little about labels that have none
    sets: ClassVar[dict[str, tuple[str, ...]]] = {"paper": ("l1", "l2", "kl", "emd")}

    def __call__(self, truth: FloatArray, frequencies: FloatArray) -> float:
        """The metric's value; finite for finite input, which is checked."""
        truth, frequencies = as_floats(self, truth=truth, frequencies=frequencies)
        require_finite(self, truth=truth, frequencies=frequencies)
        with needing_full(type(self).__name__):
            value = self.compare(truth, frequencies)
        if not isinstance(value, int | float | np.number):
            raise InvalidData(
                f"{site(self.compare)}: compare must return one number, got {type(value).__name__}."
            )
        return float(value)

    @abstractmethod
    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        """The formula, for two finite vectors of the same length."""

    def for_data(self, data: Dataset) -> Self:  # noqa: ARG002
        """This metric with what it needs to know of the dataset filled in."""
        return self

    def on(self, data: Dataset) -> Callable[[FloatArray, FloatArray], float]:
        """What measures it on a dataset; on several tables, the mean over them."""
        if not isinstance(data, Marginals):
            return self.for_data(data)
        parts = [(self.for_data(part), own) for part, own in data.parts]
        return lambda truth, f: fmean(metric(truth[own], f[own]) for metric, own in parts)


def build_metric(spec: object, *plugins: ModuleType) -> Metric:
    """The metric that `spec` means: ``"l1"``, ``"topk(k=10)"``, a class; a metric as it is."""
    return specs.build(Metric, spec, *plugins)
