"""Summation with Laplace-noised histograms: an oracle that is not pure, in two methods."""

from dataclasses import dataclass

import numpy as np

from ldp3 import Estimate, FrequencyOracle, Noise, Tally
from ldp3.arrays import IntArray, Reports
from ldp3.errors import require_values

GRID = 2.0**-10


@dataclass(frozen=True)
class LaplaceSum(FrequencyOracle):
    r"""Summation with histogram encoding (SHE): every user adds noise to a histogram of one.

    $$y_v = [v = x] + \mathrm{Lap}(2/ε), \qquad \hat f_v = \frac1n \sum_i y_v^{(i)}, \qquad
      \mathrm{Var} = \frac{8}{n ε^2}.$$

    Two histograms of one user differ by 1 in two entries, hence the 2. A report is a vector of
    $d$ real numbers, rounded to a grid: the last bits of a sum of floats would give the user's
    value away (Mironov 2012).

    References
    ----------
    Wang, Blocki, Li, Jha. *Locally differentially private protocols for frequency estimation.*
    USENIX Security 2017, §4.2.
    """

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d)
        reports = rng.laplace(0, 2 / self.epsilon, (len(codes), self.d))
        reports[np.arange(len(codes)), codes] += 1
        return np.asarray(np.round(reports / GRID) * GRID)

    def estimate(self, tally: Tally) -> Estimate:
        noise = Noise((8 / self.epsilon**2 + GRID**2 / 12) / tally.n)
        return Estimate(tally.total / tally.n, tally, noise)
