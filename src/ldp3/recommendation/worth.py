"""What an answer is worth: which values can be read, how much is wrong, what it costs."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.printing import visible
from ldp3.protocols.base import FrequencyOracle
from ldp3.recommendation.costs import measure
from ldp3.recommendation.sentences import number

USELESS = 0.25  # share of the people under a wrong value from which on it is no distribution
NAMED = 8  # values that stand out, named


@dataclass(frozen=True)
class Worth:
    """What one collection will be good for.

    Parameters
    ----------
    standing_out
        How many values are so frequent that their estimate stands out of the noise of all values,
        before post-processing, with the confidence of the answer.
    labels
        The first of them, most frequent first.
    threshold
        The frequency from which on they do.
    misplaced
        Share of the people that is counted under a wrong value in the mean, half of ℓ1.
    traffic
        Bytes of all reports.
    server
        Seconds of one core to count and decode them, measured here and now.
    """

    standing_out: int
    labels: tuple[str, ...]
    threshold: float
    misplaced: float
    traffic: int
    server: float = field(compare=False)

    @property
    def useless(self) -> bool:
        """Whether it tells next to nothing."""
        return not self.standing_out or self.misplaced >= USELESS

    def sentences(self, d: int, confidence: float) -> list[str]:
        """In words."""
        sure = f"at {100 * confidence:g} % confidence"
        if not self.standing_out:
            out = f"No value stands out of the noise of all {d:,} {sure}"
        else:
            more = ", …" if self.standing_out > len(self.labels) else ""
            named = ", ".join(map(visible, self.labels)) + more
            verb = "stands" if self.standing_out == 1 else "stand"
            out = f"{self.standing_out:,} of {d:,} values {verb} out of the noise {sure}: {named}"
        above = f"(above {100 * self.threshold:.2g} %)"
        wrong = f"{100 * self.misplaced:.2g} % of the people will be counted under a wrong value."
        said = [f"{out} {above}. {wrong}"]
        if self.useless:
            said.append(
                "As a distribution that is useless: ask more people (`ldp3 size` says how many), "
                "raise ε, or have fewer values."
            )
        return said

    def cost(self, users: int, bits: int) -> str:
        """What the reports take."""
        return (
            f"{users:,} reports of {bits:,} bits are {_size(self.traffic)}; to count and decode "
            f"them takes {_time(self.server)} of one core here."
        )


def worth(
    oracle: FrequencyOracle,
    n: int,
    frequencies: FloatArray,
    labels: Sequence[str],
    threshold: float,
    off: FloatArray,
) -> Worth:
    """Of `n` reports, where values are off by `off`, one row for each simulated collection."""
    order = np.argsort(-frequencies, kind="stable")
    out = int(np.count_nonzero(frequencies > threshold))
    return Worth(
        out,
        tuple(labels[v] for v in order[: min(out, NAMED)]),
        threshold,
        float(off.sum(axis=1).mean() / 2),
        -(-n * oracle.report_bits // 8),
        measure(oracle).server(n),
    )


def _time(seconds: float) -> str:
    """Seconds as people say them."""
    return f"about {number(seconds, 2)} s" if seconds >= 0.01 else "less than 0.01 s"


def _size(size: int) -> str:
    """Bytes in a unit that suits them."""
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{number(size / unit, 2)} {name}"
    return f"{size} bytes"
