"""The estimate of a collection, to be read: labels, intervals, post-processed values.

Of several attributes also what it says of two of them: whether and how they go together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import join
from typing import Any

import numpy as np
import polars as pl

from ldp3.answers import Answer, PrintedColumn, table
from ldp3.arrays import BoolArray, FloatArray
from ldp3.collection.aggregator import Aggregator
from ldp3.display import MARK, bar, standing
from ldp3.domain import Records
from ldp3.errors import InvalidParameter, require_share
from ldp3.files import whole_file, write_lines
from ldp3.noise import PureNoise
from ldp3.postprocessing.base import WHY, PostProcessor, build_method
from ldp3.printing import plural
from ldp3.results import names
from ldp3.schemes.resolutions import JoinedNoise
from ldp3.tables import TableNoise
from ldp3.types import Estimate

NUMBERS = ("frequency", "low", "high", "processed", "processed_low", "processed_high")
UP_TO = {"up_to": "up to here", "up_to_low": "low", "up_to_high": "high"}
TITLES = {"label", *NUMBERS, *UP_TO, "users", "above_noise"}  # of its columns
WRITTEN = (".csv", ".json", ".parquet")
FEW_PEOPLE = 50  # below whom the normal law is not to be trusted
NOT_DIVIDED = "–: too few people to tell, for nobody may be in that row."
UNEVEN = "Each share is estimated by itself and kept within its interval: they need not sum to one."


@dataclass(frozen=True)
class CollectionEstimate:
    """What a collection says about its people.

    Parameters
    ----------
    table
        One row per value: label, of several attributes the value of each, frequency (unbiased), low
        and high end of its confidence interval, processed (by the method), where the method knows
        one, low and high end of a credible interval of that under its fitted prior, where values
        lie in an order up_to, the share of people up to there by the method, and up_to_low and
        up_to_high, the interval of its unbiased estimate, users (processed, as a number of those
        who reported), and above_noise: whether the value stands above the noise. In the order of
        the domain.
    about
        The collection, its number of reports, the method, the confidence, what an interval means.
    """

    table: pl.DataFrame
    about: dict[str, object]

    @classmethod
    def of(
        cls,
        server: Aggregator,
        method: str | None = None,
        confidence: float = 0.95,
        simultaneous: bool = False,
        attributes: Sequence[str] = (),
    ) -> "CollectionEstimate":
        """The estimate from what a server counted; of several attributes, the table of some."""
        require_share("`confidence`", confidence)
        plan = server.plan
        spec = method or plan.method
        refine = build_method(spec, *plan.modules)
        estimate, processed = estimated(server, refine, attributes)
        domain = plan.domain if estimate.domain is None else estimate.domain
        low, high = estimate.confidence_interval(confidence, simultaneous)
        between = refine.interval(estimate, confidence)
        values: dict[str, Any] = {"label": domain.labels}
        if isinstance(domain, Records):  # the attributes in columns of their own, for programs
            held = zip(domain.parts, domain.columns(np.arange(domain.d)).T, strict=True)
            for part, own in held:
                title = f"{part.name} (attribute)" if part.name in TITLES else part.name
                values[title] = [part.label(c) for c in own]
        values |= {"frequency": estimate.frequencies, "low": low, "high": high}
        values["processed"] = processed
        if between is not None:
            values |= {"processed_low": between[0], "processed_high": between[1]}
        # all at once by Bonferroni, as the intervals of single values
        until = estimate.until(1 - (1 - confidence) / (estimate.d if simultaneous else 1))
        if until is not None:
            up_to = np.cumsum(processed)
            values |= {"up_to": up_to, "up_to_low": until.low, "up_to_high": until.high}
        above = estimate.above_noise(confidence)
        values |= {"users": np.rint(estimate.n * processed).astype(np.int64), "above_noise": above}
        single = until is None or not estimate.correlated  # values are read one by one
        nobody = int((high == 0).sum())
        remarks = _certain(estimate, nobody, domain.labels, confidence) if single else []
        remarks += _remarks(spec, confidence, between is not None)
        remarks += little_of_single_values(estimate, plan.protocol)
        remarks += [] if estimate.noise.guaranteed else too_few(estimate)
        claim, shuffled = plan.shuffled, None
        if claim is not None:
            remarks.append(claim.said_of(server.n, server.identified))
            shuffled = {**claim.claim, "can_hold": claim.can_hold(server.n, server.identified)}
        pair = domain.parts if isinstance(domain, Records) and len(domain.parts) == 2 else ()
        about: dict[str, object] = {
            "collection": plan.name,
            "identifier": plan.identifier,
            "protocol": plan.protocol,
            "epsilon": plan.epsilon,
            "shuffled": shuffled,
            "n": server.n,
            "ordered": domain.ordered,
            "attributes": list(attributes),
            "cross": [list(part.labels) for part in pair] or None,
            "single": single,
            "refused": server.refused,
            "confidence": confidence,
            "simultaneous": simultaneous,
            "interval": _meaning(estimate),
            "method": spec,
            "below_zero": _below_zero(estimate),
            "remarks": remarks,
            "marks": _marks(above if single else None, spec, server.n, confidence),
        }
        return cls(pl.DataFrame(values), about)

    def save(self, path: Path) -> None:
        """Write a .csv, .json or .parquet file."""
        if path.suffix not in WRITTEN:
            raise InvalidParameter(
                f"{path}: an estimate is written to {', '.join(WRITTEN)}, and by `ldp3 estimate` "
                f"to .html, .svg, .png, .pdf."
            )
        with whole_file(path) as temporary:
            if path.suffix == ".parquet":
                self.table.write_parquet(temporary)
            else:
                write_lines(temporary, self.render(path.suffix[1:]) + "\n")

    @property
    def shown(self) -> pl.DataFrame:
        """As people read it: values that have an order in it, others the most frequent first."""
        if self.about["ordered"]:
            return self.table
        return self.table.sort("frequency", descending=True, maintain_order=True)

    def answer(self) -> Answer:
        """What people and programs are told."""
        numbers = heads(self.table, self.about)
        shown = [PrintedColumn("label", "value")]
        if self.about["single"]:
            shown.append(PrintedColumn("above_noise", "", lambda above: MARK if above else ""))
        shown += [PrintedColumn(name, head, "{:.5f}".format) for name, head in numbers.items()]
        shown.append(PrintedColumn("users", "people", "{:,}".format))
        rows, align = self.shown, "l" * (len(shown) - len(numbers) - 1) + "r"
        if "up_to" in rows.columns:
            top = float(rows["processed"].max())  # type: ignore[arg-type]
            rows = rows.with_columns(bar=pl.Series([bar(x, top) for x in rows["processed"]]))
            columns = UP_TO.items() if not self.about["single"] else ()
            shown += [PrintedColumn(name, head, "{:.4f}".format) for name, head in columns]
            shown.append(PrintedColumn("bar", ""))
            align = align + "r" * (len(shown) - len(align) - 1) + "l"
        grid = table(rows, shown, align, title=self.title())
        remarks = [str(self.about["marks"]), *self.about["remarks"]]  # type: ignore[misc]
        return Answer([grid, *remarks], {**self.about, "values": self.table})

    def render(self, format: str = "text", width: int | None = None) -> str:
        """As text, Markdown, LaTeX, JSON or CSV; `width` is the terminal's."""
        return self.answer().render(format, width)

    def title(self) -> str:
        """What the collection is, in one line."""
        about = self.about
        each, meaning = "all at once" if about["simultaneous"] else "each", str(about["interval"])
        if not about["single"]:  # people see the intervals of other numbers
            meaning = meaning.replace("frequency", "share up to each value")
        protocol = names.protocol(str(about["protocol"]))
        many = plural(about["n"], "report")  # type: ignore[arg-type]
        of = " × ".join(about["attributes"])  # type: ignore[arg-type]
        called = f"{about['collection']}, {of}" if of else about["collection"]
        return (
            f"{called}: {many}, {protocol}, "
            f"ε = {about['epsilon']:g}; intervals with confidence {about['confidence']:.4g}, {each}"
            f", {meaning}"
        )


def estimated(
    server: Aggregator, refine: PostProcessor, attributes: Sequence[str]
) -> tuple[Estimate, FloatArray]:
    """The unbiased estimate of all values, or of the table of some attributes; and refined."""
    if not attributes:
        if isinstance(server.plan.domain, Records) and server.plan.oracle.needs_records:
            called = ", ".join(server.plan.domain.names)
            raise InvalidParameter(
                f"{server.plan.name!r} asks several attributes ({called}): say which table, as in "
                f"--table {join(server.plan.domain.names[:2])}."
            )
        estimate = server.estimate()
        return estimate, refine(estimate)
    tables = server.tables()
    own = tables.attributes(tuple(attributes))
    key = attributes[0] if len(own) == 1 else tuple(attributes)
    estimate = tables[key]  # or it is refused, with the reason
    every = replace(tables, targets=tuple(dict.fromkeys((*tables.targets, own))))
    return estimate, refine(every)[key]


def heads(table: pl.DataFrame, about: Mapping[str, object]) -> dict[str, str]:
    """What people read over the numbers; without a method, processed is the frequency again."""
    method = str(about["method"])
    called = {"processed": names.method(method), "processed_low": "from", "processed_high": "to"}
    shown = {name: called.get(name, name) for name in NUMBERS if name in table.columns}
    shown = {name: head for name, head in shown.items() if head != "none"}
    return shown if about["single"] else {"processed": shown.get("processed", "frequency")}


def _marks(above: BoolArray | None, method: str, n: int, level: float) -> str:
    """What the mark, where there is one, and the numbers of people mean."""
    column = "frequency" if method == "none" else names.method(method)
    people = f"The column people is {n:,} times the column {column}."
    if above is None:
        return f"{people} Low and high: the interval of the unbiased share up to here."
    return (
        f"{standing(above)}: with confidence {level:.4g} for all of these at once, somebody holds "
        f"them. {people}"
    )


def _remarks(method: str, level: float, between: bool) -> list[str]:
    """What must be known of a method to read its numbers, one sentence each."""
    called = names.method(method)
    said = [f"{called}: {WHY[method]}."] if method in WHY else []
    if between:
        said.append(
            f"Over all values, about {level:.4g} of the ranges (from, to) of {called} hold the "
            f"true frequency. For a single value only low and high promise it."
        )
    return said


def little_of_single_values(estimate: Estimate, protocol: str) -> list[str]:
    """What to ask instead of a protocol that goes by an order."""
    said = (
        f"{names.protocol(protocol)} tells where people lie, and little of single values: ask for "
        f"`mean`, `quantiles`, `above`, `below` or `between`."
    )
    return [said] if estimate.correlated else []


def too_few(estimate: Estimate) -> list[str]:
    """Whether intervals by the normal law are not to be trusted."""
    what, asked, noise = "All of this was", estimate.n, estimate.noise
    if isinstance(noise, TableNoise):
        asked = noise.tables.people(noise.attributes)
    elif isinstance(noise, JoinedNoise) and asked >= FEW_PEOPLE:
        what, asked = "Shares and quantiles were", noise.in_bins
    if asked >= FEW_PEOPLE:
        return []
    only = f"{what} asked of {plural(asked, 'person')} only"
    return [f"{only}: too few for the normal law, so that intervals may be too short."]


def _below_zero(estimate: Estimate) -> float | None:
    """How likely honest reports have an estimate so far below zero, over all values."""
    if not isinstance(estimate.noise, PureNoise):
        return None
    return min(1.0, estimate.d * float(estimate.noise.below_zero(estimate.frequencies).min()))


def _certain(estimate: Estimate, nobody: int, labels: Sequence[str], level: float) -> list[str]:
    """What intervals from 0 to 0 mean, which read as if all were known."""
    chance, lowest = _below_zero(estimate), labels[int(np.argmin(estimate.frequencies))]
    if not nobody:
        return []
    if chance is None or chance > 1 - level:
        many = plural(nobody, "interval is", "intervals are")
        return [f"{many} from 0 to 0: there noise is far below zero, as it may be for some values."]
    return [
        f"{lowest} is further below zero than honest reports allow (p = {chance:.2g}, over all "
        f"values): fake users, or a broken client. Intervals hold for honest reports only, so do "
        f"not trust these; `ldp3 inspect` looks closer."
    ]


def _meaning(estimate: Estimate) -> str:
    """What an interval is for, and where it only nearly holds."""
    normal = "" if estimate.noise.guaranteed else " (by the normal law: right for many reports)"
    return f"for the frequency among those who reported{normal}"


def association_answer(
    server: Aggregator, first: str, second: str, confidence: float = 0.95
) -> Answer:
    """Whether two attributes go together, and how much."""
    about = _about(server, confidence) | {"attributes": [first, second]}
    tables = server.tables()
    found = tables.association(first, second, confidence)
    values = pl.DataFrame(
        {
            "p_value": [found.p_value],
            "v": [found.v],
            "low": [found.low],
            "high": [found.high],
            "merged": [found.merged],
            "needed": [found.needed],
        }
    )
    rest = (
        "The p-value is that of Wald's test with the noise of the reports; V goes from 0, "
        "independent, to 1. Both are about the population that the people are a sample of."
    )
    said = [f"{first} and {second}: {found}", *too_few(tables[first, second]), rest]
    return Answer(said, about | {"association": values})


def shares_answer(server: Aggregator, of: str, by: str, confidence: float = 0.95) -> Answer:
    """The shares of the values of one attribute among people with each value of another."""
    about = _about(server, confidence)
    plan, tables = server.plan, server.tables()
    frame = tables.share(of, by=by, level=confidence).to_frame()
    title = (
        f"{plan.name}: shares of {of} within each {by}; {plural(server.n, 'report')}, "
        f"{names.protocol(plan.protocol)}, ε = {plan.epsilon:g}; Fieller's intervals with "
        f"confidence {confidence:.4g}, each, for those who reported"
    )
    shown = [PrintedColumn("among", by), PrintedColumn("label", of)]
    shown += [PrintedColumn(name, name, "{:.4f}".format) for name in ("share", "low", "high")]
    empty = frame["share"].has_nulls()
    grid = table(frame, shown, "llrrr", title=title)
    return Answer(
        [grid, UNEVEN, NOT_DIVIDED if empty else "", *too_few(tables[of, by])],
        about | {"of": of, "by": by, "shares": frame},
    )


def _about(server: Aggregator, confidence: float) -> dict[str, Any]:
    require_share("`confidence`", confidence)
    plan = server.plan
    return {
        "collection": plan.name,
        "identifier": plan.identifier,
        "n": server.n,
        "confidence": confidence,
    }
