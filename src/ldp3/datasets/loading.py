"""From anything that holds data to a dataset."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from glob import has_magic
from os import PathLike
from pathlib import Path
from types import ModuleType

import numpy as np
import polars as pl

from ldp3 import kinds
from ldp3.datasets.base import Source, build_source
from ldp3.errors import InvalidData, InvalidParameter, UnknownName, did_you_mean, require, short
from ldp3.files import home_path
from ldp3.plugins import load_plugins
from ldp3.reading import lists
from ldp3.reading.binning import bin_numbers, grid_cells
from ldp3.reading.columns import choose
from ldp3.reading.counting import count, integers
from ldp3.reading.domains import domain_in
from ldp3.reading.files import open_file
from ldp3.reading.objects import from_object, is_column_of_counts
from ldp3.reading.options import Format, Missing, Pick, Reading
from ldp3.reading.several import files_in, open_files, stands_for_files
from ldp3.reading.transactions import single_values
from ldp3.reading.users import COUNT, VALUE, Users
from ldp3.types import Dataset

NAMES = 100  # of the texts in a list that are looked up: one is enough


def load(
    source: object,
    *,
    column: str | int | Iterable[str | int] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    counts: bool = False,
    domain: str | PathLike[str] | Iterable[object] | None = None,
    domain_size: int | None = None,
    top: int | None = None,
    other: str | None = None,
    pick: Pick | None = None,
    bins: lists.Edges | None = None,
    grid: str | tuple[int, int] | None = None,
    within: str | Iterable[object] | None = None,
    ordered: bool = False,
    missing: Missing = "refuse",
    na: str | None = None,
    input_format: Format | None = None,
    keep_values: bool = False,
) -> Dataset:
    """The dataset in `source`; the options are those of `ldp3.reading.options.Reading`.

    `domain`, `bins`, `within` and `column` also take lists: ``domain=["a", "b"]``,
    ``bins=[0, 18, 65]``, ``within=(0, 100)``, ``column=["lat", "lon"]`` with ``grid=(15, 15)``.

    `source` is a path, a spec such as ``"zipf(s=1.3, d=1024, n=10_000_000)"`` or ``"flights"``,
    a pandas, Polars or Arrow table or column, a NumPy array or list of values, or a dataset. A
    folder, a pattern such as ``"logs/*.csv"`` and ``"a.csv+b.csv"`` are one dataset of several
    files.

    >>> load(["b", "a", "b"]).histogram
    array([1, 2])
    """
    flags = {"header": header, "counts": counts, "ordered": ordered, "keep_values": keep_values}
    for name, flag in flags.items():
        require(isinstance(flag, bool | None), f"`{name}`", "is True or False", flag)
    reading = Reading(
        column=lists.columns_text(column),
        header=header,
        delimiter=delimiter,
        counts=counts,
        domain=lists.domain_of(domain),
        domain_size=domain_size,
        top=top,
        other=other,
        pick=pick,
        bins=lists.bins_text(bins),
        grid=lists.grid_text(grid),
        within=lists.within_text(within),
        ordered=ordered,
        missing=missing,
        na=na,
        input_format=input_format,
        keep_values=keep_values,
    )
    return read(source, reading)


def load_all(
    data: object, reading: Reading | None = None, plugins: Iterable[str | Path] = ()
) -> list[Dataset]:
    """One dataset, or several in a list: of datasets, paths, or texts that all name one."""
    modules = load_plugins(plugins)
    sources = data if isinstance(data, list | tuple) and _any_dataset(data, *modules) else [data]
    return [read(source, reading or Reading(), *modules) for source in sources]


def _any_dataset(things: Sequence[object], *plugins: ModuleType) -> bool:
    """Whether a list is one of datasets: one element that is, or names, a dataset is enough.

    The others are then read as datasets too, so that a name with a slip is refused and does not
    turn all names into the values of a few users.
    """
    texts = {thing for thing in things if isinstance(thing, str)}
    names = _spellings(*plugins)
    held = Dataset | Source | Path | np.ndarray | pl.Series | pl.DataFrame | pl.LazyFrame
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


def read(source: object, reading: Reading, *plugins: ModuleType) -> Dataset:
    """The dataset that a path, a spec, a table, an array or a dataset holds.

    A name of ours wins over a file of the same name, which is reached as ``./name``.
    """
    reading.require_consistent()
    notes: tuple[str, ...] = ()
    if isinstance(source, str):
        given, source = source, _resolve(source, *plugins)
        if isinstance(source, Source) and Path(given).exists():
            notes = (f"{given!r} is a dataset of ours; the file of that name is './{given}'.",)
    if isinstance(source, type) and issubclass(source, Source):
        source = source()
    if isinstance(source, Source | Dataset):
        data = _ready(source, reading)
        return replace(data, notes=(*data.notes, *notes)) if notes else data
    if isinstance(source, Path):
        return _from_file(source, reading)
    if isinstance(source, list | tuple) and source and _all_named(source, *plugins):
        raise InvalidParameter(
            f"A list of datasets, {short(list(source))}, is no dataset: load them one by one, or "
            f"give the list to `ldp3.benchmark`."
        )
    if is_column_of_counts(source):
        reading = replace(reading, counts=True)
    users = from_object(source)
    return _from_values(_chosen(users, reading), reading, _domain(reading))


def _all_named(things: Sequence[object], *plugins: ModuleType) -> bool:
    names = _spellings(*plugins)
    return all(isinstance(thing, str) and _names_data(thing, names) for thing in things)


def _chosen(users: Users, reading: Reading) -> Users:
    names = users.schema().names()
    users = choose(users, reading)
    if reading.column and not reading.counts and COUNT in names and len(names) == 2:
        return users.noting(f"{COUNT!r} was not read; `counts` if it holds numbers of users.")
    return users


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


def _ready(source: Source | Dataset, reading: Reading) -> Dataset:
    given = [name for name in reading.given() if name != "ordered"]
    if given:
        raise InvalidParameter(
            f"{source.name if isinstance(source, Dataset) else type(source).__name__} is a dataset "
            f"already: {', '.join(given)} are for files and tables."
        )
    data = source if isinstance(source, Dataset) else source.load()
    if reading.ordered and not data.ordered:
        data = replace(data, domain=data.domain.in_order())
    if reading.keep_values and data.values is None:
        return replace(data, values=np.repeat(np.arange(data.d, dtype=np.uint32), data.histogram))
    return data


def _from_file(path: Path, reading: Reading) -> Dataset:
    files = files_in(path, reading)
    several, domain = len(files) > 1, _domain(reading)
    if several:
        users = open_files(path, files, reading, domain)
    else:
        users = open_file(files[0], reading, domain)
    if users.items:
        reading.require_no_columns(str(path))
        users, top = single_values(users, reading)
        return count(users, reading, top or domain)
    if reading.pick:
        raise InvalidParameter(f"{path}: `pick` is for transactions, not for columns.")
    data = _from_values(users if several else _chosen(users, reading), reading, domain)
    # several columns of one file are several datasets: their names say which
    return data if reading.column is None else replace(data, name=f"{data.name}:{reading.column}")


def _from_values(users: Users, reading: Reading, domain: list[str] | None) -> Dataset:
    """The dataset in rows whose columns are chosen."""
    if reading.grid is not None:
        return grid_cells(users, reading)
    if reading.bins is not None:
        return bin_numbers(users, reading)
    return count(users, reading, domain or _categories(users, reading))


def _categories(users: Users, reading: Reading) -> list[str] | None:
    """The domain that the type of a column says, also what nobody holds, in its order."""
    kind = users.schema()[VALUE]
    if reading.top is not None or not isinstance(kind, pl.Enum):
        return None
    return [category.strip() for category in kind.categories]


def _domain(reading: Reading) -> list[str] | None:
    if reading.domain_size is not None:
        return integers(reading.domain_size)
    if isinstance(reading.domain, tuple):
        return list(reading.domain)
    return None if reading.domain is None else domain_in(Path(reading.domain), reading.column)
