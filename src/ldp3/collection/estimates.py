"""The estimate of a collection, to be read: labels, intervals, post-processed values."""

import json
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from ldp3.collection.aggregator import Aggregator
from ldp3.errors import InvalidParameter, require
from ldp3.files import whole_file
from ldp3.postprocessing.base import WHY
from ldp3.postprocessing.base import method as build
from ldp3.printing import columns, visible
from ldp3.results.spreadsheets import write_csv
from ldp3.types import Estimate

WRITTEN = (".csv", ".json", ".parquet")


@dataclass(frozen=True)
class CollectionEstimate:
    """What a collection says about its people.

    Parameters
    ----------
    table
        One row per value: label, frequency (unbiased), low and high end of its confidence
        interval, processed (by the method), and where the method knows one, low and high end of
        a credible interval of that under its fitted prior.
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
        refine = build(spec, *plan.modules)
        between = refine.interval(estimate, confidence)
        values = {
            "label": [plan.label(code) for code in range(plan.d)],
            "frequency": estimate.frequencies,
            "low": low,
            "high": high,
            "processed": refine(estimate),
        }
        if between is not None:
            values |= {"processed_low": between[0], "processed_high": between[1]}
        about: dict[str, object] = {
            "collection": plan.name,
            "identifier": plan.identifier,
            "protocol": plan.protocol,
            "epsilon": plan.epsilon,
            "n": server.n,
            "refused": server.refused,
            "confidence": confidence,
            "simultaneous": simultaneous,
            "interval": _meaning(estimate),
            "method": spec,
            "remarks": _remarks(spec, confidence, between is not None),
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
                temporary.write_text(text, encoding="utf-8")

    def csv(self) -> str:
        """The table; a label that begins like a formula has an apostrophe in front."""
        return write_csv(self.table)

    def json(self) -> str:
        """What the collection is, and the table as a list of values."""
        content = {**self.about, "values": self.table.to_dicts()}
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    def text(self) -> str:
        """Columns for people to read."""
        about = self.about
        each = "all at once" if about["simultaneous"] else "each"
        title = (
            f"{about['collection']}: {about['n']:,} reports, {about['protocol']}, "
            f"ε = {about['epsilon']:g}; intervals with confidence {about['confidence']:.4g}, {each}"
            f", {about['interval']}"
        )
        heads = ["value", "frequency", "low", "high", str(about["method"]), "from", "to"]
        rows = [[label, *(f"{x:.5f}" for x in numbers)] for label, *numbers in self.table.rows()]
        table = columns([heads[: self.table.width], *rows], "lr")
        remarks = "".join(f"\n{remark}\n" for remark in about["remarks"])  # type: ignore[attr-defined]
        return f"{visible(title)}\n\n{table}\n{remarks}"


def _remarks(method: str, level: float, between: bool) -> list[str]:
    """What must be known of a method to read its numbers, one sentence each."""
    said = [f"{method}: {WHY[method]}."] if method in WHY else []
    if between:
        said.append(
            f"from, to: where {method} believes the frequency to be, if it is one like the others; "
            f"over all values about {level:.4g} of these are right, which promises nothing for any "
            f"one of them: that is what low and high do."
        )
    return said


def _meaning(estimate: Estimate) -> str:
    """What an interval is for, and where it only nearly holds."""
    normal = "" if estimate.support is not None else " (by the normal law: right for many reports)"
    return f"for the frequency among those who reported{normal}"
