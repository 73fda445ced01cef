"""Results on disk: a table by itself, or a folder that holds everything."""

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl

from ldp3.errors import InvalidData, InvalidParameter
from ldp3.files import read_json, sync_file, sync_folder, whole_file, write_lines
from ldp3.results.axes import LIMITS, SCHEMA
from ldp3.results.rendering import read_csv, write_csv
from ldp3.sandbox import Unreadable, collect, decoding_error
from ldp3.types import Dataset

FOLDER = ("table", "truth", "means", "estimates")
TRUTH: dict[str, type[pl.DataType]] = {
    "dataset": pl.String,
    "label": pl.String,
    "position": pl.Float64,
    "users": pl.Int64,
}
WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    ".csv": lambda table, path: write_lines(path, write_csv(table)),
    ".parquet": lambda table, path: table.write_parquet(path),
    ".json": lambda table, path: table.write_json(path),
}
READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    ".csv": lambda path: read_csv(path, SCHEMA),
    ".parquet": lambda path: collect(pl.scan_parquet(path, glob=False)),
    ".json": pl.read_json,
}


def write(path: Path, manifest: Mapping[str, Any], frames: Mapping[str, pl.DataFrame]) -> None:
    """Write the frames that there are of `FOLDER`, or the table alone; the manifest last.

    So where it is, everything is. Nothing of an earlier output goes before all of the new one is on
    the disk.
    """
    *files, last = files_of(path)
    new = {file: frames[name] for name, file in zip(FOLDER, files, strict=False) if name in frames}
    if not is_table(path):
        _make_folder(path)
    with ExitStack() as stack:  # what is entered first becomes a file last
        text = json.dumps(manifest, indent=2, ensure_ascii=False)
        write_lines(stack.enter_context(whole_file(last)), text)
        for file, frame in new.items():
            temporary = stack.enter_context(whole_file(file))
            WRITERS[file.suffix](frame, temporary)
            sync_file(temporary)
        if last.exists():  # of an earlier run of ours
            for old in (last, *(file for file in files if file not in new)):
                old.unlink(missing_ok=True)
                sync_folder(old.parent)


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidData(f"{path}: cannot be written: {error.strerror}.") from error
    sync_folder(path.parent)


def read(target: Path) -> tuple[dict[str, Any], dict[str, pl.DataFrame]]:
    """The manifest and the frames that `write` wrote; a table may have lost its manifest."""
    if not target.exists():
        raise InvalidData(f"No results at {str(target)!r}: no such file or folder.")
    if target.is_dir() and not manifest_of(target).exists():
        raise InvalidData(f"{str(target)!r} holds no complete results: manifest.json is missing.")
    manifest = read_manifest(manifest_of(target)) if manifest_of(target).exists() else {}
    if not target.is_dir():
        return manifest, {"table": read_table(target)}
    found = {
        "table": read_table(target / "table.parquet"),
        "truth": _read_frame(target / "truth.parquet", **TRUTH),
        "means": _read_frame(target / "means.parquet", frequencies=pl.List),
        "estimates": _read_frame(target / "estimates.parquet", frequencies=pl.List),
    }
    return manifest, {name: frame for name, frame in found.items() if frame is not None}


def truth_of(datasets: Mapping[str, Dataset]) -> pl.DataFrame | None:
    """How many users hold each value, and where the values lie, of all datasets."""
    frames = [
        pl.DataFrame(
            {
                "dataset": pl.repeat(name, data.d, eager=True),
                "label": list(data.labels),
                "position": pl.Series(data.positions, dtype=pl.Float64)
                if data.positions is not None
                else pl.repeat(None, data.d, dtype=pl.Float64, eager=True),
                "users": data.histogram,
                "ordered": pl.repeat(data.ordered, data.d, eager=True),
            }
        )
        for name, data in datasets.items()
    ]
    return pl.concat(frames) if frames else None


def datasets_of(truth: pl.DataFrame | None) -> dict[str, Dataset]:
    """The datasets that `truth_of` wrote down."""
    if truth is None:
        return {}
    made = {}
    for (name,), rows in truth.group_by("dataset", maintain_order=True):
        positions = None if rows["position"].null_count() else rows["position"].to_numpy()
        made[str(name)] = Dataset(
            str(name),
            rows["users"].to_numpy(),
            rows["label"].to_list(),
            positions,
            ordered=rows.schema.get("ordered") == pl.Boolean and bool(rows["ordered"].all()),
        )
    return made


def is_table(path: Path) -> bool:
    """Whether a path names a table, by its ending; anything else is a folder."""
    if path.suffix in WRITERS and not path.is_dir():
        return True
    if path.is_file() or (path.suffix and not path.is_dir()):
        known = ", ".join(WRITERS)
        raise InvalidParameter(f"Results go to {known} or a folder, got {str(path)!r}.")
    return False


def manifest_of(path: Path) -> Path:
    """Where the manifest of results at `path` is."""
    if path.suffix in WRITERS and not path.is_dir():
        return path.with_name(path.name + ".manifest.json")
    return path / "manifest.json"


def files_of(path: Path) -> list[Path]:
    """What `write` may write for `path`, the manifest last."""
    tables = [path] if is_table(path) else [path / f"{name}.parquet" for name in FOLDER]
    return [*tables, manifest_of(path)]


def read_manifest(path: Path) -> dict[str, Any]:
    """What was run."""
    found = read_json(path)
    if not isinstance(found, dict):
        raise InvalidData(f"{str(path)!r} is no manifest.")
    return found


def read_table(path: Path) -> pl.DataFrame:
    """A table of results, checked."""
    if path.suffix not in READERS:
        raise InvalidData(f"Results are {', '.join(READERS)} or a folder, got {str(path)!r}.")
    table = _read(path, READERS[path.suffix])
    table = table.with_columns(
        pl.lit(None, SCHEMA[name]).alias(name) for name in LIMITS if name not in table.columns
    )
    missing = [name for name in SCHEMA if name not in table.columns]
    if missing:
        raise InvalidData(
            f"{str(path)!r} is no table of results of this version: no column {missing[0]!r}."
        )
    return _read(
        path, lambda _: table.select(pl.col(name).cast(kind) for name, kind in SCHEMA.items())
    )


def _read_frame(path: Path, **columns: type[pl.DataType]) -> pl.DataFrame | None:
    """What stands beside the table, if it is there; `columns` it must have."""
    if not path.exists():
        return None
    frame = _read(path, READERS[".parquet"])
    for name, kind in columns.items():
        if not isinstance(frame.schema.get(name), kind):
            raise InvalidData(f"{str(path)!r} is not of these results: no column {name!r}.")
    return frame


def _read(path: Path, read: Callable[[Path], pl.DataFrame]) -> pl.DataFrame:
    try:
        return read(path)
    except BaseException as error:
        reason = str(error) if isinstance(error, OSError | Unreadable) else decoding_error(error)
        if reason is None:
            raise
        raise InvalidData(f"{str(path)!r} cannot be read as results: {reason}") from error
