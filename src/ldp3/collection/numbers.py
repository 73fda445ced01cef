"""What was asked of collected numbers: means, quantiles and shares, of one collection or two."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import hypot, isinf
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

from ldp3.answers import Answer, PrintedColumn, table
from ldp3.arrays import FloatArray
from ldp3.collection.aggregator import Aggregator
from ldp3.collection.differences import both_sides, minus, wanted
from ldp3.collection.estimate_table import estimated, too_few
from ldp3.domain import Bins, Domain
from ldp3.errors import InvalidData, require_share
from ldp3.postprocessing.base import build_method
from ldp3.printing import plural
from ldp3.questions import Place, Quantity, Questions, range_said
from ldp3.results import names

AT_AN_END = 0.005, 2.0  # share of people in an end bin, and times its neighbour's, worth a remark
NORMAL = "by the normal law: right for many reports"
SURE = "for every number of reports"
Ask = Callable[..., Quantity]  # of questions, at a level


@dataclass(frozen=True)
class Asked:
    """Which numbers are wanted.

    Parameters
    ----------
    mean
        Whether the mean is.
    quantiles
        Shares of people below, such as 0.5 for the median.
    above, below, between
        Ranges whose shares are wanted: from a number (or date) on, below one, from one up to
        another.
    """

    mean: bool = False
    quantiles: Sequence[float] = ()
    above: Sequence[Place] = ()
    below: Sequence[Place] = ()
    between: Sequence[tuple[Place, Place]] = ()

    def __bool__(self) -> bool:
        return bool(self.mean or self.quantiles or self.above or self.below or self.between)

    def each(self, domain: Domain) -> Iterator[tuple[str, bool, Ask]]:
        """Every question: what it is called, whether its answer is a place on the line."""
        if self.mean:
            yield "mean", True, Questions.mean
        for q in self.quantiles:
            called = "median" if q == 0.5 else f"quantile {q:g}"
            yield called, True, partial(Questions.quantile, q=q)
        none: dict[str, Any] = {"above": None, "below": None, "between": None}
        ranges: list[tuple[Place | None, Place | None, dict[str, Any]]]
        ranges = [(low, None, {"above": low}) for low in self.above]
        ranges += [(None, high, {"below": high}) for high in self.below]
        ranges += [(*ends, {"between": ends}) for ends in self.between]
        for low, high, given in ranges:
            called = f"share {range_said(domain, low, high)}"
            yield called, False, partial(Questions.share, **none | given)


def told(
    server: Aggregator,
    asked: Asked,
    method: str | None = None,
    confidence: float = 0.95,
    guaranteed: bool = False,
    attributes: Sequence[str] = (),
) -> Answer:
    """What one collection says, unbiased and with intervals; and by the method.

    Of several attributes, what it says of one of them.
    """
    require_share("`confidence`", confidence)
    plan = server.plan
    spec = method or plan.method
    estimate, processed = estimated(server, build_method(spec, *plan.modules), attributes)
    domain = plan.domain if estimate.domain is None else estimate.domain
    raw = Questions(estimate.frequencies, estimate.noise, domain, guaranteed)
    refined = Questions(processed, estimate.noise, domain)
    rows = []
    for called, on_line, ask in asked.each(domain):
        found, by_method = ask(raw, level=confidence), ask(refined, level=confidence).value
        rows.append((called, on_line, found.value, found.low, found.high, by_method))
    keys = "question", "on_line", "value", "low", "high", "processed"
    frame = pl.DataFrame(rows, schema=keys, orient="row")
    beyond = frame.filter(~pl.col("value").is_between("low", "high")).height
    heads = {"value": "unbiased", "low": "low", "high": "high", "processed": names.method(spec)}
    title = (
        f"{', '.join([plan.name, *attributes])}: {plural(server.n, 'report')}, "
        f"{names.protocol(plan.protocol)}, ε = "
        f"{plan.epsilon:g}; intervals with confidence {confidence:.4g}, each, for those who "
        f"reported ({SURE if guaranteed else NORMAL})"
    )
    about: dict[str, Any] = {
        "collection": plan.name,
        "identifier": plan.identifier,
        "n": server.n,
        "confidence": confidence,
        "guaranteed": guaranteed,
        "method": spec,
        **_unit(domain),
        "remarks": [
            *_left_out(domain, processed),
            *([] if guaranteed else too_few(estimate)),
            *["A value outside its interval cannot be: noise put it there."][:beyond],
            *(_remarks(domain, processed) if asked.mean else []),
        ],
    }
    grid = _table(frame, heads, domain, title)
    return Answer([grid, *about["remarks"]], {**about, "answers": frame.drop("on_line")})


def told_apart(
    first: Aggregator,
    second: Aggregator,
    asked: Asked,
    confidence: float = 0.95,
    called: tuple[str, str] | None = None,
    attributes: Sequence[str] = (),
) -> Answer:
    """How much larger each number is in the first of two collections, as they are `called`.

    Of several attributes, those of one of them.
    """
    require_share("`confidence`", confidence)
    estimates = [wanted(server, attributes) for server in (first, second)]
    domain, other = (
        e.domain or s.plan.domain for e, s in zip(estimates, (first, second), strict=True)
    )
    if domain.describe() | {"name": ""} != other.describe() | {"name": ""}:
        raise InvalidData(
            f"{first.plan.name} and {second.plan.name} have different domains: only collections of "
            f"the same values can be compared."
        )
    both = [Questions(e.frequencies, e.noise, domain) for e in estimates]
    rows = []
    for question, on_line, ask in asked.each(domain):
        one, two = (ask(each, level=confidence) for each in both)
        low, high = _apart(ask, both, confidence, on_line)
        rows.append((question, on_line, one.value, two.value, one.value - two.value, low, high))
    keys = "question", "on_line", "first", "second", "difference", "low", "high"
    frame = pl.DataFrame(rows, schema=keys, orient="row")
    sides = both_sides(first, second, called, attributes)
    about = {**sides, "confidence": confidence, **_unit(domain)}
    title = (
        f"{minus(about)}; intervals with confidence {confidence:.4g}, each, for those who reported "
        f"({NORMAL})"
    )
    grid = _table(frame, {key: key for key in keys[2:]}, domain, title)
    remarks = _left_out(domain)
    for side, estimate in zip(("first", "second"), estimates, strict=True):
        remarks += [f"{about[side]['collection']}: {said}" for said in too_few(estimate)]
    if asked.mean and _open(domain):
        remarks.append(
            "Bins without an end count as wide as those beside: means are of clipped numbers."
        )
    about["remarks"], name = remarks, about["first"]["collection"]
    verdict = " ".join(_changed(row, domain, name) for row in frame.iter_rows(named=True))
    parts = [verdict, grid, *about["remarks"]]
    return Answer(parts, {**about, "answers": frame.drop("on_line")})


def _changed(row: dict[str, Any], domain: Domain, first: str) -> str:
    """Whether a number differs, in one sentence."""
    low, high = row["low"], row["high"]
    if low <= 0 <= high:
        return f"The {row['question']} is not shown to differ."
    unit = " days" * domain.in_days if row["on_line"] else " percentage points"
    near, far = sorted(abs(end) * (1 if row["on_line"] else 100) for end in (low, high))
    more = "higher" if low > 0 else "lower"
    return f"The {row['question']} is {more} by {near:,.4g} to {far:,.4g}{unit} in {first}."


def _apart(
    ask: Ask, both: Sequence[Questions], confidence: float, on_line: bool
) -> tuple[float, float]:
    """Ends of the interval of a difference, within what it can be.

    Errors of two collections are independent, so that their variances add up. A quantile has none:
    the intervals of both hold at once, each with half of the doubt.
    """
    one, other = (ask(each, level=(1 + confidence) / 2) for each in both)
    if one.std is None or other.std is None:
        return one.low - other.high, one.high - other.low
    half = -NormalDist().inv_cdf((1 - confidence) / 2) * hypot(one.std, other.std)
    apart, line = one.value - other.value, both[0].line.line
    most = float(np.ptp(line)) if on_line and line is not None else 1.0
    return max(min(apart, most) - half, -most), min(max(apart, -most) + half, most)


def _table(frame: pl.DataFrame, heads: dict[str, str], domain: Domain, title: str) -> Any:
    """People read dates as dates, and shares in five digits."""
    apart = ("difference", "low", "high") if "difference" in heads else ()

    def shown(row: dict[str, Any], key: str) -> str:
        number = row[key]
        if not row["on_line"]:
            return f"{number:.5f}"
        if key in apart:
            return f"{number:,.6g} days" if domain.in_days else f"{number:,.6g}"
        return domain.said(number, "{:,.6g}".format)

    rows = [{"question": row["question"], **{key: shown(row, key) for key in heads}}
            for row in frame.iter_rows(named=True)]  # fmt: skip
    columns = [
        PrintedColumn("question", ""),
        *(PrintedColumn(key, head) for key, head in heads.items()),
    ]
    return table(pl.DataFrame(rows), columns, title=title)


def _unit(domain: Domain) -> dict[str, str]:
    """What programs must know of places on a line of dates, for they get numbers."""
    return {"unit": "days since 1970-01-01"} if domain.in_days else {}


def _left_out(domain: Domain, processed: FloatArray | None = None) -> list[str]:
    """Whom all of this is about, if not about everybody."""
    if domain.other is None:
        return []
    share = "" if processed is None else f": {1 - processed[-1]:.1%}"
    return [f"All of this is among those who are not {domain.other!r}{share}."]


def _remarks(domain: Domain, processed: FloatArray) -> list[str]:
    """What must be known of the ends of a range to read a mean."""
    if not isinstance(domain, Bins):
        return []
    far = f"{max(high - low for low, high in pairwise(domain.edges)) / 2:,.4g}"
    inner = f", up to {far}{' days' if domain.in_days else ''} off"
    if _open(domain):
        inner = ", and a bin without an end counts as wide as the one beside it"
    said = [f"A mean takes everybody at the middle of a bin{inner}."]
    if all(isinf(edge) or edge == round(edge) for edge in domain.edges):
        what = "days" if domain.in_days else "numbers"
        said[0] += f" Of whole {what} that is half of one too much: [1, 3) holds 1 and 2."
    processed = processed[: domain.size]
    ends = ("first", 0, 1, domain.edges[0]), ("last", -1, -2, domain.edges[-1])
    for which, code, beside, end in ends:
        share, neighbour = float(processed[code]), float(processed[beside])
        if isinf(end):
            said.append(f"The {which} bin is open: {share:.2%} are in it.")
        elif share > max(AT_AN_END[0], AT_AN_END[1] * neighbour):
            said.append(
                f"{share:.2%} are in the {which} bin: if numbers beyond were clipped to it, so is "
                f"the mean."
            )
    return said


def _open(domain: Domain) -> bool:
    """Whether a bin has no end, so that numbers beyond it count as in the bin that was there."""
    return isinstance(domain, Bins) and any(map(isinf, domain.edges))
