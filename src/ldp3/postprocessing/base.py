"""What a post-processing method promises, and how methods are named and chained."""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from types import ModuleType
from typing import ClassVar, final, overload

import numpy as np

from ldp3 import specs
from ldp3.arrays import FloatArray, as_distribution
from ldp3.domain import Domain
from ldp3.errors import InvalidData, InvalidParameter, needing_full, require, require_finite, short
from ldp3.tables import Key, Tables, margin
from ldp3.types import Estimate, Oracle, Point

DEFAULT = "multiscale"  # where nobody says which
ORDERED = "multiscale_ordered"  # and where sums over an order that means something are wanted
POINTS: dict[Point, str] = {  # and where a metric wants another point than the mean
    "median": "completed",
    "share": "completed_mean",
    "root": "completed_root",
}
ADAPTIVE = "adaptive_em"  # and for protocols that go by an order themselves
WHY = {
    DEFAULT: "of all methods it lost least over many kinds of data; biased, as all but none are",
    ORDERED: "for sums over ordered values it lost least; biased, as all but none are",
    POINTS["median"]: "in absolute error it lost least over many kinds of data; no distribution, "
    "its sum is below one; biased, as all but none are",
    POINTS["share"]: "for KL it lost least over many kinds of data; biased, as all but none are",
    POINTS["root"]: "for Hellinger it lost least over many data; biased, as all but none are",
    "isotonic": "for sums over ordered values, which it leaves nearly unbiased",
    ADAPTIVE: "for protocols that go by an order; biased, as all but none are",
    "interactions": "it takes tables of several attributes together; biased, as all but none are",
}


class _Refined(dict[Key, FloatArray]):
    """What a method makes of tables, by attributes in any order, as of the tables themselves."""

    def __init__(self, tables: Tables, found: dict[Key, FloatArray]) -> None:
        super().__init__(found)
        self._tables = tables

    def __missing__(self, key: Key) -> FloatArray:
        own = self._tables.attributes(key)
        for held, frequencies in self.items():
            axes = self._tables.attributes(held)
            if set(axes) == set(own):
                table = frequencies.reshape([self._tables.sizes[a] for a in axes])
                return margin(table, axes, own).ravel()
        raise InvalidData(f"{self._tables.called(own)} is none of the tables: {short(list(self))}.")


@dataclass(frozen=True)
class PostProcessor(ABC):
    """From an estimate to better frequencies. It sees what the server sees, never the truth.

    One method suffices: `refine`. One that cannot serve every oracle also says `applies` and, in
    words, `needs`; one whose result is always a distribution says `distribution = True`, one that
    answers the point of a posterior that some metrics want (`Metric.bayes`) names it as `bayes`,
    one that never turns the order of two equally noisy values round says `keeps_order = True`, one
    that takes neighbours in the domain for alike says `needs_order = True`, one that does not take
    the errors of different values for independent says `takes_covariance = True`.
    """

    aliases: ClassVar[tuple[str, ...]] = ()
    title: ClassVar[str] = ""  # as papers write it, where that is not the name of the class
    distribution: ClassVar[bool] = False  # at least 0 and summing to 1, to 1e-12
    bayes: ClassVar[Point | None] = None  # the point that it answers: made for metrics that want it
    keeps_order: ClassVar[bool] = False  # of equal noise, a higher estimate never ends below
    needs_order: ClassVar[bool] = False  # for domains whose order means something, and no others
    needs_records: ClassVar[bool] = False  # for tables of several attributes: of one it is another
    takes_covariance: ClassVar[bool] = False  # right for errors that hang together, too
    needs: ClassVar[str] = ""  # of an oracle, in words, where not every oracle will do
    instead: ClassVar[str] = ""  # what `all` takes instead of it, and why
    sets: ClassVar[dict[str, tuple[str, ...]]] = {  # that people name as one
        "paper": (
            "none", "base_pos", "norm", "norm_cut", "norm_sub", "norm_mul", "power", "power_ns",
        ),
        "usual": ("none", "norm_sub"),  # what is often deployed without looking
        "attributes": ("none", "norm_sub", "multiscale", "interactions"),  # for several of them
    }  # fmt: skip

    @overload
    def __call__(self, estimate: Estimate) -> FloatArray: ...
    @overload
    def __call__(self, estimate: Tables) -> dict[Key, FloatArray]: ...

    def __call__(self, estimate: Estimate | Tables) -> FloatArray | dict[Key, FloatArray]:
        """Frequencies of shape `(d,)`; the estimate, which is checked, is left untouched.

        Of tables of several attributes those of each.
        """
        if isinstance(estimate, Tables):
            return _Refined(estimate, self.across(estimate))
        if not isinstance(estimate, Estimate):
            raise InvalidData(
                f"{type(self).__name__}: an Estimate is needed, as `oracle.estimate` gives it (or "
                f"`Estimate.of(frequencies, n, noise)`), got {type(estimate).__name__}."
            )
        require_finite(self, frequencies=estimate.frequencies)
        require(estimate.n >= 1, self, "n must be at least 1", estimate.n)
        self.require_applies(estimate)
        if estimate.domain is not None:
            self.require_suited(estimate.domain)
        with needing_full(type(self).__name__):
            return self.refine(estimate)

    @abstractmethod
    def refine(self, estimate: Estimate) -> FloatArray:
        """The method, for a finite estimate of an oracle that it serves."""

    def across(self, tables: Tables) -> dict[Key, FloatArray]:
        """What becomes of several tables; by default each is taken alone."""
        return {key: self(tables[key]) for key in tables}

    def interval(
        self,
        estimate: Estimate,  # noqa: ARG002
        level: float = 0.95,  # noqa: ARG002
    ) -> tuple[FloatArray, FloatArray] | None:
        """Ends (low, high) around each of its frequencies, where the method knows them."""
        return None

    def applies(self, oracle: Oracle) -> bool:  # noqa: ARG002
        """Whether the method can serve this oracle's estimates."""
        return True

    def serves(self, oracle: Oracle) -> bool:
        """Whether it can and may: errors that hang together would mislead one that is not told."""
        return self.applies(oracle) and (self.takes_covariance or not oracle.correlated)

    def require_applies(self, oracle: Oracle) -> None:
        """Refuse an oracle that the method does not serve, with the reason."""
        if oracle.correlated and not self.takes_covariance:
            raise InvalidData(
                f"{type(self).__name__}: takes the errors of different values for independent, "
                f"which those of this protocol are not: use adaptive_em, isotonic, em or none."
            )
        if not self.applies(oracle):
            raise InvalidData(f"{type(self).__name__}: the protocol must have {self.needs}.")

    def require_suited(self, domain: Domain) -> None:
        """Refuse values without an order, where the method goes by one."""
        if not domain.suits(self):
            raise InvalidData(
                f"{type(self).__name__}: takes neighbours for alike, {domain.without_order}: use "
                f"another method, or a domain that is `ordered` and has no `other`."
            )


@final
@dataclass(frozen=True)
class _Chain(PostProcessor):
    """One method after the other; each sees the estimate with the frequencies of the last."""

    parts: tuple[PostProcessor, ...]

    @property
    def distribution(self) -> bool:  # type: ignore[override]
        return self.parts[-1].distribution

    @property
    def keeps_order(self) -> bool:  # type: ignore[override]
        return all(part.keeps_order for part in self.parts)

    @property
    def needs_order(self) -> bool:  # type: ignore[override]
        return any(part.needs_order for part in self.parts)

    @property
    def takes_covariance(self) -> bool:  # type: ignore[override]
        return all(part.takes_covariance for part in self.parts)

    @property
    def needs(self) -> str:  # type: ignore[override]
        return ", ".join(dict.fromkeys(part.needs for part in self.parts if part.needs))

    def applies(self, oracle: Oracle) -> bool:
        return all(part.applies(oracle) for part in self.parts)

    def require_applies(self, oracle: Oracle) -> None:
        for part in self.parts:
            part.require_applies(oracle)

    def refine(self, estimate: Estimate) -> FloatArray:
        for part in self.parts:
            estimate = replace(estimate, frequencies=part(estimate))
        return estimate.frequencies

    def across(self, tables: Tables) -> dict[Key, FloatArray]:
        found = self.parts[0].across(tables)
        for part in self.parts[1:]:
            found = {key: part(replace(tables[key], frequencies=f)) for key, f in found.items()}
        return found


def build_method(spec: object, *plugins: ModuleType) -> PostProcessor:
    """The method that `spec` means: a class, a method, ``"power"`` or ``"power+norm_sub"``."""
    if not isinstance(spec, str):
        return specs.build(PostProcessor, spec)
    parts = tuple(specs.build(PostProcessor, s, *plugins) for s in _links(spec))
    return parts[0] if len(parts) == 1 else _Chain(parts)


def canonical_method(spec: object, *plugins: ModuleType) -> str:
    """One spelling per method: ``"Power + Norm-Sub"`` → ``"power+norm_sub"``."""
    if isinstance(spec, str):
        return "+".join(specs.canonical(PostProcessor, s, *plugins) for s in _links(spec))
    if isinstance(spec, _Chain):
        return "+".join(map(canonical_method, spec.parts))
    return specs.canonical(PostProcessor, spec)


def _links(spec: str) -> list[str]:
    links = specs.split(spec, "+")
    if not links or re.search(r"(^|\+)\s*(\+|$)", spec):  # "", "power+", "power++norm"
        raise InvalidParameter(
            f"A method looks like 'norm_sub' or 'power+norm_sub', got {short(spec)}."
        )
    return links


def default_method(
    sums: bool = False, ordered: bool = False, point: Point | None = None, usual: str = ""
) -> str:
    """The method where nobody says which: the protocol's usual one, if it has one of its own.

    Else by whether ranges are added up, and along an order; else by the point that the metric
    wants.
    """
    if usual:
        return usual
    if sums and ordered:
        return ORDERED
    return DEFAULT if point is None else POINTS.get(point, DEFAULT)


def fill(start: FloatArray, rate: FloatArray) -> FloatArray:
    r"""The distribution $\max(a_v + t b_v, 0)$, with $t$ such that it sums to one.

    Exact, in $O(d \log d)$: values surface in the order of $a_v / b_v$. Where `rate` is 0,
    `start` must be at most 0 and the result is 0.
    """
    level = np.divide(start, rate, out=np.full(len(start), -np.inf), where=rate > 0)
    shift = level.max()  # measured from the highest value, no digits are lost in large numbers
    start, level = start - shift * rate, level - shift
    order = np.argsort(-level, kind="stable")
    t = (1 - start[order].cumsum()) / rate[order].cumsum()  # if only the first i surface
    above = order[: np.count_nonzero(level[order] + t > 0)]
    t_exact = (1 - start[above].sum()) / rate[above].sum()
    return as_distribution(start + t_exact * rate)
