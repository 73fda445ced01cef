"""What `--data` names: one dataset for each argument."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp3.cli.console import Console
from ldp3.cli.flags import loaded
from ldp3.errors import InvalidData, InvalidParameter, short
from ldp3.files import home_path, require_no_input
from ldp3.reading.opening import STDIN
from ldp3.reading.options import Reading

if TYPE_CHECKING:
    from ldp3.people import Dataset, Table


def datasets(
    data: Sequence[str], reading: Reading, plugins: Sequence[Path]
) -> tuple[list["Dataset | Table"], list[str]]:
    """The datasets, their names told apart, and what a person should know of them."""
    _require_some(data)
    if sum(one in STDIN for one in data) > 1:
        raise InvalidParameter("`data`: standard input can be read once: give - once.")
    found = [_loaded(one, reading, plugins) for one in data]
    if len(found) == 1:
        return found, list(found[0].notes)
    named = [replace(one, name=name) for one, name in zip(found, _names(found, data), strict=True)]
    notes = dict.fromkeys(f"{one.name}: {note}" for one in named for note in one.notes)
    return named, [*_told(named, data), *notes]


def inputs(data: Sequence[str]) -> list[Path]:
    """The files that are read, as far as these are files."""
    from ldp3.reading.several_files import files_in

    found = []
    for one in data:
        with suppress(InvalidData, InvalidParameter, OSError):
            source = _own(one)[0] if one.startswith("{") else one
            found += files_in(home_path(source), Reading(input_format="lines"))
    return found


def users(
    data: Sequence[str],
    reading: Reading,
    plugins: Sequence[Path],
    population: int | None,
    written: Sequence[Path | None],
    console: Console,
) -> list["Dataset | Table"]:
    """The datasets, with as many users as asked for; none of their files is written to."""
    for path in filter(None, written):
        require_no_input(path, [*inputs(data), reading.domain, *plugins])
    found, notes = datasets(data, reading, plugins)
    console.notes(notes)
    return [one if population is None else one.scaled(population) for one in found]


def one_dataset(
    data: Sequence[str], reading: Reading, plugins: Sequence[Path], why: str, console: Console
) -> "Dataset":
    """The dataset, where only one makes sense; what a person should know of it is told."""
    from ldp3.people import one_attribute

    return one_attribute(one_sample(data, reading, plugins, why, console))


def one_sample(
    data: Sequence[str], reading: Reading, plugins: Sequence[Path], why: str, console: Console
) -> "Dataset | Table":
    """The dataset or the table, where only one makes sense."""
    _require_some(data)
    if len(data) > 1:
        raise InvalidParameter(f"{why}: give one dataset, got {len(data)}; {_AS_ONE}.")
    found = loaded(data[0], reading, plugins)
    console.notes(found.notes)
    return found


def _loaded(one: str, reading: Reading, plugins: Sequence[Path]) -> "Dataset | Table":
    """A dataset; one in braces has reading options of its own, as a configuration writes it."""
    if not one.startswith("{"):
        return loaded(one, reading, plugins)
    source, given = _own(one)
    known = {field.name for field in fields(reading)} - {"keep_values"}
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise InvalidParameter(f"`data`: {source} has no reading option {unknown!r}.")
    try:
        own = replace(reading, **given)
    except InvalidParameter as error:
        raise InvalidParameter(f"`data`: {source}: {error}") from None
    return loaded(source, own, plugins)


def _own(text: str) -> tuple[str, dict[str, Any]]:
    """The source and the reading options of a dataset in braces."""
    try:
        content = json.loads(text)
        source = content.pop("source")
    except (ValueError, KeyError) as error:
        raise InvalidParameter(
            f"`data`: in braces stands JSON with a source, got {short(text)}."
        ) from error
    return str(source), {str(k).replace("-", "_"): v for k, v in content.items()}


_AS_ONE = 'one of several files is a quoted pattern ("*.csv") or a.csv+b.csv'


def _require_some(data: Sequence[str]) -> None:
    if not data:
        raise InvalidParameter("-d needs at least one dataset.")


def _names(found: Sequence["Dataset | Table"], data: Sequence[str]) -> list[str]:
    """What tables call the datasets: as typed, where two would have the same name."""
    names = [one.name for one in found]
    return [
        typed if names.count(name) > 1 and not typed.startswith("{") else name
        for name, typed in zip(names, data, strict=True)
    ]


def _told(named: Sequence["Dataset | Table"], data: Sequence[str]) -> list[str]:
    """Say that several files are several datasets."""
    if sum(Path(one).is_file() for one in data) < 2:
        return []
    shown = ", ".join(one.name for one in named[:6]) + (", …" if len(named) > 6 else "")
    return [f"{len(named)} datasets: {shown}; {_AS_ONE}."]
