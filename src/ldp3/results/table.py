"""What a run measured: one long table, and what is needed to read it."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import polars as pl

from ldp3 import catalog, ranking, tables
from ldp3.arrays import FloatArray
from ldp3.errors import InvalidData, InvalidParameter, LDPError
from ldp3.metrics.base import Metric

SCHEMA: dict[str, Any] = {
    "dataset": pl.String,
    "n": pl.Int64,
    "d": pl.Int64,
    "epsilon": pl.Float64,
    "protocol": pl.String,
    "method": pl.String,
    "metric": pl.String,
    "repeat": pl.Int64,
    "value": pl.Float64,
    "simulate": pl.String,
}
KEY = ["dataset", "n", "d", "epsilon", "protocol", "method", "metric", "simulate"]


@dataclass(frozen=True, repr=False)
class Results:
    """A long tidy table, and beside it the truth and what the run was.

    Parameters
    ----------
    table
        One row per protocol, ε, method, metric and repeat, in the order of the grid.
    manifest
        What was run, with which versions, how long it took.
    truth, labels
        The frequencies of the data, and what the values are called.
    means
        Frequencies averaged over the repeats: `epsilon protocol method frequencies`.
    estimates
        The frequencies of every repeat, where they were kept.
    """

    table: pl.DataFrame
    manifest: dict[str, Any] = field(default_factory=dict)
    truth: FloatArray | None = None
    labels: tuple[str, ...] | None = None
    means: pl.DataFrame | None = None
    estimates: pl.DataFrame | None = None

    @property
    def better(self) -> dict[str, str]:
        """For each metric, whether lower or higher is better."""
        known = self.manifest.get("better")
        known = (
            known if isinstance(known, dict) else {}
        )  # a manifest is a file: it may hold anything
        specs = self.table["metric"].unique(maintain_order=True)
        return {
            spec: known[spec] if known.get(spec) in ("lower", "higher") else _direction(spec)
            for spec in specs
        }

    def summary(self) -> pl.DataFrame:
        """Mean, standard deviation, standard error and extremes over the repeats."""
        value = pl.col("value")
        return self.table.group_by(KEY, maintain_order=True).agg(
            mean=value.mean(),
            std=value.std(),
            count=value.len(),
            standard_error=value.std() / value.len().sqrt(),
            min=value.min(),
            max=value.max(),
        )

    def best(self, alpha: float = ranking.ALPHA) -> pl.DataFrame:
        """Every combination of each metric and ε from best to worst.

        `tied` says that it cannot be told from the best one: one-sided t-tests against the leader,
        paired within a protocol and Welch's across, corrected for the number of comparisons. With
        probability at least 1−α every truly best combination is among the tied: see `ranking`.
        """
        return ranking.best(self.table, self.better, alpha)

    def sheets(self) -> list[tables.Sheet]:
        """The paper's tables: one for each metric and ε."""
        return tables.sheets(self.table, self.better)

    def render(self, format: str = "table", width: int | None = None) -> str:
        """The summary as a table, Markdown, LaTeX, JSON or CSV; `width` is the terminal's."""
        if format == "csv":
            return self.summary().write_csv().rstrip("\n")
        if format == "json":
            rows = {"summary": self.summary().to_dicts(), "best": self.best().to_dicts()}
            return json.dumps(rows, indent=2, ensure_ascii=False)
        if format == "table":
            return "\n\n\n".join(tables.text(sheet, width) for sheet in self.sheets())
        if format not in tables.RENDER:
            raise InvalidParameter(f"format is {', '.join(tables.FORMATS)}, got {format!r}.")
        return "\n\n".join(map(tables.RENDER[format], self.sheets()))

    def save(self, path: str | Path) -> None:
        """Write the table (``.csv``, ``.parquet``, ``.json``), or everything into a folder.

        What was run stands beside the table in ``….manifest.json``, in a folder in
        ``manifest.json``; it is written last, so where it is, everything is.
        """
        target = Path(path)
        manifest = manifest_of(target)
        try:
            if is_table(target):
                _write(target, lambda file: write_table(self.table, file, target.suffix))
            else:
                target.mkdir(parents=True, exist_ok=True)
                self._write_folder(target)
            text = json.dumps(self.manifest, indent=2, ensure_ascii=False)
            _write(manifest, lambda file: file.write(text.encode()))
        except OSError as error:
            raise LDPError(f"Cannot write {str(target)!r}: {error.strerror}.") from error

    def _write_folder(self, folder: Path) -> None:
        truth = None
        if self.truth is not None and self.labels is not None:
            truth = pl.DataFrame({"label": self.labels, "frequency": self.truth})
        *files, manifest = files_of(folder)
        frames = self.table, truth, self.means, self.estimates
        for file, frame in zip(files, frames, strict=True):
            if frame is not None:
                _write(file, frame.write_parquet)
            elif manifest.exists():
                file.unlink(missing_ok=True)  # of an earlier run of ours

    def __repr__(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        return "\n".join(map(tables.html, self.sheets()))


def load_results(path: str | Path) -> Results:
    """What `save` wrote: a folder, or a table and, where it is, the manifest beside it."""
    target = Path(path)
    if not target.exists():
        raise InvalidData(f"No results at {str(target)!r}: no such file or folder.")
    if target.is_dir() and not manifest_of(target).exists():
        raise InvalidData(f"{str(target)!r} holds no complete results: manifest.json is missing.")
    manifest = read_manifest(manifest_of(target)) if manifest_of(target).exists() else {}
    if not target.is_dir():
        return Results(_read_table(target), manifest)
    truth = _read_frame(target / "truth.parquet", label=pl.String, frequency=pl.Float64)
    return Results(
        _checked(_read_table(target / "table.parquet"), target),
        manifest,
        None if truth is None else truth["frequency"].to_numpy(),
        None if truth is None else tuple(truth["label"]),
        _read_frame(target / "means.parquet", frequencies=pl.Array),
        _read_frame(target / "estimates.parquet", frequencies=pl.Array),
    )


def is_table(path: Path) -> bool:
    """Whether a path names a table, by its ending; anything else is a folder."""
    if path.suffix in WRITERS and not path.is_dir():
        return True
    if path.suffix and not path.is_dir():
        known = ", ".join(WRITERS)
        raise InvalidParameter(f"Results go to {known} or a folder, got {str(path)!r}.")
    return False


def manifest_of(path: Path) -> Path:
    """Where the manifest of results at `path` is."""
    if path.suffix in WRITERS and not path.is_dir():
        return path.with_name(path.name + ".manifest.json")
    return path / "manifest.json"


def files_of(path: Path) -> list[Path]:
    """What `save` may write for `path`, the manifest last."""
    folder = ("table", "truth", "means", "estimates")
    tables = [path] if is_table(path) else [path / f"{name}.parquet" for name in folder]
    return [*tables, manifest_of(path)]


def read_manifest(path: Path) -> dict[str, Any]:
    """What was run."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidData(f"{str(path)!r} cannot be read: {error}.") from error
    if not isinstance(found, dict):
        raise InvalidData(f"{str(path)!r} is no manifest.")
    return found


WRITERS: dict[str, Callable[[pl.DataFrame, IO[bytes]], object]] = {
    ".csv": lambda table, file: table.write_csv(file),
    ".parquet": lambda table, file: table.write_parquet(file),
    ".json": lambda table, file: file.write(table.write_json().encode()),
}


def write_table(table: pl.DataFrame, file: IO[bytes], suffix: str) -> None:
    """The table in the format of `suffix`."""
    WRITERS[suffix](table, file)


def _write(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """All of a file or nothing: what was there stays until the new one is whole."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            write(file)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _read_table(path: Path) -> pl.DataFrame:
    readers = {
        ".csv": lambda: pl.read_csv(path, schema_overrides=SCHEMA),
        ".parquet": lambda: pl.read_parquet(path),
        ".json": lambda: pl.read_json(path),
    }
    if path.suffix not in readers:
        raise InvalidData(f"Results are {', '.join(readers)} or a folder, got {str(path)!r}.")
    try:
        return _checked(readers[path.suffix](), path)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InvalidData(f"{str(path)!r} cannot be read as results: {reason}") from error


def _checked(table: pl.DataFrame, path: Path) -> pl.DataFrame:
    missing = [name for name in SCHEMA if name not in table.columns]
    if missing:
        raise InvalidData(
            f"{str(path)!r} is no table of results of this version: no column {missing[0]!r}."
        )
    try:
        return table.select(pl.col(name).cast(kind) for name, kind in SCHEMA.items())
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise InvalidData(f"{str(path)!r} is no table of results: {reason}") from error


def _read_frame(path: Path, **columns: type[pl.DataType]) -> pl.DataFrame | None:
    """What stands beside the table, if it is there; `columns` it must have."""
    if not path.exists():
        return None
    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InvalidData(f"{str(path)!r} cannot be read: {reason}") from error
    for name, kind in columns.items():
        if not isinstance(frame.schema.get(name), kind):
            raise InvalidData(f"{str(path)!r} is not of these results: no column {name!r}.")
    return frame


def _direction(spec: str) -> str:
    return catalog.build(Metric, spec).better  # type: ignore[type-abstract]
