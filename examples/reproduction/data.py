"""The paper's data if the reader has it, else a stand-in under its own name."""

from dataclasses import dataclass, replace

import ldp3
from examples.reproduction.paper import Table
from ldp3.types import Dataset


@dataclass(frozen=True)
class Files:
    """What the reader has, by path; all may be missing."""

    kosarak: str | None = None  # the paper's three, from their raw public files
    bms_pos: str | None = None
    porto: str | None = None
    kosarak_prefix: str | None = None  # what stands in for them
    retail: str | None = None
    beijing: str | None = None


KOSARAK = 929_335  # 34,434 of the first 36,682 users keep a page; so many of all 990,002
# for readers with no file at all: the paper's d and n, and the shapes that `shapes.fit` finds
SYNTHETIC = {
    "kosarak": "zipf(s=1.3, d=128, n=929_335)",
    "bms_pos": "zipf(s=0.85, d=256, n=515_596)",
    "porto": "geometric(p=0.028, d=225, n=1_620_157)",
}


def of_table(table: Table, files: Files) -> Dataset:
    """The data of one of the paper's tables, or what stands in for them, which the name says."""
    path = getattr(files, table.name)
    if path:
        return ldp3.load(f"{table.name}(path={path!r})")
    standing_in = stand_ins(files).get(table.name)
    if standing_in is None:
        return ldp3.load(SYNTHETIC[table.name])
    # the same n as the paper's, so that the noise is comparable
    return _scaled(standing_in, table.n)


def stand_ins(files: Files) -> dict[str, Dataset]:
    """The stand-ins whose files the reader has, by the table they stand for.

    In their own size, but for Kosarak's: as a part of the paper's own data it gets the size of all.
    """
    found = {}
    if files.kosarak_prefix:
        prefix = ldp3.load(files.kosarak_prefix, input_format="transactions", top=128)
        named = replace(prefix, name="first 36,682 click-streams of Kosarak, top 128")
        found["kosarak"] = _scaled(named, KOSARAK)
    if files.retail:
        retail = ldp3.load(files.retail, input_format="transactions", top=256)
        found["bms_pos"] = replace(retail, name="FIMI Retail, top 256")
    if files.beijing:
        starts = ldp3.load(
            files.beijing, column="row,column", counts=True, grid="15x15", within="0:255,0:255"
        )
        found["porto"] = replace(starts, name="DPBench Beijing taxi starts, 15×15")
    return found


def _scaled(data: Dataset, n: int) -> Dataset:
    if data.n == n:
        return data
    return replace(data.scaled(n), name=f"{data.name}, scaled to {n:,} users")


def whose(table: Table, files: Files) -> str:
    """One sentence: whose data a table's measurements are."""
    data = of_table(table, files)
    if getattr(files, table.name):
        return f"Measured on the original: {data.name}, n = {data.n:,}, d = {data.d}."
    return (
        f"The paper's file is not here. Stand-in: {data.name}, "
        f"n = {data.n:,}, d = {data.d}. What post-processing does depends on the data: only "
        "the first column can be compared."
    )
