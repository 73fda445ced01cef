"""What can go wrong by a person's mistake, each said in one line.

NumPy is imported by the functions that check arrays: `ldp3 --help` need not wait for it.
"""

import difflib
import inspect
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from itertools import islice
from math import inf, isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

LARGEST_EPSILON = 40.0  # beyond it, probabilities of lies come down to a few of 2⁶⁴ words
MOST_VALUES = 2**24  # of labels or edges: a larger domain is a mistake before it is a domain
MANY_NAMES = 1_000  # among more of them, or for a longer one, no similar name is looked for


class LDPError(ValueError):
    """A person's mistake: the message says what must hold, what was given and what to do.

    It is one line, whatever was given.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(re.sub(r"\s*[\r\n]+\s*", " ", message))


class InvalidParameter(LDPError):
    """A parameter outside its range, or a name that is no parameter."""


class InvalidValue(LDPError):
    """A user's value outside the domain: refused, never sent."""


class InvalidReport(LDPError):
    """A report that no client of this protocol can have sent."""


class InvalidData(LDPError):
    """A dataset that cannot be read as asked."""


class InDoubt(InvalidData):
    """Data that can be read in several ways: `options` are what to choose from."""

    def __init__(self, what: str, *options: str) -> None:
        self.what, self.options = what, options
        super().__init__(f"{what} Say {' or '.join(f'`{option}`' for option in options)}.")


class UnknownName(LDPError):
    """No protocol, method, metric or dataset has this name."""


def require(holds: bool, who: object, what: str, got: object) -> None:
    """Refuse a parameter: ``require(d >= 2, self, "d must be at least 2", d)``."""
    if not holds:
        raise InvalidParameter(f"{_name(who)}: {what}, got {short(got)}.")


def one_of(given: object, choices: Iterable[str]) -> bool:
    """Whether something is one of these texts; arrays have no single answer to `in`."""
    return isinstance(given, str) and given in tuple(choices)


def require_share(who: str, given: object) -> None:
    """Refuse what is no number between 0 and 1, both left out."""
    given = as_python(given)
    number = isinstance(given, int | float) and not isinstance(given, bool)
    require(number and 0 < given < 1, who, "must be between 0 and 1", given)  # type: ignore[operator]


def as_path(given: object, what: str = "a file") -> Path:
    """The path that a text or a path-like object names."""
    if not isinstance(given, str | PathLike) or not str(given):
        raise InvalidParameter(f"The name of {what} is needed, got {short(given)}.")
    return Path(given)


def several(given: object, what: str) -> list[Any]:
    """The elements of a list, a tuple, an array or a column; a text is none of these."""
    listed = isinstance(given, Iterable) and getattr(given, "ndim", 1) > 0
    if isinstance(given, str | bytes | dict) or not listed:
        raise InvalidParameter(f"{what} must be a list, got {short(given)}.")
    return list(given)  # type: ignore[call-overload]


def require_generator(who: object, rng: object) -> None:
    """Randomness is a generator: a seed makes one only by `stream`."""
    import numpy as np

    if not isinstance(rng, np.random.Generator):
        raise InvalidParameter(
            f"{_name(who)}: a generator is needed, `ldp3.secure()` for people's reports or "
            f"`ldp3.stream(seed)` for a simulation, got {short(rng)}."
        )


def require_histogram(who: object, histogram: object, d: int) -> "NDArray[np.int64]":
    """How many users hold each value, as an array."""
    import numpy as np

    try:
        given = np.asarray(histogram)
    except ValueError:  # of unequal lengths
        given = np.empty(0)
    counts = given.ndim == 1 and len(given) > 1 and np.issubdtype(given.dtype, np.integer)
    if not counts or given.min() < 0 or len(given) != d:
        raise InvalidData(
            f"{_name(who)}: a histogram of {d} numbers of people is needed, got {short(histogram)}."
        )
    return given


def as_floats(who: object, **arrays: object) -> "list[NDArray[np.float64]]":
    """Arrays of numbers; what is none is refused by its name."""
    import numpy as np

    made = []
    for what, given in arrays.items():
        try:
            made.append(np.asarray(given, dtype=np.float64))
        except (TypeError, ValueError, OverflowError):
            raise InvalidData(
                f"{_name(who)}: {what} must be an array of numbers, got {short(given)}."
            ) from None
    return made


def _name(who: object) -> str:
    return who if isinstance(who, str) else type(who).__name__


def whole(number: object, low: float = -inf, high: float = inf) -> TypeGuard[int]:
    """Whether something is an integer in `low..high`; `True` is none, nor is one of NumPy's.

    Those overflow where ours do not: `as_python` makes them ours.
    """
    integer = isinstance(number, int) and not isinstance(number, bool)
    return integer and low <= number <= high  # type: ignore[operator]


def as_python(number: T) -> T:
    """A number of NumPy's as one of Python's; anything else as it is."""
    import numpy as np

    return number.item() if isinstance(number, np.generic) else number


def settle_numbers(thing: Any) -> None:
    """Let the fields of a frozen dataclass hold Python's numbers, not NumPy's."""
    import numpy as np

    for field in fields(thing):
        given = getattr(thing, field.name)
        if isinstance(given, np.generic):
            object.__setattr__(thing, field.name, given.item())


def require_epsilon_and_domain(who: object, epsilon: float, d: int, most: int = 2**32) -> None:
    """The two parameters that every frequency oracle has."""
    number = isinstance(epsilon, int | float) and not isinstance(epsilon, bool)
    finite = number and not (whole(epsilon) and epsilon > 2**1000) and isfinite(epsilon)
    require(finite and epsilon > 0, who, "epsilon must be > 0", epsilon)
    require_possible(who, epsilon)
    require(whole(d, 2), who, "d must be an integer of at least 2", d)
    require(d <= most, who, f"d must be at most {most:,}", d)


def require_possible(who: object, epsilon: float) -> None:
    """Refuse an ε at which a report is the value itself."""
    what = f"epsilon must be at most {LARGEST_EPSILON:g}, for beyond it a report hides nothing"
    require(epsilon <= LARGEST_EPSILON, who, what, epsilon)


def require_values(who: object, values: object, d: int) -> "NDArray[np.uint32]":
    """The users' values as codes; the first one that is no integer in `[0, d)` is named."""
    import numpy as np

    return require_codes(who, values, d).astype(np.uint32, copy=False)


def require_codes(who: object, values: object, d: int) -> "NDArray[np.integer[Any]]":
    """The same, where a code may have more than 32 bits."""
    import numpy as np

    try:
        given = np.asarray(values)
    except ValueError:  # of unequal lengths
        raise InvalidValue(f"{_name(who)}: values must be a one-dimensional array.") from None
    name = _name(who)
    if given.ndim != 1:
        raise InvalidValue(f"{name}: values must be a one-dimensional array, got {given.ndim}-d.")
    if not len(given):
        return np.empty(0, dtype=np.uint32)
    if not np.issubdtype(given.dtype, np.integer):
        raise InvalidValue(f"{name}: values must be integers in [0, {d}), got {given.dtype}.")
    if given.min() < 0 or given.max() >= d:
        first = int(np.argmax((given < 0) | (given >= d)))
        raise InvalidValue(
            f"{name}: values must be integers in [0, {d}), got {given[first]} at position {first}."
        )
    return given


def require_finite(who: object, **arrays: "NDArray[Any]") -> None:
    """Refuse arrays that are empty, not one-dimensional, of unequal length, or not finite."""
    import numpy as np

    name = _name(who)
    lengths = {len(a) if a.ndim == 1 else -1 for a in arrays.values()}
    if lengths & {0, -1}:
        raise InvalidData(f"{name}: {' and '.join(arrays)} must be one-dimensional and not empty.")
    if len(lengths) > 1:
        sizes = " and ".join(f"{len(a)} {k}" for k, a in arrays.items())
        raise InvalidData(f"{name}: lengths must agree, got {sizes}.")
    for what, array in arrays.items():
        if not np.isfinite(array).all():
            first = int(np.argmin(np.isfinite(array)))
            raise InvalidData(f"{name}: {what} must be finite, got {array[first]} at {first}.")


@contextmanager
def needing_full(what: str) -> Iterator[None]:
    """Say what to install where a package is missing that only the full install brings."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("ldp3"):
            raise
        raise ImportError(f"{what} needs {error.name}: pip install 'ldp3[full]'.") from None


def system_error(error: BaseException) -> int | None:
    """The operating system's number of an error, 0 for an `OSError` that has none.

    Rust says it in words, whatever the class of its error.
    """
    number = error.errno if isinstance(error, OSError) else None
    if said := re.search(r"\(os error (\d+)\)", str(error)):
        return number or int(said[1])
    return number or (0 if isinstance(error, OSError) else None)


def short(given: object, most: int = 200) -> str:
    """What was given, as Python writes it, and not much longer than a line.

    >>> short("a" * 1000, most=8)
    "'aaaaaa…"
    """
    text = repr(given)
    return text if len(text) <= most else text[: most - 1] + "…"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``" Did you mean 'oue' or 'olh'?"``, or nothing if nothing is close."""
    known = list(islice(known, MANY_NAMES + 1))
    if max(len(known), len(name)) > MANY_NAMES:  # comparing takes too long
        return ""
    close = difflib.get_close_matches(name, known, n=2, cutoff=0.4)
    return f" Did you mean {' or '.join(map(repr, close))}?" if close else ""


def site(thing: Any) -> str:
    """Where a class or a function stands, as ``"mine.py:12"``."""
    try:
        file, (_, line) = inspect.getsourcefile(thing), inspect.getsourcelines(thing)
        return f"{Path(file or '?').name}:{line}"
    except (OSError, TypeError):  # typed at a prompt
        return getattr(thing, "__qualname__", repr(thing))
