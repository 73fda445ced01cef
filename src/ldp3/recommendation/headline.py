r"""Which of the tied to deploy.

The *expected regret* of a combination is how much more error it makes than the best one on the same
population, as a share of that one's error, in the mean over the $B$ populations that the sample may
come from:

$$\frac1B \sum_b \frac{\bar x_{ib} - \min_j \bar x_{jb}}{|\min_j \bar x_{jb}|}.$$

A population on which the best err by less than a thousandth of what they do on average counts as if
they erred by that much.

Of the tied, those are kept whose expected regret is within the margin of the least one. Nobody
notices that difference, but everybody pays for bits: of these the headline is the one with the
fewest bits per report, then the least work for the server, then the simplest method.
"""

from collections.abc import Sequence

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.layout import Bits, Code
from ldp3.specs import split

Cost = tuple[int, int, int]  # bits per report, steps of the server per report, links of the method
LEAST = 1e-3  # errors below this share of the average are as good as none
REASONS = "fewer bits per report", "less work for the server", "a simpler method"


def regrets(scores: FloatArray, repeats: IntArray, tied: BoolArray) -> FloatArray:
    """Expected regrets of the tied, infinite for others; scores by combination, population, repeat.

    Lower scores are better; of each combination the first so many repeats were measured.
    """
    means = np.array(
        [x[:, :r].mean(axis=1) for x, r in zip(scores[tied], repeats[tied], strict=True)]
    )
    best = means.min(axis=0)
    size = np.maximum(np.abs(best), LEAST * np.abs(best).mean())
    found = np.full(len(tied), np.inf)
    more = means - best
    found[tied] = np.divide(more, size, out=more, where=size > 0).mean(axis=1)
    return found


def chosen(regret: FloatArray, costs: Sequence[Cost], margin: float) -> int:
    """The cheapest of those whose regret is within the margin of the least; the best of equals."""
    good = np.flatnonzero(regret <= regret.min() + margin).tolist()
    return min(good, key=lambda i: (costs[i], regret[i], i))


def reason(cost: Cost, least: Cost) -> str:
    """Why one was preferred to the one with the least regret; nothing where it is the same one."""
    better = (words for words, a, b in zip(REASONS, cost, least, strict=True) if a < b)
    return next(better, "")


def cost(oracle: FrequencyOracle, method: str) -> Cost:
    """What a combination costs; steps are counted, not timed, so that the answer is the same."""
    links = 0 if method == "none" else len(split(method, "+"))
    return oracle.report_bits, _steps(oracle), links


def _steps(oracle: FrequencyOracle) -> int:
    """Of the server per report: one for a code, one for 64 bits, one for every value of a hash."""
    if isinstance(oracle.layout, Code):
        return 1
    return -(-oracle.d // 64) if isinstance(oracle.layout, Bits) else oracle.d
