"""my_protocol: one line on what it does."""

from dataclasses import dataclass
from math import exp, log

import numpy as np

from ldp3 import PureOracle, Tally
from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports
from ldp3.errors import require_values
from ldp3.protocols.layout import Code


@dataclass(frozen=True)
class MyProtocol(PureOracle):
    r"""One line on MyProtocol, with its other names in the literature.

    Report the true value with probability $p$, otherwise one of the others at random:

    $$p = \frac{e^ε}{e^ε + d - 1}, \qquad q = \frac{1}{e^ε + d - 1}.$$

    A report is an integer in `[0, d)` and supports itself. Say here when to use it.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = MyProtocol(epsilon=2.0, d=4)
    >>> reports = oracle.perturb(np.repeat([0, 1], 5_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports)).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Authors. *Title.* Venue, year, section.
    """

    # A protocol of your own parameters has them here as fields: `k: int = 3`.

    @property
    def p(self) -> float:
        return exp(self.epsilon) / (exp(self.epsilon) + self.d - 1)

    @property
    def q(self) -> float:
        return 1 / (exp(self.epsilon) + self.d - 1)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        values = require_values(self, values, self.d).astype(np.int64)  # refuses foreign values
        lies = rng.integers(self.d - 1, size=len(values))
        lies += lies >= values  # step over the true value
        return np.where(rng.random(len(values)) < self.p, values, lies)

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return reports == value

    # From here on everything is optional.

    @property
    def layout(self) -> Code:  # how a report is written; a server refuses all others
        return Code(self.d)

    def aggregate(self, reports: Reports) -> Tally:  # faster than asking `supports` d times
        self.require_valid(reports)
        return Tally(np.bincount(reports, minlength=self.d), len(reports))

    def log_prob(self, reports: Reports, value: int) -> FloatArray:  # for `verify`, `attack infer`
        return np.where(reports == value, log(self.p), log(self.q))

    @property
    def support_sizes(self) -> tuple[int, int]:  # from how many values to how many a report names
        return 1, 1

    def report_of(self, members: BoolArray) -> Reports:  # what fake users can send, for `attack`
        return members.argmax(axis=1)

    # To make real people's reports with it, say how one report is drawn from uniform 64-bit words
    # and which whole numbers that takes, and let p, q and `perturb` use the same ones. Here, with
    # `from ldp3.randomness import WORDS, Words, ceil_threshold, exp as exact_exp`:
    #
    #     @property
    #     def constants(self) -> dict[str, int]:
    #         odds = exact_exp(self.epsilon)
    #         lie = ceil_threshold(1 / (odds + self.d - 1))  # rounded towards privacy
    #         return {"lie": lie, "truth": WORDS - (self.d - 1) * lie}
    #
    #     def draw(self, value: int, words: Words) -> int:
    #         word, lie, truth = next(words), self.constants["lie"], self.constants["truth"]
    #         drawer = (word - truth) // lie
    #         return value if word < truth else drawer + (drawer >= value)
