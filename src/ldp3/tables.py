"""Run a query over a Parquet or Arrow file that nobody vouches for: see `ldp3.apart`."""

import io
import os
from pathlib import Path

import polars as pl

from ldp3.apart import Answer, answer


def collect(query: pl.LazyFrame) -> pl.DataFrame:
    """What a query finds; its files are decoded in a process of its own, in batches."""
    with answer(_collected, query.serialize(), memory=_half_the_memory()) as (_, (found,)):
        return pl.read_ipc_stream(io.BytesIO(found))


def read_stream(source: Path | bytes) -> pl.DataFrame:
    """The rows of an Arrow stream, in a file or in memory."""
    with answer(_streamed, source, memory=_half_the_memory()) as (_, (found,)):
        return pl.read_ipc_stream(io.BytesIO(found))


def schema(query: pl.LazyFrame) -> pl.Schema:
    """Names and types of the columns that a query finds."""
    with answer(_typed, query.serialize(), memory=_half_the_memory()) as (_, (found,)):
        return pl.read_ipc_stream(io.BytesIO(found)).schema


def _collected(query: bytes) -> Answer:
    frame = pl.LazyFrame.deserialize(io.BytesIO(query)).collect(engine="streaming")
    return None, [frame.write_ipc_stream(None).getbuffer()]


def _streamed(source: Path | bytes) -> Answer:
    return None, [pl.read_ipc_stream(source).write_ipc_stream(None).getbuffer()]


def _typed(query: bytes) -> Answer:
    types = pl.LazyFrame.deserialize(io.BytesIO(query)).collect_schema()
    return None, [types.to_frame().write_ipc_stream(None).getbuffer()]


def _half_the_memory() -> int:
    """Half of what this machine has, where it tells."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return 2**33
