"""What there is to see in results, worked out once for pages and figures alike."""

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from statistics import geometric_mean
from typing import Any

import numpy as np
import polars as pl

from ldp3.arrays import FloatArray
from ldp3.errors import LDPError
from ldp3.noise import PureNoise
from ldp3.protocols.base import FrequencyOracle, build_oracle
from ldp3.reporting.filtering import COMBINATION, check
from ldp3.results.sheets import Sheet
from ldp3.results.table import Results
from ldp3.results.ties import ALPHA
from ldp3.results.verdict import RAW, Candidate, candidates, throughout, verdict_on

VALUES_SHOWN = 40  # of the domain, that people can tell apart in one chart
NUMBERS_CARRIED = 100_000  # of all combinations and values, that a page should carry


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
    together
        Whether neighbours in an order that means something were put together.
    """

    labels: tuple[str, ...]
    truth: FloatArray
    means: dict[tuple[float, str, str], FloatArray]
    d: int
    together: bool = False

    @classmethod
    def of(
        cls, results: Results, dataset: str, numbers: int = NUMBERS_CARRIED
    ) -> "Frequencies | None":
        """Those of a dataset without attacks, where the results hold them.

        A small domain is shown whole and in its own order, of a large one the most frequent
        values, or, where its order means something, neighbours together; all combinations together
        have about so many `numbers`.
        """
        data, means = results.datasets.get(dataset), results.means
        if data is None or means is None:
            return None
        own = means.filter(dataset=dataset, attack="none")
        if own.is_empty():
            return None
        room = min(VALUES_SHOWN, max(numbers // len(own), 10))
        vectors, truth = own["frequencies"].list.to_array(data.d).to_numpy(), data.frequencies
        together = data.domain.in_line and data.d > room
        if together:
            firsts = np.arange(room) * data.d // room
            lasts = np.append(firsts[1:], data.d) - 1
            ends = zip(firsts.tolist(), lasts.tolist(), strict=True)
            labels = tuple(f"{data.labels[i]} … {data.labels[j]}" for i, j in ends)
            vectors, truth = (np.add.reduceat(each, firsts, axis=-1) for each in (vectors, truth))
        else:
            shown = _shown(truth, room)
            labels = tuple(data.labels[i] for i in shown)
            vectors, truth = vectors[:, shown], truth[shown]
        return cls(
            labels,
            truth,
            dict(zip(own.select("epsilon", "protocol", "method").rows(), vectors, strict=True)),
            data.d,
            together,
        )


@dataclass(frozen=True)
class Findings:
    """Results on one dataset without attacks, and everything that is shown of them.

    Parameters
    ----------
    results
        Of one dataset.
    numbers
        How many frequencies a page should carry of it.
    """

    results: Results
    numbers: int = NUMBERS_CARRIED

    def __post_init__(self) -> None:
        check(self.results)

    @cached_property
    def metrics(self) -> list[str]:
        """In the order of the table, like protocols and methods."""
        return self._names("metric")

    @cached_property
    def protocols(self) -> list[str]:
        """Canonical specs."""
        return self._names("protocol")

    @cached_property
    def methods(self) -> list[str]:
        """Canonical specs."""
        return self._names("method")

    @cached_property
    def epsilons(self) -> list[float]:
        """From strict to loose."""
        return sorted(self.results.table["epsilon"].unique())

    @property
    def dataset(self) -> str:
        """What the data is called."""
        return str(self.results.table["dataset"][0])

    @property
    def n(self) -> int:
        """Number of people."""
        return int(self.results.table["n"][0])

    @property
    def d(self) -> int:
        """Size of the domain."""
        return int(self.results.table["d"][0])

    @cached_property
    def repeats(self) -> int:
        """The most that any combination has."""
        return max(sheet.repeats for sheet in self.sheets.values())

    @cached_property
    def sheets(self) -> dict[tuple[str, float], Sheet]:
        """One metric at one ε."""
        return {(sheet.metric, sheet.epsilon): sheet for sheet in self.results.sheets()}

    @cached_property
    def combinations(self) -> pl.DataFrame:
        """One row per metric, ε, protocol and method, from best to worst.

        `mean std min max count simulate`, the ends `low high` of a 95 % t-interval for the mean
        (null for a single repeat), `rank tied`, and `bits` per report (null if unknown).
        """
        from scipy.special import stdtrit  # scipy.stats takes most of a second to import

        summary = self.results.summary()
        freedom = np.maximum(summary["count"].to_numpy() - 1, 1)
        half = pl.Series(stdtrit(freedom, 1 - ALPHA / 2)) * summary["standard_error"]
        summary = summary.with_columns(low=summary["mean"] - half, high=summary["mean"] + half)
        best = self.results.best().select(*COMBINATION, "rank", "tied")
        joined = best.join(summary, on=COMBINATION, how="left", maintain_order="left")
        pairs = joined.select("protocol", "epsilon").rows()
        return joined.with_columns(
            bits=pl.Series([self.bits.get(p) for p in pairs], dtype=pl.Int64)
        )

    def oracle(self, protocol: str, epsilon: float) -> FrequencyOracle:
        """The protocol at some ε, on this domain."""
        return build_oracle(protocol, epsilon=epsilon, d=self.d)

    @cached_property
    def oracles(self) -> dict[tuple[str, float], FrequencyOracle]:
        """By protocol and ε; a plug-in that is not at hand is not among them."""
        found = {}
        for protocol in self.protocols:
            for epsilon in self.epsilons:
                with suppress(LDPError):
                    found[protocol, epsilon] = self.oracle(protocol, epsilon)
        return found

    @cached_property
    def bits(self) -> dict[tuple[str, float], int]:
        """Size of a report by protocol and ε, where it is known."""
        return {key: oracle.report_bits for key, oracle in self.oracles.items()}

    def spread(self, protocol: str, epsilon: float) -> FloatArray | None:
        """Standard deviation of one collection's estimate of each value that is shown.

        Before post-processing, and where the protocol is pure and values are shown by themselves.
        """
        oracle, shown = self.oracles.get((protocol, epsilon)), self.frequencies
        if oracle is None or oracle.support is None or shown is None or shown.together:
            return None
        return np.sqrt(PureNoise.of(oracle.support, self.n).variance(shown.truth))

    @cached_property
    def sizes_differ(self) -> bool:
        """Whether there is anything to see in error against report size."""
        return any(
            len({bits for (_, e), bits in self.bits.items() if e == epsilon}) > 1
            for epsilon in self.epsilons
        )

    def candidates(self, metric: str, epsilon: float) -> list[Candidate]:
        """Every combination from best to worst."""
        return candidates(self.sheets[metric, epsilon])

    def words(self, metric: str, epsilon: float) -> list[str]:
        """What to deploy, in sentences."""
        if self.results.manifest.get("reference") == "raw":
            return [RAW]
        said = verdict_on(self.sheets[metric, epsilon]).sentences()
        where = [e for e in self.epsilons if (metric, e) in self.sheets]
        if len(self.epsilons) > 1 and len(self.sheets[metric, epsilon].runs) > 1:
            said.append(throughout([verdict_on(self.sheets[metric, e]) for e in where]))
        return said

    def sizes(self, metric: str, epsilon: float) -> list[dict[str, Any]]:
        """For each protocol of known report size: its best method, and the error without any.

        `position` is where to draw it: sizes that are nearly equal stand side by side.
        """
        out: list[dict[str, Any]] = []
        ranked = [c for c in self.candidates(metric, epsilon) if c.bits is not None]
        for protocol in self.protocols:
            own = [c for c in ranked if c.protocol == protocol]
            raw = [c.error.value for c in own if c.method == "none"]
            for best in own[:1]:
                row = {"protocol": protocol, "bits": best.bits, "best": best.error.value}
                out.append({**row, "method": best.method, "raw": raw[0] if raw else None})
        positions = side_by_side([row["bits"] for row in out])
        return [{**row, "position": x} for row, x in zip(out, positions, strict=True)]

    @cached_property
    def frequencies(self) -> Frequencies | None:
        """True and estimated frequencies, where the results hold them."""
        return Frequencies.of(self.results, self.dataset, self.numbers)

    @cached_property
    def left_out(self) -> dict[str, str]:
        """What these results cannot show, and why."""
        out = {}
        if len(self.epsilons) == 1:
            out["Error against ε"] = "only one ε was run"
        if len(self.methods) == 1:
            out["Win rates"] = "only one method was run"
        if self.frequencies is None:
            out["True and estimated frequencies"] = (
                "a table alone does not hold them; a run that keeps everything in a folder does"
            )
        unknown = [p for p in self.protocols if all(key[0] != p for key in self.bits)]
        if not self.sizes_differ and not unknown:
            out["Error against report size"] = "all reports have the same size"
        if unknown:
            out["Error against report size"] = f"the size is not known for {', '.join(unknown)}"
        return out

    def _names(self, column: str) -> list[str]:
        return self.results.table[column].unique(maintain_order=True).to_list()


def side_by_side(sizes: list[int]) -> list[float]:
    """Places on a logarithmic axis at least a fortieth of it apart, near the sizes, in order."""
    if not sizes:
        return []
    gap = max((max(sizes) / min(sizes)) ** (1 / 40), 1.01)
    groups: list[list[int]] = []  # of sizes, by index, each closer than the gap to the one before
    for i in sorted(range(len(sizes)), key=sizes.__getitem__):
        if groups and sizes[i] < gap * sizes[groups[-1][-1]]:
            groups[-1].append(i)
        else:
            groups.append([i])
    places: dict[int, float] = {}
    for group in groups:
        middle = geometric_mean(sizes[i] for i in group)
        first = (1 - len(group)) / 2
        places |= {i: middle * gap ** (first + step) for step, i in enumerate(group)}
    return [places[i] for i in range(len(sizes))]


def _shown(truth: FloatArray, room: int) -> list[int]:
    """Which values: all of them if there is room, else the most frequent ones."""
    order = np.arange(len(truth)) if len(truth) <= room else np.argsort(-truth, kind="stable")
    return [int(i) for i in order[:room]]
