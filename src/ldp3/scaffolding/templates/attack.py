"""my_attack: one line on what fake users do."""

from dataclasses import dataclass

import numpy as np

from ldp3 import Attack, PureOracle
from ldp3.arrays import FloatArray, Reports


@dataclass(frozen=True, eq=False)
class MyAttack(Attack):
    r"""One line on MyAttack: half of the fake users claim the first target, half the last.

    They randomise as honest clients do, so the targets gain $β(1 - f_T)$. Say here who could
    notice it.

    >>> attack = MyAttack(targets=(0, 2), honest=np.array([50, 30, 20]))
    >>> import ldp3
    >>> round(attack.expected_gain(ldp3.oracle("oue", 1.0, 3), 100), 3)
    0.15

    References
    ----------
    Authors. *Title.* Venue, year, section.
    """

    def reports(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Reports:
        """What m fake users send: anything that the server takes."""
        claimed = rng.choice([self.targets[0], self.targets[-1]], size=m)
        return oracle.perturb(claimed, rng)

    def rates(self, oracle: PureOracle) -> FloatArray:
        """How often a fake report supports each value: the gain follows. Leave out if unknown."""
        rates = np.full(oracle.d, oracle.q)
        for target in (self.targets[0], self.targets[-1]):
            rates[target] += (oracle.p - oracle.q) / 2
        return rates
