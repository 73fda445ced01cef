"""From anything that holds data to a dataset."""

import re
from collections.abc import Iterable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from types import ModuleType

import numpy as np

from ldp3 import kinds, specs
from ldp3.datasets.base import Format, Missing, Pick, Reading, Source
from ldp3.datasets.binning import bin_numbers, grid_cells
from ldp3.datasets.columns import choose
from ldp3.datasets.counting import count, integers
from ldp3.datasets.domains import domain_in
from ldp3.datasets.files import open_file
from ldp3.datasets.objects import from_object
from ldp3.datasets.several import files_in, open_files, stands_for_files
from ldp3.datasets.transactions import single_values
from ldp3.datasets.users import Users
from ldp3.errors import InvalidData, InvalidParameter, UnknownName, did_you_mean
from ldp3.files import home_path
from ldp3.plugins import load_plugins
from ldp3.types import Dataset


def load(
    source: object,
    *,
    column: str | int | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    counts: bool = False,
    domain: str | PathLike[str] | None = None,
    domain_size: int | None = None,
    top: int | None = None,
    other: str | None = None,
    pick: Pick | None = None,
    bins: str | int | None = None,
    grid: str | None = None,
    within: str | None = None,
    ordered: bool = False,
    missing: Missing = "refuse",
    na: str | None = None,
    input_format: Format | None = None,
    keep_values: bool = False,
) -> Dataset:
    """The dataset in `source`; the options are those of `ldp3.datasets.base.Reading`.

    `source` is a path, a spec such as ``"zipf(s=1.3, d=1024, n=10_000_000)"`` or ``"flights"``,
    a pandas, Polars or Arrow table or column, a NumPy array or list of values, or a dataset. A
    folder, a pattern such as ``"logs/*.csv"`` and ``"a.csv+b.csv"`` are one dataset of several
    files.

    >>> load(["b", "a", "b"]).histogram
    array([1, 2])
    """
    reading = Reading(
        column=column,
        header=header,
        delimiter=delimiter,
        counts=counts,
        domain=Path(domain) if domain is not None else None,
        domain_size=domain_size,
        top=top,
        other=other,
        pick=pick,
        bins=bins,
        grid=grid,
        within=within,
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
    several = isinstance(data, list | tuple) and len(data) > 0 and all(map(_names_data, data))
    sources = data if several else [data]
    return [read(source, reading or Reading(), *modules) for source in sources]  # type: ignore[attr-defined]


def _names_data(thing: object) -> bool:
    if isinstance(thing, str):
        known = kinds.find(Source)  # type: ignore[type-abstract]
        name = kinds.plain(thing.partition("(")[0])
        return name in map(kinds.plain, known) or home_path(thing).is_file()
    is_source = isinstance(thing, type) and issubclass(thing, Source)
    return is_source or isinstance(thing, Dataset | Source | Path)


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
    return _from_values(choose(from_object(source), reading), reading, _domain(reading))


def _resolve(text: str, *plugins: ModuleType) -> Source | Path:
    """What a text means: a source if one has this name, else a file."""
    known = kinds.find(Source, *plugins)  # type: ignore[type-abstract]
    name = text.partition("(")[0].strip()
    spellings = {kinds.plain(s) for n, c in known.items() for s in (n, *kinds.aliases_of(c))}
    path = home_path(text)
    if kinds.plain(name) in spellings:
        return specs.build(Source, text, *plugins)  # type: ignore[type-abstract]
    if re.match(r"[a-z][a-z0-9+.-]*://", text, re.IGNORECASE):
        raise InvalidData(f"{text}: is an address; download it first, as with curl -LO.")
    looks_like_a_name = not path.suffix and len(path.parts) < 2 and not stands_for_files(text)
    if path.exists() or not (looks_like_a_name or text.strip().endswith(")")):
        return path
    if kinds.installed(Source, name):  # type: ignore[type-abstract]
        return specs.build(Source, text)  # type: ignore[type-abstract]
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
        data = replace(data, ordered=True)
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
    return _from_values(users if several else choose(users, reading), reading, domain)


def _from_values(users: Users, reading: Reading, domain: list[str] | None) -> Dataset:
    """The dataset in rows whose columns are chosen."""
    if reading.grid is not None:
        return grid_cells(users, reading)
    if reading.bins is not None:
        return bin_numbers(users, reading)
    return count(users, reading, domain)


def _domain(reading: Reading) -> list[str] | None:
    if reading.domain_size is not None:
        return integers(reading.domain_size)
    return None if reading.domain is None else domain_in(Path(reading.domain), reading.column)
