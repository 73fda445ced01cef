"""The paper's data if the reader has it, else a stand-in under its own name."""

from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import ldp3
from examples.reproduction.paper import PROCESSED, Table
from ldp3.people import Dataset


@dataclass(frozen=True)
class Files:
    """What the reader has, by path; all may be missing."""

    kosarak: str | None = None  # the authors' processed files, or the raw public ones
    bms_pos: str | None = None
    porto: str | None = None
    adult: str | None = None  # in no table of the paper; for the advice
    beijing: str | None = None  # stands in for Porto
    kosarak_raw: str | None = None  # the raw click-streams, or the first of them; for `ties`


# for readers with no file: the paper's d and n, and for Porto the shape that `shapes.fit` finds
SYNTHETIC = {
    "kosarak": "zipf(s=1.3, d=128, n=929_669)",
    "bms_pos": "zipf(s=0.85, d=256, n=500_000)",
    "porto": "geometric(p=0.028, d=225, n=1_620_157)",
}


def of_table(table: Table, files: Files) -> Dataset:
    """The data of one of the paper's tables, or what stands in for them, which the name says."""
    found = original(table.name, files)
    if found is not None:
        return found
    if table.name == "porto" and files.beijing:
        # the same n as the paper's, so that the noise is comparable
        return _scaled(beijing(files.beijing), table.n)
    return ldp3.load(SYNTHETIC[table.name])


def original(name: str, files: Files) -> Dataset | None:
    """The paper's own data, raw or as its authors processed it.

    A processed file is one of click-streams or baskets with one item each: the recipe for the raw
    file reads it as it is.
    """
    path = getattr(files, name)
    return ldp3.load(f"{name}(path={path!r})") if path else None


def others(files: Files) -> list[Dataset]:
    """Real data that the paper's tables are not about."""
    found = []
    if files.adult:
        ages = ldp3.load(files.adult, header=False, ordered=True)
        found.append(replace(ages, name="Adult, ages"))
    if files.beijing:
        found.append(beijing(files.beijing))
    return found


def beijing(path: str) -> Dataset:
    """Where taxi trips in Beijing start, on Porto's grid."""
    cells = ((0, 255), (0, 255))
    starts = ldp3.load(path, column=["row", "column"], counts=True, grid=(15, 15), within=cells)
    return replace(starts, name="DPBench Beijing taxi starts, 15×15")


def _scaled(data: Dataset, n: int) -> Dataset:
    if data.n == n:
        return data
    return replace(data.scaled(n), name=f"{data.name}, scaled to {n:,} users")


def whose(table: Table, files: Files) -> str:
    """One sentence: whose data a table's measurements are."""
    data, path = of_table(table, files), getattr(files, table.name)
    size = f"n = {data.n:,}, d = {data.d}"
    if path and is_processed(table.name, path):
        return f"Measured on the authors' processed file, {size}."
    if path:
        return f"Measured on the original: {data.name}, {size}."
    return (
        f"The paper's file is not here. Stand-in: {data.name}, {size}. What post-processing does "
        "depends on the data: only the first column can be compared."
    )


def is_processed(name: str, path: str) -> bool:
    """Whether a file is the one that the authors published."""
    known = name in PROCESSED
    return known and sha256(Path(path).read_bytes()).hexdigest() == PROCESSED[name].digest
