"""True and estimated frequencies: as many as people can look at."""

from dataclasses import dataclass

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.results.table import Results

VALUES = 40  # of the domain, that people can tell apart in one chart
NUMBERS = 100_000  # of all combinations and values, that a page should carry


@dataclass(frozen=True)
class Frequencies:
    """True and estimated frequencies of some values of the domain.

    Parameters
    ----------
    labels, truth
        The values that are shown.
    means
        Their estimates, averaged over the repeats, by ε, protocol and method.
    d
        How many values the domain has.
    """

    labels: tuple[str, ...]
    truth: FloatArray
    means: dict[tuple[float, str, str], FloatArray]
    d: int

    @classmethod
    def of(cls, results: Results, dataset: str, numbers: int = NUMBERS) -> "Frequencies | None":
        """Those of a dataset without attacks, where the results hold them.

        A small domain is shown whole and in its own order, of a large one the most frequent
        values; all combinations together have about so many `numbers`.
        """
        data, means = results.datasets.get(dataset), results.means
        if data is None or means is None:
            return None
        own = means.filter(dataset=dataset, attack="none")
        if own.is_empty():
            return None
        shown = _shown(data.frequencies, min(VALUES, max(numbers // len(own), 10)))
        vectors = own["frequencies"].list.to_array(data.d).to_numpy()[:, shown]
        return cls(
            tuple(data.labels[i] for i in shown),
            data.frequencies[shown],
            dict(zip(own.select("epsilon", "protocol", "method").rows(), vectors, strict=True)),
            data.d,
        )


def _shown(truth: FloatArray, room: int) -> list[int]:
    """Which values: all of them if there is room, else the most frequent ones."""
    order = np.arange(len(truth)) if len(truth) <= room else np.argsort(-truth, kind="stable")
    return [int(i) for i in order[:room]]
