"""From anything that holds data to a dataset."""

from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np

from ldp3 import catalog
from ldp3.datasets.base import Reading, Source
from ldp3.datasets.binning import bin_numbers, grid_cells
from ldp3.datasets.columns import choose
from ldp3.datasets.counting import count, integers, read_domain
from ldp3.datasets.files import format_of, open_file
from ldp3.datasets.objects import from_object
from ldp3.datasets.transactions import single_values
from ldp3.datasets.users import Users
from ldp3.errors import InvalidData, InvalidParameter, UnknownName, did_you_mean
from ldp3.types import Dataset


def load(source: object, reading: Reading | None = None, *plugins: ModuleType) -> Dataset:
    """The dataset that a path, a spec, a table, an array or a dataset holds.

    A name of ours wins over a file of the same name, which is reached as ``./name``.
    """
    reading = reading or Reading()
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
    return _from_rows(from_object(source), reading)


def _resolve(text: str, *plugins: ModuleType) -> Source | Path:
    """What a text means: a source if one has this name, else a file."""
    known = catalog.find(Source, *plugins)  # type: ignore[type-abstract]
    name = text.partition("(")[0].strip()
    spellings = {catalog.plain(s) for n, c in known.items() for s in (n, *catalog.aliases_of(c))}
    path = Path(text).expanduser()
    if catalog.plain(name) in spellings:
        return catalog.build(Source, text, *plugins)  # type: ignore[type-abstract]
    looks_like_a_name = not path.suffix and len(path.parts) < 2
    if path.exists() or not (looks_like_a_name or text.strip().endswith(")")):
        return path
    if catalog.installed(Source, name):  # type: ignore[type-abstract]
        return catalog.build(Source, text)  # type: ignore[type-abstract]
    hint = did_you_mean(name.lower(), known) or f" Known: {', '.join(sorted(known))}."
    raise UnknownName(f"No dataset is called {name!r} and there is no such file.{hint}")


def _ready(source: Source | Dataset, reading: Reading) -> Dataset:
    if reading.given():
        raise InvalidParameter(
            f"{source.name if isinstance(source, Dataset) else type(source).__name__} is a dataset "
            f"already: {', '.join(reading.given())} are for files and tables."
        )
    data = source if isinstance(source, Dataset) else source.load()
    if reading.keep_values and data.values is None:
        return replace(data, values=np.repeat(np.arange(data.d, dtype=np.uint32), data.histogram))
    return data


def _from_file(path: Path, reading: Reading) -> Dataset:
    users = open_file(path, reading)
    if format_of(path, reading) == "transactions":
        reading.require_no_columns(str(path))
        users, domain = single_values(users, reading)
        return count(users, reading, domain or _domain(reading))
    if reading.pick:
        raise InvalidParameter(f"{path}: --pick is for transactions, not for columns.")
    return _from_rows(users, reading)


def _from_rows(users: Users, reading: Reading) -> Dataset:
    users = choose(users, reading)
    if reading.grid is not None:
        return grid_cells(users, reading)
    if reading.bins is not None:
        return bin_numbers(users, reading)
    return count(users, reading, _domain(reading))


def _domain(reading: Reading) -> list[str] | None:
    if reading.domain_size is not None:
        return integers(reading.domain_size)
    if reading.domain is None:
        return None
    users = open_file(Path(reading.domain), Reading())
    if len(users.schema()) != 1:
        raise InvalidData(f"{reading.domain}: a domain file has one column, one value per row.")
    return read_domain(choose(users, Reading()))
