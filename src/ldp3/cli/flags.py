"""The options that several commands share, each written once."""

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_origin

from cyclopts import Group, Parameter, Token

from ldp3 import answers
from ldp3.errors import InvalidParameter, LDPError, short
from ldp3.printing import show, terminal_width
from ldp3.progress import say
from ldp3.reading.options import (
    GRID,
    RANGE,
    Column,
    Cut,
    NumberOrDate,
    Pick,
    Range,
    Reading,
    as_bins,
    as_columns,
    as_grid,
    as_labels,
    as_table_columns,
    as_within,
)

if TYPE_CHECKING:
    from ldp3.cli.console import Console
    from ldp3.collection.numbers import Asked
    from ldp3.domain import Domain
    from ldp3.people import Dataset, Table

COMPARE = Group("Compare", sort_key=1)
DEPLOY = Group("Deploy", sort_key=2)
ATTACK = Group("Attack", sort_key=3)
EXTEND = Group("Extend", sort_key=4)
OUTPUT = Group("Output", sort_key=1)
READING = Group("Reading the data", sort_key=2)

_several = Parameter(consume_multiple=True)


def _names(kind: str, _: Any) -> list[tuple[str, str]]:
    """What a shell completes: every name of a kind, with what it is in a line."""
    from ldp3.kinds import every_kind, find, installed_names, summary

    base = every_kind()[kind]
    ours = [(name, summary(cls)) for name, cls in find(base).items()]
    return ours + list(installed_names(base).items())


PROTOCOL_NAMES, METHOD_NAMES, METRIC_NAMES, ATTACK_NAMES = (
    Parameter(completer=partial(_names, kind))
    for kind in ("protocols", "methods", "metrics", "attacks")
)


def _whole(wanted: Any, tokens: Sequence[Token]) -> int | list[int]:
    """Whole numbers, also as 1e6 and 1,000,000: 8.6 values are no 9."""
    numbers = [_number(token.value) for token in tokens]
    return numbers if get_origin(wanted) is list else numbers[0]


def _number(text: str) -> int:
    grouped = re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+", text)
    try:
        number = Decimal(text.replace(",", "") if grouped else text)
    except InvalidOperation:
        raise ValueError(f"{short(text)} is no whole number.") from None
    if not number.is_finite() or number.adjusted() > 1_000 or number != number.to_integral_value():
        raise ValueError(f"{short(text)} is no whole number.")
    return int(number)


WHOLE = Parameter(converter=_whole)

Epsilons = Annotated[
    list[str],
    _several,
    Parameter(name=["--epsilon", "-e"], help="Privacy budgets, separated by spaces or commas."),
]
Epsilon = Annotated[
    float, Parameter(name=["--epsilon", "-e"], help="Privacy budget of one report.")
]
Protocols = Annotated[
    list[str],
    _several,
    PROTOCOL_NAMES,
    Parameter(
        name=["--protocols", "-p"],
        help='Protocols, such as grr or "olh(g=4)"; paper, all, literature. See '
        "`ldp3 list protocols`.",
    ),
]
Methods = Annotated[
    list[str],
    _several,
    METHOD_NAMES,
    Parameter(
        name=["--methods", "-m"],
        help="Post-processing methods, such as norm_sub or power+norm_sub; paper, all. The raw "
        "estimate, none, is always among them.",
    ),
]
Metrics = Annotated[
    list[str],
    _several,
    METRIC_NAMES,
    Parameter(name=["--metrics", "-u"], help="Utility metrics, such as l1 or kl; paper, all."),
]
Data = Annotated[
    list[str],
    _several,
    Parameter(
        name=["--data", "-d"],
        help='Datasets: a file, a name, or a spec such as "zipf(s=1.3, d=1024, n=10_000_000)"; '
        'a folder, a quoted pattern ("logs/*.csv") or a.csv+b.csv is one of several files, '
        "- standard input.",
    ),
]
Attacks = Annotated[
    list[str],
    _several,
    ATTACK_NAMES,
    Parameter(
        name=["--attack", "-a"],
        help='What fake users do, such as mga or "mga(padding=law)". See `ldp3 list attacks`.',
    ),
]
Population = Annotated[
    int | None, WHOLE, Parameter(help="As if so many people were distributed as in the data.")
]
Threads = Annotated[
    int | None,
    WHOLE,
    Parameter(name=["--threads", "-t"], help="Threads, or processes; all cores by default."),
]
Seed = Annotated[
    int, WHOLE, Parameter(help="Where all randomness starts: the same seed, the same numbers.")
]
Mean = Annotated[bool, Parameter(help="The mean of the values, of bins: of their middles.")]
Quantiles = Annotated[
    list[float],
    _several,
    Parameter(help="Where these shares of the people lie below: 0.5 is the median."),
]
Attributes = Annotated[list[str], _several]
Above = Annotated[
    list[str],
    _several,
    Parameter(help="The share of people from this number (or date) on."),
]
Below = Annotated[
    list[str],
    _several,
    Parameter(help="The share of people below this number."),
]
Between = Annotated[
    list[str],
    _several,
    Parameter(help="The share of people from a number up to another, such as 18:65."),
]
Confidence = Annotated[float, Parameter(help="Confidence of what is stated.")]
Plugins = Annotated[
    list[Path],
    _several,
    Parameter(
        name="--plugin",
        help="Python files with more protocols, methods, metrics, attacks or datasets.",
    ),
]
Method = Annotated[
    str | None,
    METHOD_NAMES,
    Parameter(
        name=["--method", "-m"], help="Post-processing method, such as norm_sub or power+norm_sub."
    ),
]
Metric = Annotated[
    str | None,
    METRIC_NAMES,
    Parameter(
        name=["--metric", "-u"],
        help="What the estimate must be good at, such as emd: chooses the method if none is given.",
    ),
]
Ordered = Annotated[
    bool, Parameter(help="The order of the values means something; of bins it does.")
]
Executor = Annotated[
    str,
    Parameter(
        help="threads, processes, dask (a cluster of processes on this machine), or the address of "
        "a Dask scheduler, such as tcp://host:8786; the numbers are the same."
    ),
]
AnswerFormat = Annotated[answers.Format, Parameter(group=OUTPUT, help="How the answer is printed.")]
_output = Parameter(name=["--output", "-o"], group=OUTPUT)
Output = Annotated[Path, _output, Parameter(help="The file to write.")]
MaybeOutput = Annotated[Path | None, _output]
Quiet = Annotated[
    bool,
    Parameter(
        name=["--quiet", "-q"], group=OUTPUT, help="Nothing but the result: no progress, no notes."
    ),
]
PlanFile = Annotated[Path, Parameter(help="The plan, as `ldp3 plan` wrote it.")]


_HIDDEN = Parameter(parse=False)


Header = Annotated[bool | None, Parameter(negative="--no-header")]
Na = Annotated[str | None, Parameter(allow_leading_hyphen=True)]
Delimiter = Annotated[str | None, Parameter(allow_leading_hyphen=True)]


@dataclass(frozen=True)
class ReadingOptions(Reading):
    """How the file of the data is read."""

    column: Any = None  # what is Any here is a word, or a value of a configuration, until parsed
    columns: Annotated[list[str] | None, _several] = None  # type: ignore[assignment]
    header: Header = None
    delimiter: Delimiter = None
    na: Na = None
    domain: Path | None = None
    domain_size: Annotated[int | None, WHOLE] = None
    top: Annotated[int | None, WHOLE] = None
    bins: Any = None
    grid: Any = None
    within: Any = None
    keep_values: Annotated[bool, _HIDDEN] = False  # no command needs their order

    def __post_init__(self) -> None:
        parsed = {
            "grid": grid_in(self.grid),
            "bins": bins_in(self.bins),
            "within": within_in(self.within),
            "domain": as_labels(self.domain),
            "columns": table_columns_in(self.columns),
            "column": columns_in(self.column, 1 if self.grid is None else 2),
        }
        for name, value in parsed.items():
            object.__setattr__(self, name, value)
        super().__post_init__()


def columns_in(given: object, wanted: int) -> tuple[str | int, ...] | None:
    """A column; the two of a grid are separated by a comma."""
    if isinstance(given, str) and wanted == 2:
        return as_columns([name.strip() for name in given.split(",")])
    return as_columns(given)


def table_columns_in(given: object) -> tuple[Column, ...] | None:
    """``sex "age(bins=10)" "city, now"``: names, with options in parentheses; or one .toml file.

    One argument alone may be several names, with commas between them.
    """
    if isinstance(given, list) and all(isinstance(one, str) for one in given):
        from ldp3.specs import split

        words = split(given[0], ",") if len(given) == 1 else given  # a name may have a comma
        if len(words) == 1 and words[0].endswith(".toml"):
            return as_table_columns(words[0])
        found: list[Column] = []
        for word in words:
            # parentheses without a word and an equals sign belong to a name: "income (USD)"
            own = re.fullmatch(r"(.*?)\s*(\(\s*[^\W\d][\w-]*\s*=.*\))\s*", word)
            found += as_table_columns({own[1]: _how(own[2])} if own else [word]) or ()
        return tuple(found)
    return as_table_columns(given)


def _how(options: str) -> dict[str, Any]:
    """What stands behind the name of a column, in parentheses."""
    from ldp3.specs import parse

    try:
        return parse(f"column{options}")[1]
    except InvalidParameter:
        raise InvalidParameter(
            f"`columns`: options have names, and dates quotes, as in (top=20), (bins=[0, 18, 65]) "
            f"or (bins=['2026-01-01', '2026-07-01']), got {short(options)}; a name with an equals "
            f"sign goes into a .toml file."
        ) from None


def bins_in(given: object) -> Cut | tuple[NumberOrDate, ...] | None:
    """``20``, ``log:20``, or edges separated by commas."""
    if isinstance(given, str) and "," in given:
        return as_bins(given.split(","))
    return as_bins(given)


def grid_in(given: object) -> tuple[int, int] | None:
    """``15x20``: 15 rows, 20 columns."""
    if not isinstance(given, str):
        return as_grid(given)
    sizes = re.fullmatch(r"\s*(\d+)\s*[x×X]\s*(\d+)\s*", given, re.ASCII)
    if sizes is None:
        raise InvalidParameter(f"`grid`: {GRID}, got {given!r}.")
    return as_grid([int(size) for size in sizes.groups()])


def asked(
    mean: bool,
    quantiles: Sequence[float],
    above: Sequence[str],
    below: Sequence[str],
    between: Sequence[str],
) -> "Asked":
    """Which numbers are wanted of a collection."""
    from ldp3.collection.numbers import Asked

    ranges = [each.split(":") for each in between]
    if any(len(ends) != 2 for ends in ranges):
        raise InvalidParameter(f"--between: {RANGE}, got {' '.join(between)}.")
    return Asked(mean, quantiles, above, below, [(low, high) for low, high in ranges])


def within_in(given: object) -> tuple[Range, ...] | None:
    """``0:100``, or one for each coordinate of a grid, separated by commas."""
    if not isinstance(given, str):
        return as_within(given)
    ranges = [part.split(":") for part in given.split(",")]
    if any(len(ends) != 2 for ends in ranges):
        raise InvalidParameter(f"`within`: {RANGE}, got {given!r}.")
    return as_within(ranges)


@dataclass(frozen=True)
class ColumnOptions(Reading):
    """Where in a file the values of people stand."""

    column: Any = None
    columns: Annotated[Any, _HIDDEN] = None
    header: Header = None
    delimiter: Delimiter = None
    counts: Annotated[bool, _HIDDEN] = False
    domain: Annotated[Path | None, _HIDDEN] = None
    domain_size: Annotated[int | None, _HIDDEN] = None
    top: Annotated[int | None, _HIDDEN] = None
    other: Annotated[str | None, _HIDDEN] = None
    pick: Annotated[Pick | None, _HIDDEN] = None
    bins: Annotated[Any, _HIDDEN] = None
    grid: Annotated[Any, _HIDDEN] = None
    within: Annotated[Any, _HIDDEN] = None
    clip: Annotated[bool, _HIDDEN] = False
    ordered: Annotated[bool, _HIDDEN] = False
    keep_values: Annotated[bool, _HIDDEN] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "column", as_columns(self.column))
        super().__post_init__()

    def of(self, domain: "Domain") -> "ColumnOptions":
        """For the values of a plan: the two columns of a grid are separated by a comma."""
        from ldp3.domain import Grid

        if not isinstance(domain, Grid) or self.column is None:
            return self
        return replace(self, column=columns_in(",".join(map(str, self.column)), 2))


ReadingFlags = Annotated[ReadingOptions, Parameter(name="*", group=READING)]
AS_IT_IS = ReadingOptions()
ColumnFlags = Annotated[ColumnOptions, Parameter(name="*", group=READING)]
ONE_COLUMN = ColumnOptions()


def shown_default(default: object) -> str | None:
    """A default as one would type it; what is off by default needs no word."""
    if default is None or default is False or default == []:
        return None
    return " ".join(map(str, default)) if isinstance(default, list) else str(default)


def specs(flag: str, values: Sequence[str]) -> list[str]:
    """Separated by spaces or commas; commas inside parentheses belong to the spec."""
    from ldp3.specs import split

    found = [spec for value in values for spec in split(value, ",")]
    if not found:
        raise InvalidParameter(f"{flag} needs at least one value.")
    return found


def numbers(values: Sequence[str]) -> list[float]:
    """Budgets, separated by spaces or commas."""
    found = []
    for text in specs("-e", values):
        try:
            found.append(float(text))
        except ValueError:
            raise InvalidParameter(f"-e: epsilon must be a number > 0, got {text!r}.") from None
    return found


def announcing_compiling(quiet: bool) -> AbstractContextManager[None]:
    """Inside, say so when kernels are compiled, for the first command waits for them."""
    if quiet:
        return nullcontext()
    from ldp3.kernels.compile import on_compile

    return on_compile(lambda: say("compiling kernels (first run only)…"))


def tell(answer: answers.Answer, format: str) -> None:
    """Print an answer."""
    show(_rendered(answer, format))


def _rendered(answer: answers.Answer, format: str) -> str:
    """As wide as the terminal; people read options as they would type them."""
    from ldp3.cli.console import as_flags

    parts: list[answers.Passage] = []
    for part in answer.parts:
        if isinstance(part, answers.Items):
            parts.append(answers.Items([as_flags(line) for line in part.lines]))
        else:
            parts.append(as_flags(part) if isinstance(part, str) else part)
    return replace(answer, parts=parts).render(format, terminal_width(), colours=True)


@contextmanager
def telling(answer: answers.Answer, format: str) -> Iterator[None]:
    """Write files here: the answer comes after them, for whoever reads it may leave at any time.

    It comes even if a file cannot be written, so that no work is lost.
    """
    text = _rendered(answer, format)
    try:
        yield
    except LDPError:
        with suppress(OSError, LDPError):
            show(text)
        raise
    show(text)


def chosen_method(
    method: str | None,
    metric: str | None,
    domain: "Domain",
    usual: str,
    plugins: Sequence[Path],
    console: "Console",
) -> str:
    """The method that was given, or the one that suits protocol, metric and domain; not both."""
    from ldp3.metrics.base import build_metric
    from ldp3.plugins import load_plugins
    from ldp3.postprocessing.base import default_method

    if method is not None and metric is not None:
        raise InvalidParameter("--metric chooses the method: give it or --method.")
    if method is not None:
        return method
    built = None if metric is None else build_metric(metric, *load_plugins(plugins))
    sums = built is not None and built.needs_order
    if sums and domain.ordered and not domain.in_line:
        console.note(f"{metric} goes by an order, in which {domain.other!r} has no place.")
    elif sums and not domain.in_line:
        console.note(
            f"{metric} goes by an order, and these values have none; a plan made with --ordered "
            f"says that they have."
        )
    return default_method(sums, domain.in_line, built.bayes if built else None, usual)


def loaded(data: str, reading: Reading, plugins: Sequence[Path]) -> "Dataset | Table":
    """The data that a command was given."""
    from ldp3.datasets.loading import read
    from ldp3.plugins import load_plugins

    return read(data, reading, *load_plugins(plugins))
