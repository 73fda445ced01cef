"""Rows of users before they are counted, and where in the file each one stands."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import polars as pl

from ldp3.errors import InvalidData
from ldp3.sandbox import Unreadable, collect, decoding_error, schema

VALUE, COUNT, ROW = "value", "count", "row"  # the columns of a frame that is ready to be counted


def _unexplained(error: Exception) -> str:
    return f"cannot be read: {str(error).strip().splitlines()[0]}"


@dataclass(frozen=True)
class Users:
    """One row per user (or per value, with a count), not yet read.

    Parameters
    ----------
    name
        What the dataset will be called.
    source
        What messages call the file or the object.
    frame
        The rows.
    first
        The number of the first row, as a person counts: 1 in a file, 2 after a header.
    unit
        What a person calls a row.
    header
        Whether the columns' names come from the data itself.
    whole
        All columns, where the rows come from a text file.
    explain
        Why the rows cannot be read, in words, given what the reader said.
    notes
        What a person should know about how the rows were read.
    parts
        The files that the rows come from, one after the other, where these are several.
    items
        Whether a row holds several items of one user, a transaction.
    title
        What the header calls the column of the values.
    untrusted
        Whether the rows are decoded in a process of their own, because a damaged file could end
        this one.
    """

    name: str
    source: str
    frame: pl.LazyFrame
    first: int = 0
    unit: str = "position"
    header: bool = True
    whole: pl.LazyFrame | None = None
    explain: Callable[[Exception], str] = _unexplained
    notes: tuple[str, ...] = ()
    parts: "tuple[Users, ...]" = ()
    items: bool = False
    title: str | None = None
    untrusted: bool = False

    def collect(self, query: pl.LazyFrame) -> pl.DataFrame:
        """Run a query over the rows, in batches; what cannot be read is said in one line."""
        with self._explaining():
            return collect(query) if self.untrusted else query.collect(engine="streaming")

    @property
    def text(self) -> bool:
        """Whether the values are text that nobody has interpreted yet."""
        return self.whole is not None

    def schema(self) -> pl.Schema:
        """Names and types of the columns."""
        with self._explaining():
            return schema(self.frame) if self.untrusted else self.frame.collect_schema()

    def selecting(self, *columns: pl.Expr) -> "Users":
        """The same rows with other columns."""
        return replace(self, frame=self.frame.select(*columns))

    def noting(self, *notes: str) -> "Users":
        """The same rows with more to say."""
        return replace(self, notes=(*self.notes, *notes))

    def first_where(self, condition: pl.Expr) -> tuple[str, object]:
        """Place and value of the first row that meets the condition; there must be one."""
        numbered = self.frame if ROW in self.schema() else self.frame.with_row_index(ROW)
        query = numbered.filter(condition).head(1)
        row = self.collect(query).row(0, named=True)
        return self.place(row[ROW]), row.get(VALUE)

    def place(self, index: int) -> str:
        """What a person calls the row with this index."""
        for part in self.parts:
            rows = part.collect(part.frame.select(pl.len())).item()
            if index < rows:
                return f"{part.source}, {part.place(index)}"
            index -= rows
        return f"{self.unit} {self.first + index:,}"

    def blank_rows_at_end(self) -> int:
        """How many rows at the end hold nothing at all: blank lines, not users."""
        if self.whole is None or self.parts:  # parts come without theirs
            return 0
        blank = self.whole.select(pl.all_horizontal(pl.all().is_null()).alias(VALUE))
        filled = blank.with_row_index(ROW).filter(~pl.col(VALUE))
        last = self.collect(filled.select(pl.col(ROW).max())).item()
        rows = self.collect(blank.select(pl.len())).item()
        return int(rows - 1 - last) if last is not None else int(rows)

    def error(self, what: str) -> InvalidData:
        """An error that names the file."""
        return InvalidData(f"{self.source}: {what}")

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Say in one line what cannot be read; what the reader of a text file panics at, too."""
        try:
            yield
        except (pl.exceptions.PolarsError, OSError, Unreadable) as error:
            raise self._unreadable(error) from error
        except BaseException as error:
            if (reason := decoding_error(error)) is None:
                raise
            raise self._unreadable(ValueError(reason)) from error

    def _unreadable(self, error: Exception) -> InvalidData:
        if isinstance(error, pl.exceptions.NoDataError):
            return self.error("is empty; at least two different values are needed.")
        return self.error(self.explain(error))
