r"""What a shuffler adds: central (ε, δ) where n reports are mixed before anybody sees them.

A report of a *two-level* oracle has probability $c(y)\,e^{ε_0}$ if it supports the value and $c(y)$
if not. What all values have in common, $c$, is a *blanket* that hides who reported what: a report
is drawn from it with probability $γ = \sum_y c(y)$ and then tells nothing. With $L_1, …, L_n$
independent, the shuffled reports are (ε, δ)-private against replacing one person's value for

$$δ(ε) = \frac1n\,\mathrm{E}\,\Bigl(\sum_i L_i\Bigr)_+ , \qquad
  L = \begin{cases} e^{ε_0} - e^{ε} & \text{only } x \text{ supported, probability } α \\
                    1 - e^{ε + ε_0} & \text{only } x' \text{, probability } α \\
                    e^{ε_0}(1 - e^{ε}) & \text{both} \\ 1 - e^{ε} & \text{neither} \\
                    0 & \text{no blanket, probability } 1 - γ. \end{cases}$$

For any other ε₀-LDP oracle the clones of Feldman et al. give the same form with
$α = 1/(e^{ε_0} + 1)$ and nothing else.

Every step rounds upwards: sums lie on a lattice on which each term keeps its mean and gains
variance, which can only raise the mean of a convex function; sums of positive numbers are added
directly, so that errors are relative; what leaves the window is added as if it were the worst.

References
----------
Balle, Bell, Gascón, Nissim. *The privacy blanket of the shuffle model.* CRYPTO 2019, §5.
Feldman, McMillan, Talwar. *Stronger privacy amplification by shuffling for Rényi and approximate
differential privacy.* SODA 2023, §3.
Doroshenko, Ghazi, Kamath, Kumar, Manurangsi. *Connect the dots: tighter discrete approximations of
privacy loss distributions.* PoPETs 2022 (rounds).
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from math import ceil, erfc, exp, expm1, inf, log, log1p, sqrt
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import FloatArray
from ldp3.errors import require, whole

ULP = 2.0**-52
CELLS = 32  # of the lattice in one standard deviation of a sum
FEWEST, WIDEST = 8, 2_000  # where jumps are rare and wide: such cells, and cells in the widest jump
DROPPED = 1e-12  # of the mass, that windows leave out in all; it is added again at its worst
DIRECT = 2**22  # products of a convolution up to which it is summed directly
POINTS = 64  # of an integral, on one side of the real line
HIGHEST = 16.0  # local ε that is looked for
MOST = 10**15  # reports that are mixed
KNOTS = 64  # of the curve δ(ε) that rounds are composed from


ComplexArray = NDArray[np.complex128]
Cumulant = Callable[[ComplexArray], ComplexArray]  # log E exp(sS), for complex s


@dataclass(frozen=True)
class Shuffled:
    """What holds for n honest reports that a trusted shuffler mixes.

    Parameters
    ----------
    epsilon
        Central ε: replacing one person's value changes no event by more, but for `delta`.
    lower
        An attack exists that shows at least this ε, so no proof can promise less.
    local
        ε₀: what every report keeps by itself, whoever looks.
    delta, n, rounds
        For what this holds.
    """

    epsilon: float
    lower: float
    local: float
    delta: float
    n: int
    rounds: int = 1

    @classmethod
    def of(
        cls,
        blanket: "Blanket",
        attacks: "tuple[Distinguisher, ...]",
        n: int,
        delta: float,
        rounds: int,
    ) -> Self:
        """Both bounds; without an attack that is known, the lower one is 0."""
        require_mixed("`n`", n, delta)
        require(whole(rounds, 1), "`rounds`", "must be an integer of at least 1", rounds)
        local = log(blanket.ratio)
        upper = min(blanket.composed(n, rounds, delta), rounds * local)
        lower = max((attack.epsilon(n, delta) for attack in attacks), default=0.0)
        return cls(upper, min(lower, upper), local, delta, n, rounds)

    def __str__(self) -> str:
        """What people are told: what holds without any trust comes first."""
        times = f"{self.rounds} collections from the same people: " if self.rounds > 1 else ""
        local = f"{times}locally ε = {_digits(self.rounds * self.local, up=True)}, whoever looks."
        mixed = f"If a shuffler that you trust mixes at least {self.n:,} honest reports"
        mixed += " each time" if self.rounds > 1 else ""
        if self.epsilon >= self.rounds * self.local:
            return f"{local[0].upper()}{local[1:]} {mixed}: no smaller central ε can be shown."
        shown = f" (an attack shows {_digits(self.lower, up=False)})" if self.lower else ""
        bound = f"central ε ≤ {_digits(self.epsilon, up=True)} at δ = {_short(self.delta)}{shown}"
        large = " This δ is not below 1/n: it allows that everything is told of somebody."
        doubt = large if self.delta * self.n >= 1 else ""
        return f"{local[0].upper()}{local[1:]} {mixed}: {bound}.{doubt}"

    @property
    def claim(self) -> dict[str, float]:
        """What is claimed, for a plan's file."""
        return {"epsilon": self.epsilon, "delta": self.delta, "batch": self.n}

    def can_hold(self, arrived: int, identified: int) -> bool:
        """Whether it can hold for so many reports, of which some carry an identifier."""
        return arrived >= self.n and not identified

    def said_of(self, arrived: int, identified: int) -> str:
        """The same of reports that arrived, and why it does not hold where they break it."""
        if self.can_hold(arrived, identified):
            return str(self)
        why = f"only {arrived:,} reports arrived"
        if identified:
            why = f"identifiers name {identified:,} of the reports"
        return f"{self} This does not hold here: {why}. The local ε does."


@dataclass(frozen=True)
class Blanket:
    """What the reports of others have in common, against telling two values x and x' apart.

    Parameters
    ----------
    ratio
        $e^{ε_0}$: the worst ratio of a report's probabilities under two values.
    apart
        α: probability that a report is drawn from the blanket and supports x, but not x'.
    both, neither
        Probabilities that it is drawn from the blanket and supports both, and neither.
    """

    ratio: float
    apart: float
    both: float = 0.0
    neither: float = 0.0

    @classmethod
    def generic(cls, ratio: Fraction | float) -> Self:
        """What every ε₀-LDP oracle has."""
        top = _up(ratio)
        return cls(top, 1 / (top + 1) * (1 + 4 * ULP))

    @classmethod
    def of_supports(cls, ratio: Fraction, p: float, q: float) -> Self:
        """Of an oracle whose reports have two levels, by its support probabilities."""
        top = _up(ratio)
        share = 1 - p * (1 - 1 / top)
        one = p / top  # γπ: from the blanket, and supports x
        # one of x' is supported by who holds x: q = both · ratio + (one - both). What is taken from
        # `both` and `neither` goes to both sides of them, which only raises the bound
        both = max(0.0, (q - one - 8 * ULP * (q + one)) / (top - 1))
        apart = one - both + 4 * ULP * one
        return cls(top, apart, both, max(0.0, share - 2 * one + both) + 8 * ULP)

    def delta(self, epsilon: float, n: int) -> float:
        """An upper bound of δ for n people at a central ε."""
        e, x, top = exp(epsilon), expm1(epsilon), self.ratio
        if e >= top:
            return 0.0
        values = np.array([top - e, 1 - e * top, -x * top, -x, 0.0])
        values += 4 * ULP * np.array([top, e * top, x * top, x, 0.0])  # upwards
        rest = max(0.0, 1 - 2 * self.apart - self.both - self.neither) + 24 * ULP
        weights = np.array([self.apart, self.apart, self.both, self.neither, rest])
        some = weights > 0
        return min(1.0, positive_part(values[some], weights[some], n) / n)

    def epsilon(self, n: int, delta: float) -> float:
        """The least central ε found at which δ is at most `delta`."""
        start = (self.ratio - 1) * sqrt(2 * self.apart / n)
        top = log(self.ratio) * (1 + 2 * ULP)
        return _least(lambda e: self.delta(e, n), delta, top, _gaussian(start, delta))

    def composed(self, n: int, rounds: int, delta: float) -> float:
        """The same for independent rounds of the same people, composed."""
        if rounds == 1:
            return self.epsilon(n, delta)
        top = log(self.ratio) * (1 + 2 * ULP)
        # beyond the last knot nothing is claimed: what is left there counts as if all were known
        last = min(top, self.epsilon(n, min(delta, 1e-6) * 1e-4 / rounds))
        step = last / KNOTS
        curve = np.array([self.delta(i * step, n) for i in range(KNOTS + 1)])
        losses = _dominating(step, curve)
        first, law, dropped = _power(losses, -KNOTS, rounds)
        places = (first + np.arange(len(law))) * step
        # in any of the rounds, whatever the others lose
        unknown = (rounds * float(curve[-1]) + dropped) * max(1.0, float(losses.sum())) ** rounds

        def total(epsilon: float) -> float:
            over = places > epsilon
            known = float((law[over] * -np.expm1(epsilon - places[over])).sum())
            return (known + unknown) * (1 + 1e-12 * rounds)

        most = rounds * top
        start = (self.ratio - 1) * sqrt(2 * self.apart * rounds / n)
        sum_of_rounds = rounds * self.epsilon(n, delta / rounds)
        return min(sum_of_rounds, _least(total, delta, most, _gaussian(start, delta)))


@dataclass(frozen=True)
class Distinguisher:
    """An attack that exists: does somebody hold x or x', where all others hold a third value?

    It counts the reports that support x and not x', less those that support x' and not x, and says
    x from some difference on. Where there is no third value, half of the others hold x, or none,
    and it counts the reports that support x.

    Parameters
    ----------
    up, down
        Probabilities that the report of somebody who holds x supports only x, and only x'.
    others
        Probability that the report of one of the others supports only x; the same for x'. None
        where there is no third value.
    """

    up: float
    down: float
    others: float | None

    def delta(self, epsilon: float, n: int) -> float:
        """What the attack gains at ε among n people: no δ below it holds."""
        x = expm1(min(epsilon, 700.0))
        return self._best(n, lambda more, under: more - x * under)

    def epsilon(self, n: int, delta: float) -> float:
        """The largest ε that the attack shows at `delta`, found in one look.

        If it says x with probability a under x and b under x', then $a - e^ε b ≤ δ$ must hold.
        """
        return self._best(n, lambda more, under: np.log1p(np.maximum(more - delta, 0) / under))

    def _best(self, n: int, score: Callable[[FloatArray, FloatArray], FloatArray]) -> float:
        """The best score of a - b and b over all differences from which on the attack says x."""
        m, best, apart = n - 1, 0.0, self.up - self.down
        for centre, cumulant in self._laws(m):
            reach = 40 * float(_spread(cumulant, np.array([1e-9]))[0]) + 10
            low, high = ceil(centre) + 1.0, centre + min(m + 1, reach)
            while True:
                t = np.unique(np.round(np.linspace(low, max(low, high), 65)))
                before, _ = _point_and_tail(cumulant, t - 1 - centre)
                here, tail = _point_and_tail(cumulant, t - centre)
                if self.others is None:
                    here = np.zeros(len(t))
                more, under = apart * (before + here), tail + self.down * before - self.up * here
                # integrals are right to nine digits
                found = score(more * (1 - 1e-7), np.maximum(under, 1e-300) * (1 + 1e-7))
                at = int(np.argmax(found))
                best = max(best, float(found[at]))
                if len(t) < 65 or high - low <= 64:
                    break
                low, high = float(t[max(at - 1, 0)]), float(t[min(at + 1, len(t) - 1)])
        return best

    def _laws(self, m: int) -> list[tuple[float, Cumulant]]:
        """What the reports of m others add up to: the mean, and the law of what is off it."""
        up, down, others = self.up, self.down, self.others
        if others is not None:
            return [
                (
                    0.0,
                    lambda s: (
                        m * _log1p(np.asarray(4 * others * np.sinh(s / 2) ** 2, np.complex128))
                    ),
                )
            ]

        def of(holders: int) -> tuple[float, Cumulant]:
            def cumulant(s: ComplexArray) -> ComplexArray:
                rise = np.asarray(np.expm1(s), np.complex128)
                own, other = (_log1p(rate * rise) - rate * s for rate in (up, down))
                return np.asarray(holders * own + (m - holders) * other)

            return holders * up + (m - holders) * down, cumulant

        return [of(holders) for holders in (0, m // 2)]


def local_epsilon(
    blanket: Callable[[float], Blanket], central: float, n: int, delta: float, rounds: int = 1
) -> float:
    """The largest ε₀ found that keeps a central ε, with what is realised at that ε₀.

    Whole numbers in a protocol's design make steps, so that a smaller one need not keep it: every
    answer was itself tried.
    """
    require(0 < central < 700, "`central_epsilon`", "must be a number > 0", central)

    def keeps(local: float) -> bool:
        made = blanket(local)
        if rounds == 1:
            return made.delta(central, n) <= delta
        return made.composed(n, rounds, delta) <= central

    low, high = central / rounds * (1 - 1e-9), inf  # needs no shuffler
    while high - low > 1e-3 * low:
        middle = min(1.5 * low, HIGHEST) if high == inf else (low + high) / 2
        if keeps(middle):
            low = middle
            if low == HIGHEST:
                break
        else:
            high = middle
    return low


def require_mixed(who: str, n: object, delta: object) -> None:
    """Refuse a batch that hides nobody, and a δ that is no small share."""
    what = "must be an integer from 2 to 10¹⁵: one report is not mixed"
    require(whole(n, 2, MOST), who, what, n)
    small = isinstance(delta, float) and 0 < delta < 1
    require(small, "`delta`", "must be a number between 0 and 1", delta)


def rounded_up(number: float) -> float:
    """Three digits, the last one upwards.

    >>> rounded_up(0.12301)
    0.124
    """
    return float(Context(prec=3, rounding=ROUND_CEILING).create_decimal(number))


def _digits(number: float, *, up: bool) -> str:
    """Three digits, never to the side that claims too much."""
    if up:
        return _short(rounded_up(number * (1 - 1e-9)))  # 1.0000000000000002 is 1 to everybody
    return _short(float(Context(prec=3, rounding=ROUND_FLOOR).create_decimal(number)))


def _short(number: float) -> str:
    return f"{number:g}".replace("e-0", "e-")


def _up(ratio: Fraction | float) -> float:
    """A float that is not below."""
    return float(ratio) * (1 + 2 * ULP)


def _log1p(z: ComplexArray) -> ComplexArray:
    """NumPy's own rounds 1 + z first, which n people would notice where z is small."""
    near = np.where(np.abs(z) < 0.5, z, 0.0)
    size = 2 * near.real + near.real**2 + near.imag**2
    close = np.log1p(size) / 2 + 1j * np.arctan2(near.imag, 1 + near.real)
    return np.asarray(np.where(near == z, close, np.log(np.where(z == -1, 1e-300, 1 + z))))


def _slope(cumulant: Cumulant, s: FloatArray) -> FloatArray:
    """The mean of the sum, tilted by s."""
    return np.asarray(cumulant(np.asarray(s + 1e-30j, np.complex128)).imag / 1e-30)


def _spread(cumulant: Cumulant, s: FloatArray) -> FloatArray:
    """The standard deviation of the sum, tilted by s > 0, roughly."""
    rise = _slope(cumulant, s * 1.001) - _slope(cumulant, s)
    return np.asarray(np.sqrt(np.maximum(rise / (s * 0.001), 1e-12)))


def _point_and_tail(cumulant: Cumulant, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """P(S = t) and P(S ≥ t) by integrals through the saddle point, for t above the mean."""
    low, high = np.zeros(len(t)), np.full(len(t), 40.0)
    for _ in range(50):
        middle = (low + high) / 2
        under = _slope(cumulant, middle) < t
        low, high = np.where(under, middle, low), np.where(under, high, middle)
    spread = _spread(cumulant, np.maximum(high, 1e-9))
    saddle = np.maximum(high, np.minimum(1 / spread, 0.5))
    step = np.minimum(np.pi, 9 / spread) / POINTS
    s = saddle[:, None] + 1j * step[:, None] * np.arange(POINTS + 1)
    value = np.exp(cumulant(s) - s * t[:, None])
    value[:, [0, -1]] /= 2  # the other half of the line is the mirror image of this one
    point, tail = value.real, (value / -np.expm1(-s)).real
    return point.sum(axis=1) * step / np.pi, tail.sum(axis=1) * step / np.pi


def positive_part(values: FloatArray, weights: FloatArray, n: int) -> float:
    """E[(L₁ + … + Lₙ)₊] of independent terms with these values and weights, from above."""
    highest = float(values.max())
    if highest <= 0:
        return 0.0
    tilt = _tilt(values, weights)
    simple = n * float((weights * np.maximum(values, 0)).sum()) * (1 + 64 * ULP)
    if tilt == 0:
        return simple
    if tilt * highest > 200:
        return simple
    # s₊ ≤ exp(ts - 1)/t for every t > 0
    growth, doubt = _growth(values, weights, tilt)
    chernoff = exp(min(700.0, n * (growth + doubt) - 1 - log(tilt)))
    if chernoff < 1e-290:
        return min(simple, chernoff)
    law = _Sum(values, weights, tilt, growth, n)
    for bit in bin(n)[3:]:
        law.double()
        if bit == "1":
            law.add_one()
    found = law.positive() * exp(n * growth) * (1 + 1e-12)
    # the lattice has a little more than all the mass, and so has what it left out
    return min(simple, found + 2 * chernoff * law.lost * max(1.0, float(law.mass.sum())))


class _Sum:
    """The law of a sum of terms on a lattice, weighted by exp(tilt · sum) and then normalised.

    So weighted, the mass lies where the positive part is decided, however rare that is. All masses
    are positive and none is too small: whatever rounding may have taken is given back at once,
    because whatever one term lacks the sum of n lacks n times.
    """

    def __init__(
        self, values: FloatArray, weights: FloatArray, tilt: float, growth: float, n: int
    ) -> None:
        tilted = weights * np.exp(tilt * values - growth)
        tilted *= 1 + (8 + 4 * np.abs(tilt * values)) * ULP
        some = tilted * n > DROPPED / 64  # a jump far down can be wide and count for nothing
        self.lost = n * float(tilted[~some].sum())
        self.values, self.weights, self.tilt, self.n = values[some], tilted[some], tilt, n
        mean = float((self.weights * self.values).sum())
        self.sd = sqrt(max(float((self.weights * self.values**2).sum()) - mean**2, 1e-300))
        wide = float(np.abs(self.values).max()) / self.sd
        cells = CELLS if wide * CELLS <= WIDEST else max(FEWEST, WIDEST / wide)
        self.step, self.users = self.sd / cells, 1
        self.first, self.mass = self._one()

    def _one(self) -> tuple[int, FloatArray]:
        """One term on the lattice: each value on its two neighbours, its mean kept."""
        place = self.values / self.step
        low = np.floor(place).astype(np.int64)
        high_share = np.minimum(place - low + 4 * ULP * (np.abs(place) + 1), 1)
        first = int(low.min())
        mass = np.zeros(int(low.max()) - first + 2)
        for side, share in ((0, 1 - high_share), (1, high_share)):
            moved = np.exp(self.tilt * ((low + side) * self.step - self.values))
            np.add.at(mass, low - first + side, self.weights * share * moved)
        # as far as the two shares and how far each is moved can be off
        return first, mass * (1 + (16 + 4 * self.tilt * float(np.abs(self.values).max())) * ULP)

    def double(self) -> None:
        """Twice as many users."""
        self._set(2 * self.first, self.mass, 2 * self.users)
        coarsest = self.sd * sqrt(self.users) / CELLS
        while 2 * self.step < coarsest:
            self._coarsen()

    def add_one(self) -> None:
        """One more user."""
        first, mass = self._one()
        self._set(self.first + first, mass, self.users + 1)

    def _set(self, first: int, other: FloatArray, users: int) -> None:
        self.users = users
        mass, doubt = _convolved(self.mass, other)
        keep, lost = _window(mass, DROPPED * users / self.n / 64)
        self.lost += (lost + doubt) * self.n / users
        self.first, self.mass = first + keep.start, mass[keep]

    def _coarsen(self) -> None:
        """A lattice of twice the step: every other cell goes half and half to its neighbours."""
        mass = self.mass
        if self.first % 2:
            mass, self.first = np.concatenate(([0.0], mass)), self.first - 1
        if len(mass) % 2 == 0:
            mass = np.append(mass, 0.0)
        even, odd = mass[0::2].copy(), mass[1::2]
        even[:-1] += odd / 2 * exp(-self.tilt * self.step)
        even[1:] += odd / 2 * exp(self.tilt * self.step)
        even *= 1 + 8 * ULP
        self.first, self.mass, self.step = self.first // 2, even, 2 * self.step

    def positive(self) -> float:
        """The positive part, but for the normalising factor."""
        sums = (self.first + np.arange(len(self.mass))) * self.step
        over = sums > 0
        return float((sums[over] * np.exp(-self.tilt * sums[over]) * self.mass[over]).sum())


def _convolved(a: FloatArray, b: FloatArray) -> tuple[FloatArray, float]:
    """The law of a sum, and the mass that it may lack.

    Sums of products of positive numbers err relatively, by as much as there are terms. Where there
    are too many, by the fast transform: what it may have lost (Higham, *Accuracy and stability*,
    §24.1, with a wide margin) counts as left out.
    """
    if np.count_nonzero(a) > np.count_nonzero(b):
        a, b = b, a
    places, size = np.flatnonzero(a), len(a) + len(b) - 1
    if len(places) * len(b) <= DIRECT:
        if 16 * len(places) > len(a):
            found = np.convolve(a, b)
        else:
            found = np.zeros(size)
            for place in places:
                found[place : place + len(b)] += a[place] * b
        return found * (1 + (len(places) + 2) * ULP), 0.0
    length = 1 << (size - 1).bit_length()
    found = np.fft.irfft(np.fft.rfft(a, length) * np.fft.rfft(b, length), length)[:size]
    norm = float(np.linalg.norm(a) * np.linalg.norm(b))
    doubt = 16 * ULP * length.bit_length() * norm
    return np.where(found > doubt, found, 0.0), 2 * doubt * size


def _window(mass: FloatArray, most: float) -> tuple[slice, float]:
    """The cells to keep, and the mass of the others: at most so much."""
    low = int(np.searchsorted(np.cumsum(mass), most / 2))
    high = int(np.searchsorted(np.cumsum(mass[::-1]), most / 2))
    keep = slice(low, max(len(mass) - high, low + 1))
    return keep, float(mass[:low].sum() + mass[keep.stop :].sum()) * (1 + 1e-9)


def _tilt(values: FloatArray, weights: FloatArray) -> float:
    """The tilt that brings the mean to zero, 0 if it is not below; any other is right, too."""

    def mean(tilt: float) -> float:
        return float((weights * values * np.exp(tilt * (values - values.max()))).sum())

    if mean(0.0) >= 0:
        return 0.0
    low, high = 0.0, 1 / float(values.max())
    while mean(high) < 0:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) < 0 else (low, middle)
    return high


def _growth(values: FloatArray, weights: FloatArray, tilt: float) -> tuple[float, float]:
    """log E exp(tilt · L), and how far rounding of values and weights may have it too small."""
    rise = np.expm1(tilt * values)
    known = log1p(float((weights * rise).sum()))
    size = np.abs(rise) + np.abs(tilt * values) * np.exp(tilt * values)
    return known, 16 * ULP * float((weights * size).sum()) * exp(-min(known, 0.0))


def _least(of: Callable[[float], float], delta: float, top: float, guess: float) -> float:
    """An ε at which δ was found to be at most `delta`, nearly the least one; `top` always is."""
    goal, low, high = log(delta), 0.0, top
    at_low, at_high = inf, -inf
    here = min(max(guess, 1e-12), 0.98 * top)
    for _ in range(60):
        found = of(here)
        excess = (log(found) if found > 0 else -745.0) - goal
        if excess <= 0:
            high, at_high = here, excess
        else:
            low, at_low = here, excess
        if high - low <= 1e-4 * high:
            break
        if at_low == inf:
            here = high * (0.97 if at_high > -1 else 0.7)
        elif at_high == -inf:
            here = min(low * (1.03 if at_low < 1 else 1.3), (low + top) / 2)
        else:  # by the secant of log δ, a little to the safe side
            here = low + (high - low) * at_low / (at_low - at_high) + 3e-5 * high
            here = min(max(here, low + 0.02 * (high - low)), high - 0.02 * (high - low))
    return high


def _gaussian(mu: float, delta: float) -> float:
    """Where to start: the ε of a Gaussian mechanism with the same strength."""
    low, high = 0.0, 40 * mu + mu * mu
    for _ in range(60):
        e = (low + high) / 2
        tails = (erfc((e / mu + side * mu / 2) / sqrt(2)) / 2 for side in (-1, 1))
        above, below = tails
        enough = above - exp(min(e, 700.0)) * below <= delta
        low, high = (low, e) if enough else (e, high)
    return high


def _dominating(step: float, curve: FloatArray) -> FloatArray:
    """Probabilities of privacy losses on a lattice, whose δ(ε) is nowhere below the truth.

    The curve has δ at 0, one step, two steps and so on, or more. δ is convex in $e^ε$, so that it
    lies below the hull of points that lie above it. It is the same in both directions:
    $δ(-ε) = 1 - e^{-ε} + e^{-ε} δ(ε)$. What is left at the last knot counts as an infinite loss.
    """
    last, unknown = len(curve) - 1, float(curve[-1])
    knots = step * np.arange(-last, last + 1)
    left = -np.expm1(knots[:last]) + np.exp(knots[:last]) * curve[:0:-1]
    height = np.maximum(np.concatenate([left, curve]) - unknown, 0.0)
    x = np.exp(knots)
    hull = _convex(x, height)
    slopes = np.diff(hull) / (x[:-1] * np.expm1(step))
    # the mass under the second value at a knot is the bend there; under the first, e^loss times it
    ends = np.concatenate([[min((hull[0] - (1 - unknown)) / x[0], slopes[0])], slopes, [0.0]])
    law = np.maximum(np.diff(ends), 0.0) * x
    # what it claims at each knot, and in all, is compared with what it must
    claims = np.maximum(-np.expm1(knots[:, None] - knots), 0.0) @ law
    some = hull > 0
    short = max(float((hull[some] / claims[some]).max(initial=1.0)), (1 - unknown) / law.sum())
    return np.asarray(law * short * (1 + 1e-12))


def _convex(x: FloatArray, y: FloatArray) -> FloatArray:
    """The largest convex function below these points, at their places."""
    kept: list[int] = []
    for i in range(len(x)):
        while len(kept) > 1:
            a, b = kept[-2], kept[-1]
            if (y[b] - y[a]) * (x[i] - x[a]) < (y[i] - y[a]) * (x[b] - x[a]):
                break
            kept.pop()
        kept.append(i)
    return np.interp(x, x[kept], y[kept])


def _power(law: FloatArray, first: int, times: int) -> tuple[int, FloatArray, float]:
    """The law of a sum of so many terms on a lattice, and the mass that windows left out."""
    start, mass, dropped, users = first, law, 0.0, 1
    for bit in bin(times)[3:]:
        more: list[tuple[int, FloatArray, int]] = [(start, mass, users)]
        if bit == "1":
            more.append((first, law, 1))
        for place, other, count in more:
            mass, start, users = np.convolve(mass, other), start + place, users + count
            keep, lost = _window(mass, DROPPED * users / times / 64)
            dropped += lost * times / users
            start, mass = start + keep.start, mass[keep]
    return start, mass, dropped
