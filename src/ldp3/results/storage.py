"""Results on disk: a table by itself, or a folder that holds everything."""

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from hashlib import file_digest
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ldp3.answers import read_csv, write_csv
from ldp3.domain import Records, read_domain
from ldp3.errors import InvalidData, InvalidParameter, short, whole
from ldp3.files import read_json, seal, sync_file, sync_folder, whole_file, write_lines
from ldp3.people import Dataset, Marginals, Table
from ldp3.results.axes import LIMITS, SCHEMA
from ldp3.sandbox import Unreadable, collect, decoded, decoding_error

FOLDER = ("table", "means", "estimates")
DATASETS = "datasets.json"
LISTED, NAMED = [str], {str: str}
FIELDS: dict[str, Any] = {  # of a manifest, and what each holds
    **dict.fromkeys(("attacks", "fake_users", "targets", "protocols"), LISTED),
    **dict.fromkeys(("methods", "metrics", "notes"), LISTED),
    **dict.fromkeys(("plugins", "versions", "better", "files"), NAMED),
    **dict.fromkeys(("simulate", "reference", "command"), str),
    **dict.fromkeys(("repeats", "seed"), int),
    **dict.fromkeys(("repeats_asked", "keep_estimates", "complete"), bool),
    "data": [dict],
    "epsilons": [float],
    "elapsed": float,
    "looks": [int],
    "seconds": {str: float},
}
WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    ".csv": lambda table, path: write_lines(path, write_csv(table)),
    ".parquet": lambda table, path: table.write_parquet(path),
    ".json": lambda table, path: table.write_json(path),
}
READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    ".csv": lambda path: read_csv(path, SCHEMA),
    ".parquet": lambda path: collect(pl.scan_parquet(path, glob=False)),
    ".json": lambda path: decoded(pl.read_json, path),
}


def write(
    path: Path,
    manifest: Mapping[str, Any],
    frames: Mapping[str, pl.DataFrame],
    datasets: Mapping[str, Dataset],
) -> None:
    """Write the frames that there are of `FOLDER` and the datasets, or the table alone.

    The manifest comes last: where it is, everything is. Nothing of an earlier output goes before
    all of the new one is on the disk.
    """
    *files, last = files_of(path)
    new: dict[Path, str | pl.DataFrame] = {}
    if is_table(path):
        new[path] = frames["table"]
    else:
        _make_folder(path)
        new |= {path / f"{name}.parquet": frame for name, frame in frames.items()}
        if datasets:
            new[path / DATASETS] = json.dumps(_described(datasets), ensure_ascii=False)
    with ExitStack() as stack:  # what is entered first becomes a file last
        described = stack.enter_context(whole_file(last))
        digests = {}
        for file, held in new.items():
            temporary = stack.enter_context(whole_file(file))
            if isinstance(held, str):
                write_lines(temporary, held)
            else:
                WRITERS[file.suffix](held, temporary)
            sync_file(temporary)
            digests[file.name] = _digest(temporary)
        said = {**manifest, "files": digests}
        text = json.dumps({**said, "seal": _seal(said)}, indent=2, ensure_ascii=False)
        write_lines(described, text)
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


def read(target: Path) -> tuple[dict[str, Any], dict[str, pl.DataFrame], dict[str, Dataset]]:
    """Manifest, frames and datasets that `write` wrote; a table may have lost its manifest."""
    if not target.exists():
        raise InvalidData(f"No results at {str(target)!r}: no such file or folder.")
    if target.is_dir() and not manifest_of(target).exists():
        raise InvalidData(f"{str(target)!r} holds no complete results: manifest.json is missing.")
    manifest = read_manifest(manifest_of(target)) if manifest_of(target).exists() else {}
    require_unchanged(target, manifest)
    manifest.pop("files", None)
    if not target.is_dir():
        return manifest, {"table": read_table(target)}, {}
    found = {
        "table": read_table(target / "table.parquet"),
        "means": _read_frame(target / "means.parquet", frequencies=pl.List),
        "estimates": _read_frame(target / "estimates.parquet", frequencies=pl.List),
    }
    frames = {name: frame for name, frame in found.items() if frame is not None}
    return manifest, frames, _read_datasets(target / DATASETS)


def _described(datasets: Mapping[str, Dataset]) -> list[dict[str, Any]]:
    """What values there are and how many users hold each, of all datasets."""
    return [{"name": name, **_content(data)} for name, data in datasets.items()]


def _content(data: Dataset) -> dict[str, Any]:
    if not isinstance(data, Marginals):
        return {"domain": data.domain.describe(), "users": data.histogram.tolist()}
    people = data.people
    return {
        "domain": people.domain.describe(),
        "users": people.counts.tolist(),
        "records": people.records.tolist(),
        "way": data.way,
    }


def _read_datasets(path: Path) -> dict[str, Dataset]:
    if not path.exists():
        return {}
    found = read_json(path)
    if not isinstance(found, list):
        raise InvalidData(f"{str(path)!r} is not of these results: no list of datasets.")
    datasets = [_read_dataset(each, str(path)) for each in found]
    return {data.name: data for data in datasets}


def _read_dataset(given: object, source: str) -> Dataset:
    shape, own = {"name", "domain", "users"}, set(given) if isinstance(given, dict) else set()
    if not isinstance(given, dict) or own not in (shape, {*shape, "records", "way"}):
        raise InvalidData(f"{source!r} is not of these results: {short(given, 60)} is no dataset.")
    name, users = given["name"], given["users"]
    if not isinstance(name, str):
        raise InvalidData(f"{source!r}: the name of a dataset is a text, got {short(name, 60)}.")
    if not isinstance(users, list) or not all(whole(each, 0, 2**62) for each in users):
        raise InvalidData(f"{source!r}: `users`, how many hold each value, are whole numbers.")
    domain, counts = read_domain(given["domain"], source), np.array(users, dtype=np.int64)
    if "records" not in given:
        return Dataset(name, domain, counts)
    try:
        records = np.array(given["records"], dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        records = np.empty(0, dtype=np.int64)
    if not isinstance(domain, Records) or not whole(given["way"], 1, len(domain.parts)):
        raise InvalidData(f"{source!r}: tables are of some of the attributes of records.")
    table = Table(name, domain, records, counts)
    return replace(Marginals.of(table, given["way"]), name=name)


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
    if is_table(path):
        return [path, manifest_of(path)]
    return [*(path / f"{name}.parquet" for name in FOLDER), path / DATASETS, manifest_of(path)]


def read_manifest(path: Path) -> dict[str, Any]:
    """What was run; refused if it was edited, or says what no run of ours can be."""
    found = read_json(path)
    if not isinstance(found, dict):
        raise InvalidData(f"{str(path)!r} is no manifest.")
    if found.pop("seal", None) != _seal(found):
        raise InvalidData(f"{str(path)!r} was edited, or is no manifest: run again with `fresh`.")
    for name, kind in FIELDS.items():
        if name in found and not _fits(found[name], kind):
            raise InvalidData(f"{str(path)!r}: {name!r} cannot be {short(found[name], 60)}.")
    return found


def _seal(manifest: Mapping[str, Any]) -> str:
    return seal(json.dumps(manifest, sort_keys=True).encode()).decode()


def _fits(value: object, kind: Any) -> bool:
    """Whether a value is what `FIELDS` says."""
    if isinstance(kind, list):
        return isinstance(value, list) and all(_fits(each, kind[0]) for each in value)
    if isinstance(kind, dict):
        return isinstance(value, dict) and all(_fits(each, kind[str]) for each in value.values())
    number = isinstance(value, int) and kind is float
    return (isinstance(value, kind) or number) and isinstance(value, bool) == (kind is bool)


def require_unchanged(path: Path, manifest: Mapping[str, Any]) -> None:
    """Refuse files that are not what the manifest was written for: damaged, or edited."""
    digests = manifest.get("files")
    if not isinstance(digests, dict):
        return
    for file in files_of(path)[:-1]:
        if file.exists() and digests.get(file.name) != _digest(file):
            raise InvalidData(
                f"{str(file)!r} has changed since its manifest was written: bring the old file "
                f"back, or run again with `fresh`."
            )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


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
