"""What a frequency oracle promises."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from math import exp
from operator import add
from types import ModuleType
from typing import ClassVar

import numpy as np

from ldp3 import specs
from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports, apportion
from ldp3.errors import (
    InvalidData,
    InvalidParameter,
    InvalidReport,
    require_epsilon_and_domain,
    require_histogram,
    settle_numbers,
    short,
)
from ldp3.noise import Channel, Noise, Support
from ldp3.protocols.layout import Layout, Numbers
from ldp3.randomness import Words, stream
from ldp3.shuffling import Blanket, Distinguisher, Shuffled
from ldp3.types import Estimate, Tally

MIXTURE = "resolutions(wave=0.5)"  # for distributions and quantiles, where nobody says which
CHUNK = 65_536  # users at a time
CHUNK_BITS = 2**28  # and 32 MiB of reports at the most, whatever the domain
MOST_AT_ONCE = 2**23  # users at a time where that makes up for a histogram


def histogram_chunk(reports: int) -> int:
    """Users at a time, where a histogram of so many different reports is made for each chunk."""
    return min(max(CHUNK, 2 * reports), MOST_AT_ONCE)


@dataclass(frozen=True)
class FrequencyOracle(ABC):
    """An ε-LDP protocol over the domain `{0, …, d-1}`: client and server in one object.

    Two methods suffice: `perturb` (client) and `estimate` (server, from the sum over all users).
    A protocol that is to be deployed also says its `layout`, `draw` and `constants`.

    Parameters
    ----------
    epsilon
        Privacy budget of one report, > 0.
    d
        Size of the domain, ≥ 2.
    """

    aliases: ClassVar[tuple[str, ...]] = ()
    title: ClassVar[str] = ""  # as papers write it, where that is not the name of the class
    examples: ClassVar[tuple[str, ...]] = ()  # specs, besides the name, for test vectors
    needs_order: ClassVar[bool] = False  # for domains whose order means something, and no others
    needs_records: ClassVar[bool] = False  # for several attributes, and no others: it has `sizes`
    most_values: ClassVar[int] = 2**32  # for a value is a 32-bit code
    usual_method: ClassVar[str] = ""  # where nobody says which, if it is one of its own
    symbols: ClassVar[dict[str, str]] = {}  # what specs call a field whose own letter is taken
    instead: ClassVar[str] = ""  # what `all` takes instead of it, and why
    sets: ClassVar[dict[str, tuple[str, ...]]] = {  # that people name as one
        "paper": ("grr", "rappor", "oue", "blh", "olh", "ss"),
        "usual": ("grr", "oue", "olh"),  # what is often deployed without looking
        "attributes": ("groups", "pairs", "smp"),  # for several of them
    }

    epsilon: float
    d: int

    def __post_init__(self) -> None:
        self.settle()

    def settle(self) -> None:
        """Check ε and d; a subclass calls it before it computes anything from them."""
        settle_numbers(self)
        require_epsilon_and_domain(self, self.epsilon, self.d, self.most_values)
        object.__setattr__(self, "epsilon", float(self.epsilon))

    # the client

    @abstractmethod
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        """Client: one report per value. A value outside the domain is refused, never sent."""

    def draw(self, value: int, words: Words) -> int:  # noqa: ARG002
        """Client: the report of one user, as its layout writes it, from uniform 64-bit words.

        This is the definition, in whole numbers, for clients in any language; `perturb` has the
        same law, many users at a time, and takes its words in another order.
        """
        raise InvalidParameter(
            f"{type(self).__name__} cannot be deployed: it does not say how one report is drawn "
            f"from whole numbers (`draw`)."
        )

    @property
    def deployable(self) -> bool:
        """Whether real people's reports can be made with it: exactly, from whole numbers."""
        return type(self).draw is not FrequencyOracle.draw

    @property
    def constants(self) -> dict[str, int]:
        """The whole numbers besides d that `draw` uses: thresholds of 2⁶⁴, sizes, versions."""
        return {}

    @cached_property
    def layout(self) -> Layout:
        """How a report is written; by default as the array that `perturb` makes."""
        some = self.perturb(np.zeros(1, dtype=np.int64), stream(0))
        return Numbers(np.asarray(some).dtype, np.shape(some)[1:])

    @property
    def report_bits(self) -> int:
        """Size of one report on the wire."""
        return self.layout.bits

    # the server

    def valid(self, reports: Reports) -> BoolArray:
        """Which rows a server may count."""
        return self.layout.fits(reports)

    def require_valid(self, reports: Reports) -> None:
        """Refuse reports that no client can have sent, naming the first."""
        if not isinstance(reports, np.ndarray) or reports.ndim == 0:
            raise InvalidReport(
                f"{type(self).__name__}: an array of reports is needed, as `perturb` makes it, got "
                f"{short(reports)}."
            )
        ok = self.valid(reports)
        if not ok.all():
            raise InvalidReport(
                f"{type(self).__name__}: report {int(np.argmin(ok))} is not {self.layout.form}; "
                f"count only the rows that `valid` accepts."
            )

    def every_report(self, most: int) -> Reports | None:
        """All reports that a server takes; None if more than `most` have their length."""
        layout = self.layout
        if layout.bits >= 64 or 1 << layout.bits > most:
            return None
        numbers = np.arange(1 << layout.bits, dtype="<u8")
        every = layout.decode(numbers.view(np.uint8).reshape(-1, 8)[:, : layout.size])
        return every[self.valid(every)]

    def aggregate(self, reports: Reports) -> Tally:
        """Server: the sum over users. Tallies of two batches add up."""
        self.require_valid(reports)
        return Tally(reports.sum(axis=0), len(reports))

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        """A tally with the law of the user path, for users with this histogram."""
        histogram = require_histogram(self, histogram, self.d)
        chunks = users(histogram, self.chunk_size)
        tallies = (self.aggregate(self.perturb(values, rng)) for values in chunks)
        return reduce(add, tallies) if histogram.any() else self.empty

    @property
    def simulates_exactly(self) -> bool:
        """Whether `simulate` draws the tally from its law, without every user's report."""
        return type(self).simulate is not FrequencyOracle.simulate

    def require_tally(self, tally: Tally) -> None:
        """Refuse a tally that no reports can have given."""
        if tally.n:
            self.estimate(tally)
        elif (tally.total != self.empty.total).any():
            raise InvalidData(f"{type(self).__name__}: a tally of no reports is that of `empty`.")

    def require_histogram(self, tally: Tally, size: int) -> None:
        """Refuse a tally that is no histogram of `n` reports, for an oracle that adds up those."""
        total, n = tally.total, tally.n
        sound = total.shape == (size,) and np.issubdtype(total.dtype, np.integer)
        if not sound or total.min() < 0 or int(total.sum()) != n:
            raise InvalidData(
                f"{type(self).__name__}: these are no counts of n={n} reports, each of them one of "
                f"{size}."
            )

    @abstractmethod
    def estimate(self, tally: Tally) -> Estimate:
        """Server: unbiased frequencies."""

    def noise(self, frequencies: FloatArray, n: int) -> Noise:
        """The noise to be expected of `n` reports; by default, that of a simulated collection."""
        drawn = self.simulate(apportion(frequencies, n), stream(0, "noise", n))
        return self.estimate(drawn).noise

    @property
    def empty(self) -> Tally:
        """The tally of no reports."""
        none = np.zeros(0, dtype=np.int64)
        return self.aggregate(self.perturb(none, stream(0)))

    @property
    def chunk_size(self) -> int:
        """How many users to perturb and aggregate at a time."""
        return max(1, min(CHUNK, CHUNK_BITS // self.report_bits))

    # what it says of itself

    @property
    def privacy_ratio(self) -> Fraction | None:
        """Worst ratio of a report's probabilities under two values, exact; None if unknown."""
        return None

    @property
    def blanket(self) -> Blanket:
        """What its reports have in common, behind which shuffled reports hide."""
        ratio = self.privacy_ratio
        return Blanket.generic(exp(self.epsilon) if ratio is None else ratio)

    @property
    def distinguishers(self) -> list[Distinguisher]:
        """How shuffled reports can be told apart, where the oracle knows enough of itself."""
        return []

    def shuffled(self, n: int, delta: float, rounds: int = 1) -> Shuffled:
        """What holds if a trusted shuffler mixes n honest reports before anybody sees them.

        >>> from ldp3 import oracle
        >>> round(oracle("grr", epsilon=1.0, d=128).shuffled(10_000, delta=1e-6).epsilon, 4)
        0.0063
        """
        return Shuffled.of(self.blanket, self.distinguishers, n, delta, rounds)

    @property
    def nonce(self) -> tuple[str, int] | None:
        """The field of the layout that is drawn uniformly whatever the value: name and bound."""
        return None

    @property
    def support(self) -> Support | None:
        """How reports support values, where the oracle is pure."""
        return None

    @property
    def channel(self) -> Channel | None:
        """Probability of each report given each value, where the tally counts reports."""
        return None

    @property
    def correlated(self) -> bool:
        """Whether errors of different values hang together too much to be taken alone."""
        return False


def users(histogram: IntArray, size: int) -> Iterator[IntArray]:
    """The users' values in chunks of `size`, in order of value, without holding them all."""
    ends = np.cumsum(histogram)
    for start in range(0, int(ends[-1]), size):
        yield users_between(ends, start, min(start + size, int(ends[-1])))


def users_between(ends: IntArray, start: int, stop: int) -> IntArray:
    """The values of users `start` to `stop`, where `ends` is the cumulated histogram."""
    first, last = np.searchsorted(ends, [start, stop - 1], side="right")
    inside = np.clip(ends[first : last + 1], start, stop)
    return np.repeat(np.arange(first, last + 1), np.diff(inside, prepend=start))


def build_oracle(
    spec: object, *plugins: ModuleType, epsilon: float, d: int, sizes: tuple[int, ...] = ()
) -> FrequencyOracle:
    """The oracle that `spec` means: ``"olh"``, ``"olh(g=4)"``, a class; an oracle as it is.

    Where people hold several attributes, `sizes` says how many values each of them has.
    """
    cls = specs.class_of(FrequencyOracle, spec, *plugins)
    if cls.needs_records != bool(sizes):
        raise InvalidParameter(
            f"{cls.__name__} is for several attributes, and this is one: use grr, pgr, ss …"
            if cls.needs_records
            else f"{cls.__name__} is for one attribute, and these are several: use groups."
        )
    shape = {"sizes": sizes} if sizes else {}
    return specs.build(FrequencyOracle, spec, *plugins, epsilon=epsilon, d=d, **shape)
