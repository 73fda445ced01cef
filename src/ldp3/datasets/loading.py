"""The front door: a dataset from a path, a spec, a table, an array or a list, and to a file."""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from glob import has_magic
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any, overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ldp3 import kinds
from ldp3.datasets.base import Source, build_source
from ldp3.errors import InvalidData, InvalidParameter, UnknownName, did_you_mean, short
from ldp3.files import home_path, whole_file
from ldp3.people import Dataset, Table
from ldp3.plugins import load_plugins
from ldp3.reading import options
from ldp3.reading.dataset import read_object, read_path
from ldp3.reading.options import Decimal, Format, Missing, NumberOrDate, Pick, Range, Reading
from ldp3.reading.several_files import stands_for_files
from ldp3.reading.users import COUNT, VALUE

Columns = str | PathLike[str] | Iterable[str | int] | Mapping[str, Mapping[str, Any]]
MOST_ROWS = 10**9  # of one value each, to be written: they are held in memory
NAMES = 100  # of the texts in a list that are looked up: one is enough


@overload
def load(
    source: object,
    *,
    column: str | int | Iterable[str | int] | None = ...,
    header: bool | None = ...,
    delimiter: str | None = ...,
    counts: bool = ...,
    domain: str | PathLike[str] | Iterable[object] | None = ...,
    domain_size: int | None = ...,
    top: int | None = ...,
    other: str | None = ...,
    pick: Pick | None = ...,
    bins: int | str | Iterable[NumberOrDate] | None = ...,
    grid: tuple[int, int] | None = ...,
    within: Range | tuple[Range, Range] | None = ...,
    clip: bool = ...,
    ordered: bool = ...,
    missing: Missing | None = ...,
    na: str | None = ...,
    decimal: Decimal = ...,
    date_format: str | None = ...,
    input_format: Format | None = ...,
    keep_values: bool = ...,
) -> Dataset: ...


@overload
def load(
    source: object,
    *,
    columns: Columns,
    header: bool | None = ...,
    delimiter: str | None = ...,
    counts: bool = ...,
    missing: Missing | None = ...,
    na: str | None = ...,
    input_format: Format | None = ...,
) -> Table: ...


def load(
    source: object,
    *,
    column: str | int | Iterable[str | int] | None = None,
    columns: Columns | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    counts: bool = False,
    domain: str | PathLike[str] | Iterable[object] | None = None,
    domain_size: int | None = None,
    top: int | None = None,
    other: str | None = None,
    pick: Pick | None = None,
    bins: int | str | Iterable[NumberOrDate] | None = None,
    grid: tuple[int, int] | None = None,
    within: Range | tuple[Range, Range] | None = None,
    clip: bool = False,
    ordered: bool = False,
    missing: Missing | None = None,
    na: str | None = None,
    decimal: Decimal = ".",
    date_format: str | None = None,
    input_format: Format | None = None,
    keep_values: bool = False,
) -> Dataset | Table:
    """The dataset in `source`; the options are those of `ldp3.reading.options.Reading`.

    ``domain="values.txt"`` or ``["a", "b"]``; ``bins=20``, ``"log:20"``, ``"quantiles:20"`` or
    edges, ``[0, 18, 65]``, with ``within=(0, 100)`` for a number of bins; ``column="age"``, or
    ``["lat", "lon"]`` with ``grid=(15, 15)`` and ``within=((0, 1), (0, 1))``.

    ``columns=["sex", "age"]`` reads several columns together, as a `Table`; a dict says how each is
    read, ``columns={"sex": {}, "age": {"bins": 10}, "region": {"top": 5}}``, and so does a .toml
    file.

    `source` is a path, a spec such as ``"zipf(s=1.3, d=1024, n=10_000_000)"`` or ``"flights"``,
    a pandas, Polars or Arrow table or column, a NumPy array or list of values, or a dataset. A
    folder, a pattern such as ``"logs/*.csv"`` and ``"a.csv+b.csv"`` are one dataset of several
    files.

    >>> load(["b", "a", "b"]).histogram
    array([1, 2])
    """
    reading = Reading(
        column=options.as_columns(column),
        columns=options.as_table_columns(columns),
        header=header,
        delimiter=delimiter,
        counts=counts,
        domain=options.as_labels(domain),
        domain_size=domain_size,
        top=top,
        other=other,
        pick=pick,
        bins=options.as_bins(bins),
        grid=options.as_grid(grid),
        within=options.as_within(within),
        clip=clip,
        ordered=ordered,
        missing=missing,
        na=na,
        decimal=decimal,
        date_format=date_format,
        input_format=input_format,
        keep_values=keep_values,
    )
    return read(source, reading)


def load_all(data: object, plugins: Iterable[str | Path] = ()) -> list[Dataset | Table]:
    """One dataset, or several in a list: of datasets, paths, or texts that all name one."""
    modules = load_plugins(plugins)
    sources = data if isinstance(data, list | tuple) and _any_dataset(data, *modules) else [data]
    return [read(source, Reading(), *modules) for source in sources]


def _any_dataset(things: Sequence[object], *plugins: ModuleType) -> bool:
    """Whether a list is one of datasets: one element that is, or names, a dataset is enough.

    The others are then read as datasets too, so that a name with a slip is refused and does not
    turn all names into the values of a few users.
    """
    texts = {thing for thing in things if isinstance(thing, str)}
    names = _spellings(*plugins)
    held = Dataset | Table | Source | Path | np.ndarray | pl.Series | pl.DataFrame | pl.LazyFrame
    return any(_names_data(text, names) for text in sorted(texts)[:NAMES]) or any(
        isinstance(thing, held) or (isinstance(thing, type) and issubclass(thing, Source))
        for thing in things
    )


def _names_data(text: str, names: set[str]) -> bool:
    path = home_path(text)
    looks_like_a_file = bool(path.suffix) or len(path.parts) > 1
    if kinds.plain(text.partition("(")[0]) in names:
        return True
    with suppress(OSError):  # too long for a name, say
        parts = [home_path(part.strip()) for part in text.split("+")]
        return looks_like_a_file and (has_magic(text) or any(part.exists() for part in parts))
    return False


def _spellings(*plugins: ModuleType) -> set[str]:
    """Every way to write the name of a source."""
    known = kinds.find(Source, *plugins)
    return {kinds.plain(s) for c in known.values() for s in kinds.spellings_of(c)}


def read(source: object, reading: Reading, *plugins: ModuleType) -> Dataset | Table:
    """The dataset that a path, a spec, a table, an array or a dataset holds.

    A name of ours wins over a file of the same name, which is reached as ``./name``.
    """
    notes: tuple[str, ...] = ()
    if isinstance(source, str):
        given, source = source, _resolve(source, *plugins)
        if isinstance(source, Source) and Path(given).exists():
            notes = (f"{given!r} is a dataset of ours; the file of that name is './{given}'.",)
    if isinstance(source, type) and issubclass(source, Source):
        source = source()
    if isinstance(source, Table):
        _refuse_options(source.name, reading.given())
        return source
    if isinstance(source, Source | Dataset):
        data = _ready(source, reading)
        return replace(data, notes=(*data.notes, *notes)) if notes else data
    if isinstance(source, Path):
        return read_path(source, reading)
    if isinstance(source, list | tuple) and source and _all_named(source, *plugins):
        raise InvalidParameter(
            f"A list of datasets, {short(list(source))}, is no dataset: load them one by one, or "
            f"give the list to `ldp3.benchmark`."
        )
    return read_object(source, reading)


def _all_named(things: Sequence[object], *plugins: ModuleType) -> bool:
    names = _spellings(*plugins)
    return all(isinstance(thing, str) and _names_data(thing, names) for thing in things)


def _resolve(text: str, *plugins: ModuleType) -> Source | Path:
    """What a text means: a source if one has this name, else a file."""
    known = kinds.find(Source, *plugins)
    name = text.partition("(")[0].strip()
    path = home_path(text)
    if kinds.plain(name) in _spellings(*plugins):
        return build_source(text, *plugins)
    if re.match(r"[a-z][a-z0-9+.-]*://", text, re.IGNORECASE):
        raise InvalidData(f"{text}: is an address; download it first, as with curl -LO.")
    looks_like_a_name = not path.suffix and len(path.parts) < 2 and not stands_for_files(text)
    if path.exists() or not (looks_like_a_name or text.strip().endswith(")")):
        return path
    if kinds.installed(Source, name):
        return build_source(text)
    hint = did_you_mean(name.lower(), known) or f" Known: {', '.join(sorted(known))}."
    raise UnknownName(f"No dataset is called {name!r} and there is no such file.{hint}")


def _refuse_options(name: str, given: Sequence[str]) -> None:
    if given:
        verb = "is" if len(given) == 1 else "are"
        raise InvalidParameter(
            f"{name} is a dataset already: {', '.join(given)} {verb} for files and tables."
        )


def _ready(source: Source | Dataset, reading: Reading) -> Dataset:
    name = source.name if isinstance(source, Dataset) else type(source).__name__
    _refuse_options(name, [name for name in reading.given() if name != "ordered"])
    data = source if isinstance(source, Dataset) else source.load()
    if reading.ordered and not data.ordered:
        data = replace(data, domain=data.domain.in_order())
    return replace(data, values=_codes(data)) if reading.keep_values else data


def _codes(data: Dataset) -> NDArray[np.integer[Any]]:
    """Everybody's value: in the order of the file where it was kept, else in order of value."""
    if data.values is not None:
        return data.values
    return np.repeat(np.arange(data.d, dtype=np.uint32), data.histogram)


def write(data: Dataset, path: Path, counts: bool = False) -> None:
    """Write one value per row (.txt, .csv, .parquet), or with `counts` each value with its count.

    Rows are in the order of the file where values were kept, else in order of value. The columns
    are called `value` and `count`; a .txt file has no header (`header=False` reads it back).
    A file holds no value that nobody has unless `counts` is asked for.
    """
    ending = path.suffix.lower()
    if ending not in (".txt", ".csv", ".parquet"):
        raise InvalidData(f"{path}: a dataset is written to .txt, .csv or .parquet.")
    if ending == ".txt" and counts:
        raise InvalidData(f"{path}: values with counts are written to .csv or .parquet.")
    if not counts and data.n > MOST_ROWS:
        raise InvalidData(
            f"{path}: {data.n:,} rows are too many, {MOST_ROWS:,} at most: write each value once, "
            f"with its count (`with_counts`)."
        )
    held = {VALUE: list(data.labels), COUNT: data.histogram}
    frame = pl.LazyFrame(held) if counts else _rows(data)
    with whole_file(path) as temporary:
        if ending == ".parquet":
            frame.sink_parquet(temporary)
        elif ending == ".csv":
            frame.sink_csv(temporary)
        else:
            _require_lines(data, path)
            frame.sink_csv(temporary, include_header=False, quote_style="never")


def _rows(data: Dataset) -> pl.LazyFrame:
    known = pl.Series(range(data.d), dtype=pl.UInt32), pl.Series(list(data.labels))
    label = pl.col(VALUE).replace_strict(*known)  # batch by batch
    return pl.LazyFrame({VALUE: _codes(data).astype(np.uint32, copy=False)}).select(label)


def _require_lines(data: Dataset, path: Path) -> None:
    for label in data.labels:
        if "\n" in label or "\r" in label:
            raise InvalidData(f"{path}: the label {label!r} spans lines; write .csv or .parquet.")
