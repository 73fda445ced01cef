"""The estimate of a collection, to be read: labels, intervals, post-processed values."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ldp3.answers import write_csv
from ldp3.arrays import BoolArray
from ldp3.collection.aggregator import Aggregator
from ldp3.display import MARK, standing
from ldp3.errors import InvalidParameter, require
from ldp3.files import whole_file, write_lines
from ldp3.postprocessing.base import WHY, build_method
from ldp3.printing import columns, wrapped
from ldp3.results import names
from ldp3.types import Estimate

HEADS = ("frequency", "low", "high", "processed", "from", "to")
WRITTEN = (".csv", ".json", ".parquet")


@dataclass(frozen=True)
class CollectionEstimate:
    """What a collection says about its people.

    Parameters
    ----------
    table
        One row per value: label, frequency (unbiased), low and high end of its confidence
        interval, processed (by the method), where the method knows one, low and high end of a
        credible interval of that under its fitted prior, users (processed, as a number of those
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
    ) -> "CollectionEstimate":
        """The estimate from what a server counted."""
        require(0 < confidence < 1, "`confidence`", "must be between 0 and 1", confidence)
        plan, estimate = server.plan, server.estimate()
        spec = method or plan.method
        low, high = estimate.confidence_interval(confidence, simultaneous)
        refine = build_method(spec, *plan.modules)
        between = refine.interval(estimate, confidence)
        values: dict[str, Any] = {
            "label": plan.domain.labels,
            "frequency": estimate.frequencies,
            "low": low,
            "high": high,
            "processed": refine(estimate),
        }
        if between is not None:
            values |= {"processed_low": between[0], "processed_high": between[1]}
        values |= {
            "users": np.rint(estimate.n * values["processed"]).astype(np.int64),
            "above_noise": estimate.above_noise(confidence),
        }
        about: dict[str, object] = {
            "collection": plan.name,
            "identifier": plan.identifier,
            "protocol": plan.protocol,
            "epsilon": plan.epsilon,
            "n": server.n,
            "ordered": plan.domain.ordered,
            "refused": server.refused,
            "confidence": confidence,
            "simultaneous": simultaneous,
            "interval": _meaning(estimate),
            "method": spec,
            "remarks": _remarks(spec, confidence, between is not None),
            "marks": _marks(values["above_noise"], spec, server.n, confidence),
        }
        return cls(pl.DataFrame(values), about)

    def save(self, path: Path) -> None:
        """Write a .csv, .json or .parquet file."""
        if path.suffix not in WRITTEN:
            raise InvalidParameter(f"{path}: an estimate is written to {', '.join(WRITTEN)}.")
        with whole_file(path) as temporary:
            if path.suffix == ".parquet":
                self.table.write_parquet(temporary)
            else:
                text = self.csv() if path.suffix == ".csv" else self.json()
                write_lines(temporary, text)

    def csv(self) -> str:
        """The table; a label that begins like a formula has an apostrophe in front."""
        return write_csv(self.table)

    def json(self) -> str:
        """What the collection is, and the table as a list of values."""
        content = {**self.about, "values": self.table.to_dicts()}
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    @property
    def shown(self) -> pl.DataFrame:
        """As people read it: values that have an order in it, others the most frequent first."""
        if self.about["ordered"]:
            return self.table
        return self.table.sort("frequency", descending=True, maintain_order=True)

    def text(self, width: int | None = None) -> str:
        """Columns for people to read; prose as wide as `width`."""
        about, table = self.about, self.shown
        numbers = table.drop("label", "users", "above_noise")
        heads = ["value", "", *HEADS[: numbers.width], "users"]
        heads[5] = names.method(str(about["method"]))
        rows = [
            [label, MARK if above else "", *(f"{x:.5f}" for x in row), f"{users:,}"]
            for label, above, users, row in zip(
                *table.select("label", "above_noise", "users"), numbers.rows(), strict=True
            )
        ]
        lines = columns([heads, *rows], "llr", width)
        remarks = [about["marks"], *about["remarks"]]  # type: ignore[misc]
        prose = [wrapped(str(remark), width) for remark in remarks]
        return "\n\n".join([wrapped(self.title(), width), lines, *prose]) + "\n"

    def title(self) -> str:
        """What the collection is, in one line."""
        about = self.about
        each = "all at once" if about["simultaneous"] else "each"
        protocol = names.protocol(str(about["protocol"]))
        return (
            f"{about['collection']}: {about['n']:,} reports, {protocol}, "
            f"ε = {about['epsilon']:g}; intervals with confidence {about['confidence']:.4g}, {each}"
            f", {about['interval']}"
        )


def _marks(above: BoolArray, method: str, n: int, level: float) -> str:
    """What the mark and the numbers of users mean."""
    return (
        f"{standing(above)}: with confidence {level:.4g} for all of these at once, somebody holds "
        f"them. users: {names.method(method)} × {n:,}."
    )


def _remarks(method: str, level: float, between: bool) -> list[str]:
    """What must be known of a method to read its numbers, one sentence each."""
    called = names.method(method)
    said = [f"{called}: {WHY[method]}."] if method in WHY else []
    if between:
        said.append(
            f"from, to: where {called} believes the frequency to be, if it is one like the others; "
            f"over all values about {level:.4g} of these are right, which promises nothing for any "
            f"one of them: that is what low and high do."
        )
    return said


def _meaning(estimate: Estimate) -> str:
    """What an interval is for, and where it only nearly holds."""
    normal = "" if estimate.support is not None else " (by the normal law: right for many reports)"
    return f"for the frequency among those who reported{normal}"
