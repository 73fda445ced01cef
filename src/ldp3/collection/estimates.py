"""The answer of a collection: labels, frequencies, confidence intervals, post-processed values."""

import json
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from ldp3 import postprocess
from ldp3.collection.aggregator import Aggregator
from ldp3.collection.writing import whole
from ldp3.errors import InvalidParameter, require

WRITTEN = (".csv", ".json", ".parquet", ".html")


@dataclass(frozen=True)
class Answer:
    """What a collection says about its people.

    Parameters
    ----------
    table
        One row per value: label, frequency (unbiased), low and high end of its confidence
        interval, processed (by the method).
    about
        The collection, its number of reports, the method, the level.
    """

    table: pl.DataFrame
    about: dict[str, object]

    @classmethod
    def of(
        cls, server: Aggregator, method: str | None, level: float, simultaneous: bool
    ) -> "Answer":
        """The estimate from what a server counted."""
        require(0 < level < 1, "--level", "must be between 0 and 1", level)
        plan, estimate = server.plan, server.estimate()
        spec = method or plan.method
        process = postprocess(spec)
        if not process.applies(plan.oracle):
            raise InvalidParameter(f"{spec} does not apply to {plan.protocol}: choose another -m.")
        low, high = estimate.confidence_interval(level, simultaneous)
        columns = {
            "label": [plan.label(code) for code in range(plan.d)],
            "frequency": estimate.frequencies,
            "low": low,
            "high": high,
            "processed": process(estimate),
        }
        about: dict[str, object] = {
            "collection": plan.name,
            "identifier": plan.identifier,
            "protocol": plan.protocol,
            "epsilon": plan.epsilon,
            "n": server.n,
            "refused": server.refused,
            "level": level,
            "simultaneous": simultaneous,
            "method": spec,
        }
        return cls(pl.DataFrame(columns), about)

    def save(self, path: Path) -> None:
        """Write a .csv, .json or .parquet file, or an .html page."""
        if path.suffix not in WRITTEN:
            raise InvalidParameter(f"{path}: an estimate is written to {', '.join(WRITTEN)}.")
        with whole(path) as temporary:
            if path.suffix == ".parquet":
                self.table.write_parquet(temporary)
            else:
                texts = {".csv": self.csv, ".json": self.json, ".html": self.html}
                temporary.write_text(texts[path.suffix](), encoding="utf-8")

    def csv(self) -> str:
        """The table."""
        return self.table.write_csv()

    def json(self) -> str:
        """What the collection is, and the table as a list of values."""
        content = {**self.about, "values": self.table.to_dicts()}
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    def html(self) -> str:
        """One page for people to look at."""
        from ldp3.reporting.estimate import estimate_page

        return estimate_page(self)

    def text(self) -> str:
        """Columns for people to read."""
        about, level = self.about, f"{self.about['level']:.4g}"
        each = "all at once" if about["simultaneous"] else "each"
        heads = ["value", "frequency", "low", "high", str(about["method"])]
        rows = [[label, *(f"{x:.5f}" for x in numbers)] for label, *numbers in self.table.rows()]
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
            for row in (heads, *rows)
        ]
        title = (
            f"{about['collection']}: {about['n']:,} reports, {about['protocol']}, "
            f"ε = {about['epsilon']:g}; intervals at level {level}, {each}"
        )
        return "\n".join([title, "", *lines, ""])
