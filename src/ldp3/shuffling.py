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
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from functools import partial
from math import ceil, copysign, erfc, exp, expm1, inf, log, log1p, sqrt
from typing import Self

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.errors import as_python, require, whole

ULP = 2.0**-52
CELLS = 32  # of the lattice in one standard deviation of a sum
WIDEST = 2_000  # cells in the widest jump, where jumps are rare and wide
DROPPED = 1e-12  # of the mass, that windows leave out in all; it is added again at its worst
DIRECT = 2**22  # products of a convolution up to which it is summed directly
POINTS = 64  # of an integral, on one side of the real line
HIGHEST, LEAST = 16.0, 1e-12  # local and central ε that are looked for
MOST_MIXED = 10**15  # reports that are mixed
KNOTS = 48  # of the curve δ(ε) that rounds are composed from


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
        cls, blanket: "Blanket", attacks: "list[Distinguisher]", n: int, delta: float, rounds: int
    ) -> Self:
        """Both bounds; without an attack that is known, the lower one is 0."""
        n, rounds = as_python(n), as_python(rounds)
        require_mixed("`n`", n, delta)
        require(whole(rounds, 1, 10**6), "`rounds`", "must be an integer from 1 to 10⁶", rounds)
        local = log(blanket.ratio)
        upper = min(blanket.epsilon(n, delta, rounds), rounds * local)
        lower = max((attack.epsilon(n, delta) for attack in attacks), default=0.0)
        return cls(upper, min(lower, upper), local, delta, n, rounds)

    def __str__(self) -> str:
        """What people are told: what holds without any trust comes first."""
        locally, each, in_all = "Locally", "", self.rounds * self.local
        if self.rounds > 1:
            locally = f"{self.rounds} collections from the same people: locally"
            each = " each time"
        bound = "no smaller central ε can be shown."
        if self.epsilon < in_all:
            least = _short(three_digits(self.lower, ROUND_FLOOR))
            shown = f" (an attack shows {least})" if self.lower else ""
            central = _short(three_digits(self.epsilon))
            bound = f"central ε ≤ {central} at δ = {_short(self.delta)}{shown}."
        if self.delta * self.n >= 1:
            bound += " This δ is not below 1/n: it allows that everything is told of somebody."
        return (
            f"{locally} ε = {_short(three_digits(in_all))}, whoever looks. If a shuffler that you "
            f"trust mixes at least {self.n:,} honest reports{each}: {bound}"
        )

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
        top = float(ratio) * (1 + 2 * ULP)
        return cls(top, 1 / (top + 1) * (1 + 4 * ULP))

    @classmethod
    def of_supports(cls, ratio: Fraction, p: float, q: float) -> Self:
        """Of an oracle whose reports have two levels, by its support probabilities."""
        top = float(ratio) * (1 + 2 * ULP)
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

    def epsilon(self, n: int, delta: float, rounds: int = 1) -> float:
        """The least central ε found at which δ is at most `delta`, after independent rounds."""
        curve, top = self.curve(n, delta, rounds), rounds * log(self.ratio) * (1 + 2 * ULP)
        guess = self.shadow(n, delta, rounds)
        return _edge(lambda e: curve(e) <= delta, top, LEAST, guess, 1e-4)

    def curve(self, n: int, delta: float, rounds: int) -> Callable[[float], float]:
        """An upper bound of δ by central ε after independent rounds, near `delta` at its best."""
        return partial(self.delta, n=n) if rounds == 1 else self._composed(n, delta, rounds)

    def shadow(self, n: int, delta: float, rounds: int = 1) -> float:
        """The ε of a Gaussian mechanism as strong as many reports: no bound, but near it."""
        mu = (self.ratio - 1) * sqrt(2 * self.apart * rounds / n)

        def told(epsilon: float) -> float:
            above, below = (erfc((epsilon / mu + side * mu / 2) / sqrt(2)) for side in (-1, 1))
            return (above - exp(min(epsilon, 700.0)) * below) / 2

        return _edge(lambda e: told(e) <= delta, 40 * mu + mu * mu, LEAST, mu, 1e-3)

    def _composed(self, n: int, delta: float, rounds: int) -> Callable[[float], float]:
        """δ by ε after several rounds, from above: a law of privacy losses, added up.

        δ is convex in $e^ε$, so it lies below the lines that join points on or above it. Such a
        curve is that of losses at these points only, as likely under x as the lines bend there.
        Rounding may bend them inwards: such a bend is left out, which raises the curve. Both values
        are alike: a loss of -l under x is a loss of l under x'.
        """
        top, tiny = log(self.ratio), min(delta, 1e-6) * 1e-4 / rounds
        last = min(top, self.shadow(n, tiny))
        while last < top and self.delta(last, n) > tiny:
            last = min(top, 1.1 * last)
        step = last / KNOTS
        curve = np.array([self.delta(i * step, n) for i in range(KNOTS + 1)])
        unknown = float(curve[-1])  # beyond the last point nothing is known: as if all were told
        x = np.expm1(step * np.arange(KNOTS + 1))
        slopes = np.diff(curve) / np.diff(x)
        other = np.maximum(np.diff(slopes, append=0.0), 0.0) * (1 + 1e-11)
        own = other * (1 + x[1:])
        rest = max(0.0, 1 - float(own.sum() + other.sum()))
        law = np.concatenate([other[::-1], [rest], own]) * (1 + 4 * ULP)
        one = total = _Law(step, -KNOTS, law)
        for bit in bin(rounds)[3:]:
            total = total.plus(total, rounds)
            if bit == "1":
                total = total.plus(one, rounds)
        doubt = (rounds * unknown + total.lost) * max(1.0, float(law.sum())) ** rounds

        def composed(epsilon: float) -> float:
            known = float((total.mass * np.maximum(-np.expm1(epsilon - total.places), 0)).sum())
            return (known + doubt) * (1 + 1e-12 * rounds)

        return composed


@dataclass(frozen=True)
class Distinguisher:
    """An attack that exists: does somebody hold x or x', where all others hold a third value?

    It counts the reports that support x and not x', less those that support x' and not x, and says
    x from some difference on. Where there is no third value, all others hold the same one of the
    two, and it counts the reports that support x.

    Parameters
    ----------
    up, down
        Probabilities that the report of somebody who holds x, and who holds x', adds one. Where
        reports may take one away, that of the other does so as often.
    plus, minus
        Probabilities that the report of one of the others adds one, and takes one away.
    """

    up: float
    down: float
    plus: float
    minus: float

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
        m, best = n - 1, 0.0
        mean, spread = m * (self.plus - self.minus), sqrt(m * (self.plus + self.minus))
        low, high = ceil(mean) + 1.0, min(mean + 40 * spread + 10, m + 1.0)
        while True:
            t = np.unique(np.round(np.linspace(low, max(low, high), 65)))
            (before, _), (here, _), (_, above) = (self._at_least(t + i, m) for i in (-1, 0, 1))
            taken = here * (self.minus > 0)
            more = (self.up - self.down) * (before + taken)
            under = above + self.down * before + (here - self.up * taken)
            # integrals are right to nine digits
            found = score(more * (1 - 1e-7), np.maximum(under, 1e-300) * (1 + 1e-7))
            at = int(np.argmax(found))
            best = max(best, float(found[at]))
            if high - low <= 64:
                return best
            low, high = float(t[max(at - 1, 0)]), float(t[min(at + 1, len(t) - 1)])

    def _at_least(self, t: FloatArray, m: int) -> tuple[FloatArray, FloatArray]:
        """P(S = t) and P(S ≥ t) of the sum over m others, for t from its mean on.

        By integrals through the saddle point: the tilt $u = e^s$ that brings the mean to t.
        """
        from scipy.special import log1p  # NumPy's rounds 1 + z first, which n people would notice

        plus, minus = self.plus, self.minus
        rest, left = 1 - plus - minus, np.maximum(m - t, 1e-9)
        u = t * rest + np.sqrt((t * rest) ** 2 + 4 * left * (m + t) * plus * minus)
        u = np.clip(u / (2 * left * plus), 1.0, exp(40))
        share = (plus * u + minus / u) / (rest + plus * u + minus / u)
        spread = np.sqrt(np.maximum(m * (share - (t / m) ** 2), 1e-12))
        saddle = np.maximum(np.log(u), np.minimum(1 / spread, 0.5))
        step = np.minimum(np.pi, 9 / spread) / POINTS
        s = saddle[:, None] + 1j * step[:, None] * np.arange(POINTS + 1)
        value = np.exp(m * log1p(plus * np.expm1(s) + minus * np.expm1(-s)) - s * t[:, None])
        value[:, [0, -1]] /= 2  # the other half of the line is the mirror image of this one
        value[t > m] = 0
        point, tail = value.real, (value / -np.expm1(-s)).real
        return point.sum(axis=1) * step / np.pi, tail.sum(axis=1) * step / np.pi


def local_epsilon(
    blanket: Callable[[float], Blanket | None], central: float, n: int, delta: float, rounds: int
) -> float:
    """The largest ε₀ found that keeps a central ε, with what is realised at that ε₀, if anything.

    Whole numbers in a protocol's design make steps, so that a smaller one need not keep it: every
    answer was itself tried.
    """
    require(0 < central < 700, "`central_epsilon`", "must be a number > 0", central)

    def near(local: float) -> bool:
        made = blanket(local)
        return made is not None and made.shadow(n, delta, rounds) <= central

    def keeps(local: float) -> bool:
        made = blanket(local)
        return made is not None and made.curve(n, delta, rounds)(central) <= delta

    alone = central / rounds * (1 - 1e-9)  # needs no shuffler
    highest = max(HIGHEST, alone)
    guess = _edge(near, alone, highest, 2 * alone, 1e-3)
    return _edge(keeps, alone, highest, guess, 1e-3)


def _edge(
    good: Callable[[float], bool], best: float, worst: float, guess: float, close: float
) -> float:
    """As near to `worst` as was found good, relatively; `best` is, and every other was tried."""
    here, step = min(max(guess, min(best, worst)), max(best, worst)), 0.01
    found: set[bool] = set()
    while abs(log(best / worst)) > close:
        fine = good(here)
        best, worst = (here, worst) if fine else (best, here)
        found.add(fine)
        way = log((worst if fine else best) / here)
        step = inf if len(found) == 2 else 4 * step  # both sides are known: half of the way
        here *= exp(copysign(min(step, abs(way) / 2), way))
    return best


def require_mixed(who: str, n: object, delta: object) -> None:
    """Refuse a batch that hides nobody, and a δ that is no small share."""
    what = "must be an integer from 2 to 10¹⁵: one report is not mixed"
    require(whole(n, 2, MOST_MIXED), who, what, n)
    small = isinstance(delta, float) and 0 < delta < 1
    require(small, "`delta`", "must be a number between 0 and 1", delta)


def three_digits(number: float, rounding: str = ROUND_CEILING) -> float:
    """So that people can read it: upwards, if it is a claim; 1.0000000000000002 is 1 to all."""
    return float(Context(prec=3, rounding=rounding).create_decimal(f"{number:.12g}"))


def _short(number: float) -> str:
    return f"{number:g}".replace("e-0", "e-")


def positive_part(values: FloatArray, weights: FloatArray, n: int) -> float:
    """E[(L₁ + … + Lₙ)₊] of independent terms with these values and weights, from above."""
    highest = float(values.max())
    if highest <= 0:
        return 0.0
    simple = n * float((weights * np.maximum(values, 0)).sum()) * (1 + 64 * ULP)
    spread = sqrt(n * float((weights * values**2).sum()))
    tilt = _tilt(values, weights, min(0.5 / spread, 1 / highest))
    if tilt * highest > 200:
        return simple
    # s₊ ≤ exp(ts - 1)/t for every t > 0
    growth, doubt = _growth(values, weights, tilt)
    chernoff = exp(min(700.0, n * (growth + doubt) - 1 - log(tilt)))
    if chernoff < 1e-290:
        return min(simple, chernoff)
    # weighted by exp(tilt · sum), the mass lies where the positive part is decided, however rare
    tilted = weights * np.exp(tilt * values - growth)
    tilted *= 1 + (8 + 4 * np.abs(tilt * values)) * ULP
    # a jump far down can be wide and count for nothing
    some = (values > 0) | (tilted * n > DROPPED / 64)
    terms, dropped = (values[some], tilted[some], tilt), n * float(tilted[~some].sum())
    spread = sqrt(float((tilted[some] * values[some] ** 2).sum()))
    wide = float(np.abs(values[some]).max()) / spread
    law = _on_lattice(*terms, spread / min(CELLS, WIDEST / wide))
    for bit in bin(n)[3:]:
        law = law.plus(law, n)
        while 2 * law.step < spread * sqrt(law.users) / CELLS:
            law = law.coarser(tilt)
        if bit == "1":
            law = law.plus(_on_lattice(*terms, law.step), n)
    sums = np.maximum(law.places, 0)
    found = float((sums * np.exp(-tilt * sums) * law.mass).sum()) * exp(n * growth) * (1 + 1e-12)
    # the lattice has a little more than all the mass, and so has what it left out
    lost = 2 * (law.lost + dropped) * max(1.0, float(law.mass.sum()))
    return min(simple, found + chernoff * lost)


def _on_lattice(values: FloatArray, weights: FloatArray, tilt: float, step: float) -> "_Law":
    """One term on a lattice: each value on its two neighbours, its mean without the tilt kept."""
    place = values / step
    low = np.floor(place).astype(np.int64)
    high_share = np.minimum(place - low + 4 * ULP * (np.abs(place) + 1), 1)
    first = int(low.min())
    mass = np.zeros(int(low.max()) - first + 2)
    for side, share in ((0, 1 - high_share), (1, high_share)):
        moved = np.exp(tilt * ((low + side) * step - values))
        np.add.at(mass, low - first + side, weights * share * moved)
    # as far as the two shares and how far each is moved can be off
    return _Law(step, first, mass * (1 + (16 + 4 * tilt * float(np.abs(values).max())) * ULP))


@dataclass(frozen=True)
class _Law:
    """The law of a sum over some users on a lattice; `lost` is the mass that it may lack.

    All masses are positive and none is too small: whatever rounding may have taken is given back at
    once, because whatever one term lacks the sum of n lacks n times.
    """

    step: float
    first: int
    mass: FloatArray
    users: int = 1
    lost: float = 0.0

    @property
    def places(self) -> FloatArray:
        """Where the masses lie."""
        return self.step * np.arange(self.first, self.first + len(self.mass), dtype=np.float64)

    def plus(self, other: "_Law", n: int) -> "_Law":
        """The sum of both, without the ends that matter to none of n users."""
        users, (mass, doubt) = self.users + other.users, _convolved(self.mass, other.mass)
        most = DROPPED * users / n / 128  # at each end
        low = int(np.searchsorted(np.cumsum(mass), most))
        high = max(len(mass) - int(np.searchsorted(np.cumsum(mass[::-1]), most)), low + 1)
        cut = float(mass[:low].sum() + mass[high:].sum()) * (1 + 1e-9)
        lost = self.lost + other.lost + cut + doubt
        return _Law(self.step, self.first + other.first + low, mass[low:high], users, lost)

    def coarser(self, tilt: float) -> "_Law":
        """On twice the step: every other cell goes half and half to its neighbours."""
        odd = self.first % 2
        mass = np.pad(self.mass, (odd, (odd + len(self.mass) + 1) % 2))
        even, between = mass[0::2].copy(), mass[1::2] / 2
        even[:-1] += between * exp(-tilt * self.step)
        even[1:] += between * exp(tilt * self.step)
        first = (self.first - odd) // 2
        return replace(self, step=2 * self.step, first=first, mass=even * (1 + 8 * ULP))


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


def _tilt(values: FloatArray, weights: FloatArray, least: float) -> float:
    """The tilt that brings the mean to zero, or the least one; any other is right, too."""

    def mean(tilt: float) -> float:
        return float((weights * values * np.exp(tilt * (values - values.max()))).sum())

    most = 1 / float(values.max())
    while mean(most) < 0:
        most *= 2
    return _edge(lambda tilt: mean(tilt) >= 0, most, least, most / 2, 1e-6)


def _growth(values: FloatArray, weights: FloatArray, tilt: float) -> tuple[float, float]:
    """log E exp(tilt · L), and how far rounding of values and weights may have it too small."""
    rise = np.expm1(tilt * values)
    known = log1p(float((weights * rise).sum()))
    size = np.abs(rise) + np.abs(tilt * values) * np.exp(tilt * values)
    return known, 16 * ULP * float((weights * size).sum()) * exp(-min(known, 0.0))
