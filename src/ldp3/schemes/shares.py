r"""Which groups of attributes to ask, and how many people each; and what no mechanism can beat.

With $x = e^ε$; $D_S$ the number of cells of the attributes $S$; $r_T = \prod_{j \in T} (d_j - 1)$
the dimension of an interaction; $w_S$ the weight of table $S$ in the loss
$\sum_S w_S \sum_{\text{cells}} \mathrm{Var}$; $π_G$ the share of people in group $G$ and $ρ_G$ the
information of one of its reports on every direction of every interaction $T \subseteq G$:

$$μ_T = \sum_{S \supseteq T} \frac{w_S}{D_S}, \qquad I_T = \sum_{G \supseteq T} π_G ρ_G, \qquad
  n \cdot \mathrm{loss}(π) = \sum_{T \ne \emptyset} \frac{r_T μ_T}{I_T},$$

which is convex in $π$, for people who are drawn from a population that is spread evenly.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import ceil, comb, exp, prod, sinh

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.errors import InvalidParameter
from ldp3.protocols.grr import GRR
from ldp3.protocols.pgr import PGR
from ldp3.protocols.pure import PureOracle
from ldp3.protocols.subset_selection import SS
from ldp3.tables import Attributes, parts

MOST_CELLS = 2**20  # of a group
MOST_ENTRIES = 2**23  # of the table of who tells what, for groups that nobody has to ask
MOST_SOLVED = 2**24  # of the same, for a plan in half a minute and half a gigabyte
MOST_PARTS = 2**20  # of the wanted tables, each with its own interactions
LONGEST_SUBSET = 4096  # bits of a report
WORTH = 1.03  # so much information a shorter report may cost
CLOSE = 1e-3  # of the least loss


def cells(attributes: Sequence[int], sizes: Sequence[int]) -> int:
    """Of the table of these attributes."""
    return prod(sizes[a] for a in attributes)


@lru_cache(4096)
def law(oracle: PureOracle) -> tuple[float, float]:
    r"""Variance of one report's $\sum w_v \hat f_v$ with $\sum w_v = 0$, as `GroupAnswer` says it.

    From what the oracle says of its noise: exact where two values are supported together with one
    probability if one of them is the truth and another one if none is (`ss`, `grr`), and else
    (`pgr`) in the mean over the values, whose lines a table mixes.
    """
    d, even, first = oracle.d, np.full(oracle.d, 1 / oracle.d), np.eye(2, oracle.d)
    noise = oracle.noise(even, 1)
    two, every = noise.of_query(first[0] + first[1], first[0]), noise.of_query(np.ones(d), even)
    if two is None or every is None:
        raise InvalidParameter(
            f"{type(oracle).__name__}: how its errors hang together is not known: use ss."
        )
    base, slope = float(np.mean(noise.base)), noise.slope
    # covariance of two values, if one of them is the truth, and if none is
    own = other = (two - 2 * base - slope) / 2
    if d > 2:
        other = ((every - d * base - slope) / (d - 1) - 2 * own) / (d - 2)
    # with Σw = 0, Σ_{u≠v} w_u w_v = -Σw² and Σ_{u≠v} w_u w_v (f_u + f_v) = -2 Σw²f
    return base - other, slope - 2 * (own - other)


def information(oracle: PureOracle) -> float:
    """Of one report, on each direction of each interaction: one over the variance, data even."""
    base, slope = law(oracle)
    return 1 / (base * oracle.d + slope + 1)


def best_information(epsilon: float, d: int) -> float:
    r"""That of `ss`, in closed form, which is the best oracle for so many cells:

    $$ρ = \frac{θ(1-θ)(x-1)^2}{(1 + θ(x-1))^2 (D-1)}, \qquad θ = k/D.$$
    """
    x = exp(epsilon)
    shares = {min(max(k, 1), d - 1) / d for k in (int(d / (x + 1)), ceil(d / (x + 1)))}
    most = max(t * (1 - t) / (1 + t * (x - 1)) ** 2 for t in shares)
    return most * (x - 1) ** 2 / (d - 1)


@lru_cache(1024)
def best_oracle(epsilon: float, d: int) -> PureOracle:
    """The one of `grr`, `pgr` and `ss` with the shortest report that tells within 3 % as much."""
    enough = best_information(epsilon, d) / WORTH
    kinds: tuple[type[PureOracle], ...] = (GRR, PGR, SS) if d <= LONGEST_SUBSET else (GRR, PGR)
    found: PureOracle = GRR(epsilon, d)
    for kind in kinds[1:]:
        if information(found) >= enough:
            break
        found = max(found, kind(epsilon, d), key=information)
    return found


def all_tables(ways: int, k: int) -> list[Attributes]:
    """All tables of so many of k attributes."""
    return list(combinations(range(k), ways))


def too_many(tables: int, k: int) -> InvalidParameter:
    """What is said of more tables of k attributes than can be planned."""
    return InvalidParameter(
        f"{tables:,} tables of {k} attributes are too many, or too large, to be planned: want "
        f"smaller ones, as in targets=2, or some of them, as in targets=[1, (0, 1, 2)]."
    )


def loads(
    classes: Sequence[Sequence[Attributes]], sizes: tuple[int, ...]
) -> dict[Attributes, float]:
    """The weight of each table in the loss: the same for each class of tables.

    Within a class every table counts the same, and every cell of it; one class against another by
    the least loss that any mechanism could have on it alone.
    """
    found: dict[Attributes, float] = {}
    for tables in classes:
        own = {S: 1 / (len(tables) * cells(S, sizes)) for S in tables}
        least = limit(1.0, sizes, own)
        for S, weight in own.items():
            found[S] = found.get(S, 0.0) + weight / least
    return found


def _weights(
    sizes: tuple[int, ...], load: Mapping[Attributes, float]
) -> tuple[list[Attributes], FloatArray, FloatArray]:
    """The interactions that the tables have, their dimensions r and their weights μ."""
    mu: dict[Attributes, float] = {}
    for S, weight in load.items():
        for T in parts(S):
            mu[T] = mu.get(T, 0.0) + weight / cells(S, sizes)
    r = np.array([prod(sizes[a] - 1 for a in T) for T in mu], dtype=np.float64)
    return list(mu), r, np.array(list(mu.values()))


def limit(epsilon: float, sizes: tuple[int, ...], load: Mapping[Attributes, float]) -> float:
    r"""n times the loss that no ε-LDP mechanism goes below with unbiased estimates:

    $$n \cdot \mathrm{loss} \ge \frac{1}{\sinh^2(ε/2)}
      \Bigl(\sum_{T \ne \emptyset} r_T \sqrt{μ_T}\Bigr)^2.$$

    Assumed: n people drawn from a population, one report each (later ones may depend on earlier
    ones), estimates of all wanted tables unbiased near the even distribution, loss at the even
    distribution. Biased post-processing may go below, and on other data the limit may be another.

    *Why.* At the even distribution a mechanism $Q_y(v)$ has the Fisher information
    $A = \sum_y Q_y Q_y^T / q_y$, $q_y$ the mean of $Q_y$. Of a report whose probabilities lie
    within a factor $x$, $\sum_v (Q_y(v) - q_y)^2 \le D q_y^2 \max_θ θ(1-θ)(x-1)^2/(1+θ(x-1))^2
    = D q_y^2 \sinh^2(ε/2)$, with a share $θ$ of the values at the upper end. So off the constant
    $\mathrm{tr} A \le D \sinh^2(ε/2)$. By Cramér and Rao the loss is at least
    $\mathrm{tr}(M A^+)/n \ge (\mathrm{tr} M^{1/2})^2 / (n\,\mathrm{tr} A)$, by Cauchy and
    Schwarz, where $M = \sum_S w_S \frac{D}{D_S} P_S$ adds up the tables; on the interaction $T$
    it is $D μ_T$ times the identity, of dimension $r_T$.

    References
    ----------
    McKenna, Maity, Mazumdar, Miklau. *A workload-adaptive mechanism for linear queries under local
    differential privacy.* PVLDB 2020 (a bound of this kind, with another constant).
    """
    _, r, mu = _weights(sizes, load)
    return float((r * np.sqrt(mu)).sum() ** 2 / sinh(epsilon / 2) ** 2)


@dataclass(frozen=True)
class Design:
    """Groups of attributes and their shares; no shares whatever have a loss below `certified`."""

    groups: tuple[Attributes, ...]
    shares: tuple[float, ...]
    loss: float
    certified: float


def loss_with(
    known: Callable[[Attributes], float], sizes: tuple[int, ...], load: Mapping[Attributes, float]
) -> float:
    """n times the loss, where so much is known of each interaction by one report."""
    wanted, r, mu = _weights(sizes, load)
    told = np.array([known(T) for T in wanted])
    return float((r * mu / told).sum()) if told.all() else float("inf")


def _told(wanted: Sequence[Attributes], groups: Sequence[Attributes]) -> FloatArray:
    """Which group tells of which interaction."""
    k = 1 + max(a for group in groups for a in group)
    asked = np.zeros((len(groups), k), dtype=np.float32)
    need = np.zeros((len(wanted), k), dtype=np.float32)
    for row, group in zip(asked, groups, strict=True):
        row[list(group)] = 1
    for row, own in zip(need, wanted, strict=True):
        row[list(own)] = 1
    return (need @ asked.T == need.sum(axis=1)[:, None]).astype(np.float64)


def candidates(sizes: tuple[int, ...], wanted: Sequence[Attributes]) -> list[Attributes]:
    """Groups to choose among: all with up to 2²⁰ cells, up to a size where they are too many."""
    k, found, widest = len(sizes), list[Attributes](), max(map(len, wanted))
    for ways in range(1, k + 1):
        if ways > widest and (len(found) + comb(k, ways)) * len(wanted) > MOST_ENTRIES:
            break
        found += [S for S in all_tables(ways, k) if cells(S, sizes) <= MOST_CELLS]
    return found


@lru_cache(256)
def best_shares(
    sizes: tuple[int, ...], epsilon: float, load: tuple[tuple[Attributes, float], ...]
) -> Design:
    r"""The shares with the least loss, but for a thousandth, of as few groups as can be.

    Multiplicative steps $π_G \leftarrow π_G (g_G / \mathrm{loss})^{0.8}$, with $g$ the negative
    gradient, until the certificate $\mathrm{loss}^2 / \max_G g_G$, which no shares go below, is
    near the loss: by convexity. Of all shares that give the same informations a linear programme
    finds some with at most as many groups as there are interactions.
    """
    from scipy.optimize import linprog

    weights = dict(load)
    wanted, r, mu = _weights(sizes, weights)
    groups = candidates(sizes, wanted)
    if len(groups) * len(wanted) > MOST_SOLVED:
        raise too_many(len(weights), len(sizes))
    told = _told(wanted, groups) * [best_information(epsilon, cells(S, sizes)) for S in groups]
    unseen = [T for T, row in zip(wanted, told, strict=True) if not row.any()]
    if unseen:
        raise InvalidParameter(
            f"A table of {cells(unseen[0], sizes):,} cells is wanted, and at most {MOST_CELLS:,} "
            f"can be asked at once: merge values (bins, top), or want smaller tables."
        )
    shares = np.full(len(groups), 1 / len(groups))
    for _ in range(20_000):
        known = told @ shares
        loss = float((r * mu / known).sum())
        gradient = (r * mu / known**2) @ told
        if gradient.max() <= (1 + CLOSE) * loss:
            break
        shares *= (gradient / loss) ** 0.8
        shares /= shares.sum()
    certified = loss**2 / float(gradient.max())
    kept = np.flatnonzero(shares > 1e-6)
    most = linprog(  # shares that tell as much, times as large a factor as can be
        np.append(np.zeros(len(kept)), -1.0),
        A_ub=np.column_stack([-told[:, kept], known]),
        b_ub=np.zeros(len(wanted)),
        A_eq=[np.append(np.ones(len(kept)), 0.0)],
        b_eq=[1.0],
    )
    if most.status == 0 and most.x is not None:
        few = np.maximum(most.x[:-1], 0)
        few[few < few.max() / 100] = 0  # a group of a few people is not worth its trouble
        trial = few / few.sum()
        if (told[:, kept] @ trial > 0).all():
            shares = np.zeros(len(groups))
            shares[kept] = trial
            loss = float((r * mu / (told @ shares)).sum())
    chosen = np.flatnonzero(shares)
    return Design(tuple(groups[i] for i in chosen), tuple(shares[chosen].tolist()), loss, certified)
