"""Maximal gain attack."""

from dataclasses import dataclass
from typing import ClassVar, Literal, final, get_args

import numpy as np

from ldp3.arrays import FloatArray, IntArray, Reports
from ldp3.attacks import crafting
from ldp3.attacks.base import Attack
from ldp3.attacks.crafting import family
from ldp3.errors import require, whole
from ldp3.kernels.bits import random_subsets
from ldp3.kernels.sampling import subset_counts
from ldp3.kernels.source import key_of
from ldp3.protocols.pure import PureOracle
from ldp3.types import Tally

Padding = Literal["none", "fixed", "law"]


@final
@dataclass(frozen=True, eq=False)
class MGA(Attack):
    r"""Send the report that supports most targets: the largest gain there is.

    With $h$ the number of targets that a fake report supports,

    $$G = β\left[\frac{E[h] - rq}{p - q} - f_T\right].$$

    GRR: $h = 1$; unary encodings: $r$; subset selection: $\min(r, k)$; local hashing: the best of
    `effort` seeds that each fake user tries; any other pure protocol: the best report that a search
    finds.

    Parameters
    ----------
    padding
        What else a unary report supports, so as not to be conspicuous: ``none``; random other
        values up to the ``fixed`` size that is expected of honest reports; or a size drawn from
        the ``law`` of honest reports.
    per_report
        How many of the targets each fake report is about, chosen at random; 0 for all.
    effort
        How many seeds or reports a fake user looks through where it must search.

    References
    ----------
    Cao, Jia, Gong. *Data poisoning attacks to local differential privacy protocols.* USENIX
    Security 2021, §4; Li, Li, Wang, Sun. *Mitigating data poisoning attacks to local differential
    privacy.* CCS 2025 (the law of sizes).
    """

    aliases: ClassVar[tuple[str, ...]] = ("maximal gain attack",)

    padding: Padding = "fixed"
    per_report: int = 0
    effort: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        r = len(self.targets)
        allowed = get_args(Padding)
        require(self.padding in allowed, self, f"padding is one of {allowed}", self.padding)
        few = whole(self.per_report, 0, r)
        require(few, self, f"per_report must be an integer in 0..{r}", self.per_report)
        require(whole(self.effort, 1), self, "effort must be an integer > 0", self.effort)

    @property
    def about(self) -> int:
        """How many targets one report is about."""
        return self.per_report or len(self.targets)

    def reports(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Reports:
        targets = np.array(self.targets)
        match family(oracle):
            case "one":
                return crafting.crafted_for(oracle, rng.choice(targets, size=m))
            case "free":
                return self._sets(oracle, m, self._drawn_padding(oracle, m, rng), self.about, rng)
            case "subset":
                wanted = self._members(oracle)
                size = oracle.support_size or 0
                return self._sets(oracle, m, np.full(m, size - wanted), wanted, rng)
            case "hash":
                return self._hashed(oracle, m, rng)
        if self.about == len(targets):
            return crafting.best_reports(oracle, targets, m, self.effort, rng)
        each = [rng.choice(targets, size=self.about, replace=False) for _ in range(m)]
        found = [crafting.best_reports(oracle, some, 1, self.effort, rng) for some in each]
        return np.concatenate([oracle.perturb(targets[:0], rng), *found])

    def tally(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Tally:
        d, targets, others = oracle.d, np.array(self.targets), self._others(oracle.d)
        counts = np.zeros(d, dtype=np.int64)
        match family(oracle):
            case "one":
                counts[targets] = rng.multinomial(m, np.full(len(targets), 1 / len(targets)))
                return Tally(counts, m)
            case "free":
                counts[targets] = named(len(targets), self.about, m, rng)
                for size, users in self._padding_sizes(oracle, m, rng):
                    counts[others] += named(len(others), size, users, rng)
                return Tally(counts, m)
            case "subset":
                wanted = self._members(oracle)
                size = (oracle.support_size or 0) - wanted
                counts[targets] = named(len(targets), wanted, m, rng)
                counts[others] = named(len(others), size, m, rng)
                return Tally(counts, m)
            case "hash":
                return self._hashed_tally(oracle, m, rng)
        if crafting.listed(oracle) and self.about == len(targets):
            best = crafting.few_best(oracle, targets, rng)
            times = rng.multinomial(m, np.full(len(best), 1 / len(best)))
            return crafting.repeated(oracle, best, times)
        return super().tally(oracle, m, rng)

    def rates(self, oracle: PureOracle) -> FloatArray | None:
        r, others = len(self.targets), oracle.d - len(self.targets)
        match family(oracle):
            case "one":
                own, other = 1 / r, 0.0
            case "free":
                own, other = self.about / r, self._mean_padding(oracle) / max(others, 1)
            case "subset":
                wanted = self._members(oracle)
                own, other = wanted / r, ((oracle.support_size or 0) - wanted) / max(others, 1)
            case "hash":
                own, other = float(self._hits(oracle) @ np.arange(r + 1)) / r, oracle.q
            case _:
                if not crafting.listed(oracle) or self.about != r:
                    return None
                best = crafting.all_best(oracle, np.array(self.targets))
                return crafting.rates_of(oracle, best)
        rates = np.full(oracle.d, other)
        rates[list(self.targets)] = own
        return rates

    def _others(self, d: int) -> IntArray:
        return np.setdiff1d(np.arange(d), self.targets)

    def _members(self, oracle: PureOracle) -> int:
        """How many targets a set of fixed size holds: more than asked for, if all else is used."""
        size, others = oracle.support_size or 0, oracle.d - len(self.targets)
        return max(min(self.about, size), size - others)

    def _sets(self, oracle: PureOracle, m: int, padding: IntArray, wanted: int,
              rng: np.random.Generator) -> Reports:  # fmt: skip
        members = random_subsets(m, np.array(self.targets), wanted, oracle.d, rng)
        padded = random_subsets(m, self._others(oracle.d), padding, oracle.d, rng)
        return crafting.crafted(oracle, members | padded)

    # the sizes of unary reports

    def _drawn_padding(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> IntArray:
        sizes = [np.full(users, size) for size, users in self._padding_sizes(oracle, m, rng)]
        return rng.permutation(np.concatenate([np.zeros(0, dtype=np.int64), *sizes]))

    def _padding_sizes(
        self, oracle: PureOracle, m: int, rng: np.random.Generator
    ) -> list[tuple[int, int]]:
        """How many other values, and how many fake users add so many."""
        law = self._padding_law(oracle)
        users = rng.multinomial(m, law)
        return [(int(size), int(users[size])) for size in np.flatnonzero(users)]

    def _padding_law(self, oracle: PureOracle) -> FloatArray:
        """Probability of each number of other values that a fake report supports."""
        d, most = oracle.d, oracle.d - len(self.targets)
        if self.padding == "none":
            honest = np.eye(1, d + 1)[0]
        elif self.padding == "fixed":
            honest = np.eye(1, d + 1, int(oracle.p + (d - 1) * oracle.q))[0]
        else:
            from scipy.stats import binom  # slow to import: `ldp3 list` need not wait for it

            rest = binom.pmf(np.arange(d), d - 1, oracle.q)
            honest = np.convolve(rest, [1 - oracle.p, oracle.p])
        added = np.clip(np.arange(d + 1) - self.about, 0, most)
        law = np.bincount(added, honest, minlength=most + 1)
        return law / law.sum()

    def _mean_padding(self, oracle: PureOracle) -> float:
        law = self._padding_law(oracle)
        return float(law @ np.arange(len(law)))

    # local hashing

    def _hashed(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Reports:
        targets, found = np.array(self.targets), [crafting.random_reports(oracle, 0, rng)]
        for _ in range(m):
            some = rng.choice(targets, size=self.about, replace=False)
            nonces = np.repeat(crafting.random_nonces(oracle, self.effort, rng), len(some))
            answers = crafting.crafted_with(oracle, nonces, np.tile(some, self.effort))
            found.append(_fullest(oracle, answers.reshape(self.effort, len(some))))
        return np.concatenate(found)

    def _hashed_tally(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Tally:
        targets = np.array(self.targets)
        counts = rng.binomial(m, oracle.q, size=oracle.d)
        counts[targets] = 0
        users = rng.multinomial(m, self._hits(oracle))
        for found in np.flatnonzero(users):
            counts[targets] += named(len(targets), int(found), int(users[found]), rng)
        return Tally(counts, m)

    def _hits(self, oracle: PureOracle) -> FloatArray:
        """Law of the number of targets in the cell: those it is about, and others by chance."""
        from scipy.stats import binom

        found = crafting.best_of(self.effort, self.about, crafting.cells(oracle))
        rest = len(self.targets) - self.about
        law = np.convolve(found, binom.pmf(np.arange(rest + 1), rest, oracle.q))
        return law / law.sum()


def named(values: int, size: int, users: int, rng: np.random.Generator) -> IntArray:
    """How often each of `values` is in the uniform subsets of `size` that `users` choose."""
    if size == 0 or users == 0 or values == 0:
        return np.zeros(values, dtype=np.int64)
    if size >= values:
        return np.full(values, users, dtype=np.int64)
    return subset_counts(np.zeros(values, dtype=np.int64), users, size, key_of(rng))


def _fullest(oracle: PureOracle, answers: Reports) -> Reports:
    """The report that answers for most targets, given each nonce's answer for each of them."""
    assert oracle.nonce is not None
    told = [answers[name] for name in answers.dtype.names or () if name != oracle.nonce[0]]
    same = np.logical_and.reduce([field[:, :, None] == field[:, None, :] for field in told])
    best = np.argmax(same.sum(axis=2))
    return answers.reshape(-1)[best : best + 1]
