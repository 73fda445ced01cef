"""Rows of users before they are counted: their columns, their places, and rows without a value."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import polars as pl

from ldp3.errors import InvalidData, did_you_mean
from ldp3.printing import plural
from ldp3.reading.options import NA, Reading
from ldp3.sandbox import Unreadable, collect, decoding_error, schema

VALUE, COUNT, ROW = "value", "count", "row"  # the columns of a frame that is ready to be counted
COORDINATES = ("first", "second")  # instead of the value, where two columns are cut into a grid
SHOWN = 8  # columns that a message names
ISO = "%Y-%m-%d"
COMMAS = r"^[+-]?([0-9]{1,3}(\.[0-9]{3})+|[0-9]*)(,[0-9]+)?([eE][+-]?[0-9]+)?$"  # 1.234,5
POINTS = r"^[+-]?[0-9.,]*[0-9]([eE][+-]?[0-9]+)?$"  # any number, however it is written
BLANKS = "".join(filter(str.isspace, map(chr, range(0x3001))))  # what `str.strip` takes away


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
        What the column of the values is called, where it has a name.
    titles
        What the columns of a table are called.
    among
        Whether the values are one column of a table: nobody is left out of it, and what is in doubt
        of a column alone is not.
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
    titles: tuple[str, ...] = ()
    among: bool = False
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

    def first_where(self, condition: pl.Expr, value: pl.Expr | None = None) -> tuple[str, object]:
        """Place and value of the first row that meets the condition; there must be one."""
        numbered = self.frame if ROW in self.schema() else self.frame.with_row_index(ROW)
        shown = numbered if value is None else numbered.with_columns(value.alias(VALUE))
        row = self.collect(shown.filter(condition).head(1)).row(0, named=True)
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


def choose(users: Users, reading: Reading) -> Users:
    """The rows with the column `value` (or the two coordinates of a grid), and `count` if asked."""
    names = users.schema().names()
    count = _count_column(users, names) if reading.counts else None
    if reading.columns is not None:
        return _attributes(users, names, count, [column.name for column in reading.columns])
    wanted = 1 if reading.grid is None else 2
    if reading.column is not None:
        chosen = [_find(users, names, column) for column in reading.column]
    else:
        chosen = [name for name in names if name != count]
    if len(chosen) != wanted:
        raise users.error(_how_to_choose(users, names, wanted, reading))
    targets = COORDINATES if wanted == 2 else (VALUE,)
    columns = [pl.col(name).alias(target) for name, target in zip(chosen, targets, strict=True)]
    title = ", ".join(chosen).strip() if users.header else ""
    users = replace(users, title=title or None)
    if count is None:
        return plainly_written(users.selecting(*columns), reading)
    return plainly_written(_with_counts(users, columns, count), reading)


def attribute(number: int) -> str:
    """What a column of a table is called while it is read, whatever its title."""
    return f"attribute {number}"


def _attributes(
    users: Users, names: list[str], count: str | None, wanted: list[str | int]
) -> Users:
    """The rows with the columns of a table, and `count` if asked."""
    chosen = [_find(users, names, column) for column in wanted]
    twice = next((name for name in chosen if chosen.count(name) > 1), None)
    if twice is not None:
        raise users.error(f"the column {twice!r} is chosen twice; `columns` are different ones.")
    if count in chosen:
        raise users.error(f"{count!r} holds the numbers of people, by `counts`: no attribute.")
    columns = [pl.col(name).alias(attribute(j)) for j, name in enumerate(chosen)]
    titles = tuple(map(str.strip, chosen)) if users.header else tuple(map(str, wanted))
    users = replace(users, titles=titles)
    return users.selecting(*columns) if count is None else _with_counts(users, columns, count)


def plainly_written(users: Users, reading: Reading) -> Users:
    """The rows with numbers and dates as they are written everywhere else: 1234.5, 2013-02-01."""
    if reading.decimal == "." and reading.date_format is None:
        return users
    columns, kinds = [], users.schema()
    for name in (n for n in kinds.names() if n not in (COUNT, ROW)):
        if kinds[name] != pl.String:
            raise users.error(f"holds {kinds[name]}: `decimal` and `date_format` are for text.")
        text = stripped(pl.col(name))
        if reading.date_format is None:
            found, wrong = _with_points(text), text.str.contains(POINTS)
            what = "a number with a decimal comma"
        else:
            found, wrong = _as_days(text, reading.date_format), text != ""
            what = f"a date like {reading.date_format}"
        absent = text.str.to_lowercase().is_in(missing_texts(users, reading, None))
        bad = found.is_null() & wrong & ~absent
        if users.collect(users.frame.select(bad.any())).item():
            place, value = users.first_where(bad, text)
            raise users.error(f"{place}: {value!r} is not {what}.")
        columns.append(pl.coalesce(found, text).alias(name))
    return replace(users, frame=users.frame.with_columns(columns))


def _with_points(text: pl.Expr) -> pl.Expr:
    """Numbers with a decimal comma as numbers with a point; null for what is none."""
    plain = text.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    return pl.when(text.str.contains(COMMAS)).then(plain)


def _as_days(text: pl.Expr, form: str) -> pl.Expr:
    """Dates of this form as 2013-02-01, with the time if the form has one; null for others."""
    timed = re.search("%[HIMSTRXkl]", form) is not None
    return text.str.to_datetime(form, strict=False).dt.strftime(ISO + " %H:%M:%S" if timed else ISO)


def _find(users: Users, names: list[str], column: str | int) -> str:
    """The name of a column that is given by name, or by position from 1."""
    text = str(column)
    if text in names and users.header:
        return text
    if text.isdecimal() and 1 <= int(text) <= len(names):
        return names[int(text) - 1]
    if text.isdecimal():
        columns = _listed(names) if users.header else _nameless_columns(users, names)
        raise users.error(f"has {columns}, there is no column {text}.")
    if all(part.strip() in names for part in text.split(",")):
        raise users.error(
            f"{text!r} are several columns, and a value is of one: `columns` reads several as a "
            f"table, a `grid` cuts two of numbers."
        )
    hint = did_you_mean(text, names)
    raise users.error(f"has no column {text!r}.{hint} It has {_listed(names)}.")


def _count_column(users: Users, names: list[str]) -> str:
    if len(names) < 2:
        raise users.error("`counts` needs two columns, a value and a number of people.")
    return COUNT if COUNT in names and users.header else names[-1]


def _how_to_choose(users: Users, names: list[str], wanted: int, reading: Reading) -> str:
    if wanted == 1 and len(reading.column or ()) > 1:
        return "a value is of one `column`; `columns` reads several of them as a table."
    one = "one" if wanted == 1 else "two"
    has = _listed(names) if users.header else _nameless_columns(users, names)
    counts = " beside the counts" if reading.counts else ""
    how = "by name or by position from 1" if users.header else "by position from 1"
    return f"has {has}; choose {one}{counts} with `column`, {how}."


def _nameless_columns(users: Users, names: list[str]) -> str:
    """How many columns without a name there are, and what stands first in them."""
    (first,) = users.collect(users.frame.head(1)).rows() or [()]
    shown = ", ".join(repr(cell or "") for cell in first[:SHOWN])
    more = ", …" if len(first) > SHOWN else ""
    return f"{plural(len(names), 'column')} (first row: {shown}{more})"


def _listed(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:SHOWN]))
    if len(names) == 1:
        return f"the column {shown}"
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"the columns {shown}{more}"


def _with_counts(users: Users, columns: list[pl.Expr], count: str) -> Users:
    given = pl.col(count)
    if users.text:
        given = given.str.strip_chars()
    number = given.cast(pl.Int64, strict=False)
    if users.schema()[count].is_float():
        number = pl.when(given == given.round()).then(number)
    blank = pl.all_horizontal(pl.all().is_null())  # a blank line at the end, or an error later
    wrong = (number.is_null() | (number < 0)) & ~blank
    checked = users.selecting(given.alias(VALUE), wrong.alias("wrong"), number.alias(COUNT))
    any_wrong, total = checked.collect(
        checked.frame.select(pl.col("wrong").any(), pl.col(COUNT).cast(pl.Float64).sum())
    ).row(0)
    if any_wrong:
        place, value = checked.first_where(pl.col("wrong"))
        header = "" if users.header else "; if the first row is a header, use `header`"
        raise users.error(
            f"{place}: {value!r} is not a number of people, a whole number of at least 0{header}."
        )
    if total >= 2**62:
        raise users.error(f"the counts add up to {total:.1e} people, more than can be counted.")
    return users.selecting(*columns, number.fill_null(0).alias(COUNT))


def stripped(text: pl.Expr) -> pl.Expr:
    """A column of text without blanks around it, as a client strips what people type."""
    return text.str.strip_chars(BLANKS)


def missing_texts(users: Users, reading: Reading, domain: Iterable[str] | None) -> list[str]:
    """Texts in lower case that mean "no value", but for those that the domain names as values.

    Where a file has a null of its own, text is text unless `na` says otherwise.
    """
    if reading.missing == "keep" or (reading.na is None and not users.text):
        return []
    named = {text.strip().lower() for text in (NA if reading.na is None else reading.na).split(",")}
    return sorted(named - {"", *(label.lower() for label in domain or ())})


def without_texts(text: pl.Expr, absent: list[str], instead: str | None) -> pl.Expr:
    """A column of text in which what means "no value" is replaced."""
    if not absent:
        return text
    return pl.when(text.str.to_lowercase().is_in(absent)).then(pl.lit(instead)).otherwise(text)


def without_missing(
    users: Users, rows: Mapping[str, int], reading: Reading, which: pl.Expr
) -> Users:
    """Refuse rows that hold no value, or say how many are left out; `rows` of each such text."""
    held = dict(rows)
    if "" in held:
        held[""] -= users.blank_rows_at_end()
    held = {text: number for text, number in held.items() if number}
    total = sum(held.values())
    if not total:
        return users
    if reading.missing == "drop":
        told = "" if list(held) == [""] else f": {_counted_texts(held)}"
        return users.noting(f"{plural(total, 'row')} without a value left out{told}.")
    place, _ = users.first_where(which)
    texts = [text for text in held if text]
    details = [f"{total:,} rows in all"] if total > 1 else []
    details += [_counted_texts(held)] if texts else []
    more = f" ({', '.join(details)})" if details else ""
    keep = ", or keep such texts as values with `missing=keep`" if texts else ""
    raise users.error(
        f"{place} holds no value{more}; fill it in, or leave such rows out with "
        f"`missing=drop`{keep}."
    )


def _counted_texts(held: Mapping[str, int]) -> str:
    """``12 'NA', 5 empty``."""
    most = sorted(held.items(), key=lambda item: (-item[1], item[0] == "", item[0]))
    return ", ".join(f"{rows:,} {repr(text) if text else 'empty'}" for text, rows in most)
