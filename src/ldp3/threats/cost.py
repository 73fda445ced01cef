"""How many fake users change a ranking."""

from dataclasses import dataclass
from math import ceil, floor

from ldp3.protocols.base import PureOracle


@dataclass(frozen=True)
class Cost:
    """What it takes to lift one value over another.

    Parameters
    ----------
    fake
        Fake users who send reports made to order, of which each supports the lower value and not
        the higher one.
    lying
        Fake users who claim the lower value and randomise honestly.
    """

    fake: int
    lying: int


def overtaking(oracle: PureOracle, n: int, lead: float) -> Cost:
    r"""The least numbers of fake users that make the *expected* estimates swap.

    A report made to order moves the difference of two counts by one, an honest one by $p - q$ in
    expectation: with a lead $Δ$ among $n$ honest users it takes more than $nΔ(p-q)$ or $nΔ$.
    With exactly so many the noise decides: about every second ranking is wrong.

    >>> from ldp3 import oracle
    >>> overtaking(oracle("oue", 1.0, 100), n=100_000, lead=0.01)
    Cost(fake=232, lying=1001)
    """
    return Cost(floor(n * lead * (oracle.p - oracle.q)) + 1, floor(ceil(n * lead * 1e9) / 1e9) + 1)
