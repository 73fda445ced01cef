r"""How often an attacker who sees a person's reports guesses the person's value.

The best guess is the value of the highest posterior, ties at random. Where what a report supports
is all that it tells, $P(y \mid v) = Q(y) A$ if $y$ supports $v$, else $Q(y) B$, with $A/B$ the
oracle's `support_ratio` $r$: after reports that support $v$ in $c_v$ cases the posterior is
$\propto π_v r^{c_v}$, and how often its maximum is right is a sum where the joint law of supports
is known. Everywhere else people are simulated, and the posterior is that of `log_prob`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, expm1, log1p

import numpy as np
from scipy.special import gammaln
from scipy.stats import binom, poisson

from ldp3.arrays import BoolArray, FloatArray, IntArray
from ldp3.errors import InvalidParameter, require, whole
from ldp3.protocols.pure import PureOracle
from ldp3.randomness import stream

PEOPLE = 20_000  # who are simulated where there is no formula
WORK = 2 * 10**8  # products that a formula may take
SINGLE = 200  # reports up to which GRR's sum is quick, and all of its terms are floats
PATIENCE = 2 * 10**10  # supports that a simulation may look up


@dataclass(frozen=True)
class Inference:
    """How often the best attacker is right.

    Parameters
    ----------
    success
        Share of people whose value is guessed.
    error
        Standard error of it, 0 where it is a sum.
    ceiling
        What no protocol with this ε can let an attacker with the true prior exceed.
    blind
        Success of guessing without any report.
    as_if_independent
        Whether the sum takes all values for supported independently, where only any four are.
    """

    success: float
    error: float
    ceiling: float
    blind: float
    as_if_independent: bool = False

    @property
    def exact(self) -> bool:
        """Whether it is a sum over the true law of reports."""
        return self.error == 0 and not self.as_if_independent


def inference(
    oracle: PureOracle,
    prior: FloatArray | None = None,
    *,
    truth: FloatArray | None = None,
    reports: int = 1,
    memoised: bool = False,
    seed: int = 0,
) -> Inference:
    """The Bayes-optimal attacker against one person, after `reports` reports of the same value.

    Parameters
    ----------
    oracle
        The protocol, which must be pure.
    prior
        What the attacker believes of the frequencies beforehand; uniform if not given.
    truth
        The frequencies by which values are held; those of the prior if not given.
    reports
        How many collections the attacker sees.
    memoised
        Whether a client sends the same report again: then all of them tell as much as one.
    seed
        Of the simulation, where there is no formula.
    """
    held_by_attacker, real = _laws(oracle, prior, truth)
    require(whole(reports, 1), oracle, "`reports` must be an integer > 0", reports)
    seen = 1 if memoised else int(reports)
    success = _summed(oracle, held_by_attacker, real, seen)
    error, nearly = 0.0, oracle.nearly_independent and oracle.independence != oracle.d
    if success is None:
        success, error = _simulated(oracle, held_by_attacker, real, seen, seed)
    blind = float(real[held_by_attacker == held_by_attacker.max()].mean())
    highest = ceiling(real.max(), oracle.epsilon * seen)
    return Inference(float(success), error, highest, blind, nearly and error == 0)


def says_law(oracle: PureOracle) -> bool:
    """Whether the oracle says how likely its reports are: else the best guess is not known."""
    nobody = oracle.perturb(np.zeros(0, dtype=np.int64), stream(0))
    return oracle.log_prob(nobody, 0) is not None


def summed_success(oracle: PureOracle, reports: int) -> float | None:
    """Success where every value is as likely as any other; None where only a simulation tells.

    >>> from ldp3 import oracle
    >>> round(summed_success(oracle("grr", 1.0, 4), 1), 4)
    0.4754
    """
    uniform = np.full(oracle.d, 1 / oracle.d)
    return _summed(oracle, uniform, uniform, reports)


def ceiling(most: float, budget: float) -> float:
    r"""No ε-private reports let anybody guess better: $e^ε π_1 / (1 + (e^ε - 1) π_1)$.

    >>> round(ceiling(0.5, 1.0), 4)
    0.7311
    """
    if budget > 700:
        return 1.0
    return exp(budget) * most / (1 + expm1(budget) * most)


def _laws(
    oracle: PureOracle, prior: FloatArray | None, truth: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    if not isinstance(oracle, PureOracle):
        raise InvalidParameter(
            f"{type(oracle).__name__}: inference needs reports that support values."
        )
    uniform = np.full(oracle.d, 1 / oracle.d)
    believed = uniform if prior is None else np.maximum(np.asarray(prior, dtype=np.float64), 0)
    real = believed if truth is None else np.asarray(truth, dtype=np.float64)
    for law in (believed, real):
        fits = law.shape == (oracle.d,) and np.isfinite(law).all() and law.sum() > 0
        require(
            bool(fits), oracle, f"a prior is {oracle.d} numbers that sum to more than 0", law.shape
        )
    return believed / believed.sum(), real / real.sum()


def _summed(oracle: PureOracle, prior: FloatArray, truth: FloatArray, n: int) -> float | None:
    if oracle.support_ratio is None:
        return None
    independent, fixed = oracle.nearly_independent, oracle.support_size is not None
    if n == 1 and (independent or (fixed and oracle.exchangeable)):
        return _one_report(oracle, prior, truth, independent)
    if n > 1 and independent and len(np.unique(prior)) ** 2 * (n + 1) <= WORK:
        return _many_independent(oracle, prior, truth, n)
    if 1 < n <= SINGLE and oracle.support_size == 1 and np.ptp(prior) == 0:
        return _many_single(oracle, n)
    return None


def _more_likely(oracle: PureOracle) -> float:
    """By how much the ratio of a report's likelihoods is above one."""
    assert oracle.support_ratio is not None
    return float(oracle.support_ratio - 1)


def _one_report(
    oracle: PureOracle, prior: FloatArray, truth: FloatArray, independent: bool
) -> float:
    r"""$\sum_i w_i \max(Aπ_i, Bπ_1) + w_\emptyset Bπ_1$, values in the order of the prior.

    $w_i$ is the probability, under $Q$, that $i$ is the first value that the report supports.
    """
    d, p, q = oracle.d, oracle.p, oracle.q
    order = np.argsort(-prior, kind="stable")
    believed, real = prior[order], _averaged(prior, truth)[order]
    ranks = np.arange(1, d + 1)
    if independent:
        first, none = q * np.exp((ranks - 1) * np.log1p(-q)), np.exp(d * np.log1p(-q))
        a, b = p / q, (1 - p) / (1 - q)
    else:
        k = oracle.support_size or 1
        first, none = np.exp(_log_choose(d - ranks.astype(float), k - 1) - _log_choose(d, k)), 0.0
        a, b = p * d / k, (1 - p) * d / (d - k)
    takes = believed * (1 + _more_likely(oracle)) >= believed[0]
    return float(first @ np.where(takes, a * real, b * real[0]) + none * b * real[0])


def _averaged(prior: FloatArray, truth: FloatArray) -> FloatArray:
    """The truth, averaged over values that the attacker cannot tell apart: ties are random."""
    _, group = np.unique(prior, return_inverse=True)
    return (np.bincount(group, truth) / np.bincount(group))[group]


def _log_choose(n: FloatArray | int, k: int) -> FloatArray:
    n = np.asarray(n, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        return np.where(
            n >= k, gammaln(n + 1) - gammaln(k + 1) - gammaln(np.maximum(n - k, 0) + 1), -np.inf
        )


def _many_independent(oracle: PureOracle, prior: FloatArray, truth: FloatArray, n: int) -> float:
    r"""$\sum_v π_v \sum_c b_p(c) \prod_{u \ne v} F_q(\cdot)$: the own count beats all others.

    Among values of one prior ties are random, which is
    $(F_q(c)^G - F_q(c-1)^G) / (G\,b_q(c))$ for a group of $G$ of them.
    """
    levels, group, sizes = np.unique(prior, return_inverse=True, return_counts=True)
    held = np.bincount(group, truth)
    counts = np.arange(n + 1)
    own, density = binom.pmf(counts, n, oracle.p), binom.pmf(counts, n, oracle.q)
    below = np.concatenate([[0.0], binom.cdf(counts, n, oracle.q)])  # index c: P(count < c)
    total, weight = 0.0, log1p(_more_likely(oracle))
    for g in np.flatnonzero((levels > 0) & (held > 0)):
        with np.errstate(divide="ignore"):
            lead = counts[:, None] + np.log(levels[g] / np.maximum(levels, 1e-300)) / weight
            rivals = np.where(levels > 0, np.clip(np.ceil(lead), 0, n + 1), n + 1).astype(np.int64)
            logs = sizes * np.log(below[rivals])
        logs[:, g] = 0.0
        beaten = np.exp(logs.sum(axis=1))
        size = sizes[g]
        ties = (below[1:] ** size - below[:-1] ** size) / (size * np.maximum(density, 1e-300))
        total += held[g] * float(own @ (beaten * ties))
    return total


def _many_single(oracle: PureOracle, n: int) -> float:
    r"""GRR, uniform prior: $\frac{n!}{d} \sum_c e^{εc} [x^n] (e_c(x)^d - e_{c-1}(x)^d)$.

    $e_c(x) = \sum_{j \le c} (qx)^j/j!$ counts the ways to report no value more than c times.
    """
    # as probabilities that no value is reported more than c times, were all equally likely: the
    # factorial of n alone is no float from n = 171 on
    orders, mean = np.arange(n + 1), n / oracle.d
    terms = poisson.pmf(orders, mean)
    most = [0.0] + [_power(np.where(orders <= c, terms, 0.0), oracle.d)[n] for c in range(n + 1)]
    weights = np.exp(orders * np.log(oracle.p / oracle.q) + n * np.log(oracle.d * oracle.q))
    return float(np.diff(most) @ weights / (poisson.pmf(n, n) * oracle.d))


def _power(series: FloatArray, exponent: int) -> FloatArray:
    """A power series to a whole power, all terms positive: nothing cancels."""
    power, square, size = np.eye(1, len(series))[0], series, len(series)
    while exponent:
        if exponent & 1:
            power = np.convolve(power, square)[:size]
        square = np.convolve(square, square)[:size]
        exponent >>= 1
    return power


def _simulated(
    oracle: PureOracle, prior: FloatArray, truth: FloatArray, n: int, seed: int
) -> tuple[float, float]:
    """Share of simulated people whose value has the highest posterior, and its standard error."""
    if not says_law(oracle):
        raise InvalidParameter(
            f"{type(oracle).__name__} does not say how likely its reports are (`log_prob`): how "
            f"often the best attacker is right cannot be told."
        )
    most = max(1, PATIENCE // (PEOPLE * oracle.d))
    require(n <= most, oracle, f"`reports` that only a simulation tells must be at most {most}", n)
    rng = stream(seed, "inference", type(oracle).__name__, oracle.epsilon.hex(), oracle.d, n)
    right, batch = 0, max(1, min(PEOPLE, 10**7 // oracle.d))
    for begin in range(0, PEOPLE, batch):
        values = rng.choice(oracle.d, size=min(batch, PEOPLE - begin), p=truth)
        *_, last = _guesses(oracle, prior, values, n, rng)
        right += int(last.sum())
    return _share(right, PEOPLE)


def simulated_successes(
    oracle: PureOracle, reports: Sequence[int], people: int
) -> dict[int, tuple[float, float]]:
    """Success after each number of reports where every value is as likely, and its error.

    The same people are guessed again and again as their reports come in. Nothing is said of an
    oracle that does not say how likely its reports are.
    """
    if not says_law(oracle):
        return {}
    rng = stream(0, "successes", type(oracle).__name__, oracle.epsilon.hex(), oracle.d)
    values, uniform = rng.integers(oracle.d, size=people), np.full(oracle.d, 1 / oracle.d)
    guessed = enumerate(_guesses(oracle, uniform, values, max(reports), rng), start=1)
    return {seen: _share(int(right.sum()), people) for seen, right in guessed if seen in reports}


def _guesses(
    oracle: PureOracle, prior: FloatArray, values: IntArray, n: int, rng: np.random.Generator
) -> Iterator[BoolArray]:
    """Whose value has the highest posterior, ties at random, after each of n reports."""
    with np.errstate(divide="ignore"):
        score = np.broadcast_to(np.log(prior), (len(values), oracle.d)).copy()
    for _ in range(n):
        seen = oracle.perturb(values, rng)
        for v in range(oracle.d):
            score[:, v] += oracle.log_prob(seen, v)
        best = score >= score.max(axis=1, keepdims=True) - 1e-9
        chance = best[np.arange(len(values)), values] / best.sum(axis=1)
        yield rng.random(len(values)) < chance


def _share(right: int, people: int) -> tuple[float, float]:
    share = right / people
    return share, float(np.sqrt(max(share * (1 - share), 1 / people) / people))
