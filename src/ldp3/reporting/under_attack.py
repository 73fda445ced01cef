"""What attacks did to a run, and what theory says they can do."""

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from ldp3.attacks.base import Attack, amplification, build_attack
from ldp3.attacks.targets import fake_count, target_codes
from ldp3.errors import LDPError
from ldp3.people import Dataset
from ldp3.protocols.pure import PureOracle
from ldp3.reporting.filtering import IS_SHARE
from ldp3.reporting.findings import Findings
from ldp3.results.table import Results
from ldp3.threats.inference import simulated_successes, summed_success

BEYOND = 1.25  # of the largest share of fake users, that lines end at
CURVE = 13  # points of a line that is none
REPORTS = (1, 2, 5, 10, 20, 50, 100)
PEOPLE, FEWEST = 4_000, 400  # simulated where there is no sum; with fewer there is no point
WORK = 2 * 10**8  # supports that are looked up for that, for each protocol and ε
EPSILONS = 25  # on a line against ε
PAIR = ["metric", "epsilon", "protocol", "method"]
ATTACKERS = ["attack", "fake_users"]
UNIT = ["epsilon", *ATTACKERS, "protocol", "method"]


@dataclass(frozen=True)
class UnderAttack:
    """The attacked collections of one dataset beside its clean ones.

    Parameters
    ----------
    results
        Clean and attacked collections of one dataset.
    found
        What there is to see in the clean ones.
    """

    results: Results
    found: Findings

    @cached_property
    def attacks(self) -> list[str]:
        """Canonical specs."""
        return self._attacked["attack"].unique(maintain_order=True).to_list()

    @property
    def _attacked(self) -> pl.DataFrame:
        return self.results.table.filter(pl.col("attack") != "none")

    @cached_property
    def oracles(self) -> dict[tuple[str, float], PureOracle]:
        """Those whose reports support values, by protocol and ε."""
        return {k: o for k, o in self.found.oracles.items() if isinstance(o, PureOracle)}

    @cached_property
    def fakes(self) -> list[int]:
        """How many fake users there were."""
        given = self._attacked["fake_users"].unique(maintain_order=True)
        return list(dict.fromkeys(fake_count(number, self.found.n) for number in given))

    @cached_property
    def targets(self) -> tuple[int, ...] | None:
        """The codes of the targets, where manifest and truth are here."""
        data, manifest = self._data, self.results.manifest
        if data is None or "targets" not in manifest:
            return None
        with suppress(LDPError, TypeError):
            return target_codes(data, manifest["targets"], manifest.get("seed", 0))
        return None

    @property
    def _data(self) -> Dataset | None:
        return self.results.datasets.get(self.found.dataset)

    def worst(self) -> pl.DataFrame:
        """The worst mean of each combination over the attacks, and the same without attack."""
        better = self.found.results.better
        higher = pl.col("metric").is_in([m for m, b in better.items() if b == "higher"])
        errors = self.results.table.filter(~IS_SHARE)
        means = errors.group_by([*PAIR, *ATTACKERS], maintain_order=True).agg(
            mean=pl.col("value").mean()
        )
        clean = means.filter(attack="none").select(*PAIR, clean="mean")
        harm = pl.when(higher).then(-pl.col("mean")).otherwise(pl.col("mean"))
        attacked = means.filter(pl.col("attack") != "none").with_columns(harm=harm)
        ordered = attacked.sort("harm", descending=True, maintain_order=True)
        first = ordered.unique(PAIR, keep="first", maintain_order=True).drop("harm")
        return first.join(clean, on=PAIR, how="left", maintain_order="left")

    def gains(self) -> list[dict[str, Any]]:
        """What the targets gained together, by ε, attack, protocol and method: measured."""
        held = self._held()
        if held is None:
            return []
        clean = held.filter(attack="none").drop(ATTACKERS).rename({"held": "clean"})
        on = ["epsilon", "protocol", "method"]
        joined = held.filter(pl.col("attack") != "none").join(clean, on=on, maintain_order="left")
        gain = pl.col("held") - pl.col("clean")
        rows = joined.select(*UNIT, gain=gain).to_dicts()
        numbers = [fake_count(row.pop("fake_users"), self.found.n) for row in rows]
        return [{**row, "share": self.share(m)} for row, m in zip(rows, numbers, strict=True)]

    def _held(self) -> pl.DataFrame | None:
        """What the targets' estimates sum to, on average: as it was measured, or from the means."""
        own = self.results.table.filter(IS_SHARE)
        if len(own):
            return own.group_by(UNIT, maintain_order=True).agg(held=pl.col("value").mean())
        means, targets = self.results.means, self.targets
        if means is None or targets is None:
            return None
        held = pl.col("frequencies").list.gather(list(targets)).list.sum()
        return means.filter(dataset=self.found.dataset).select(*UNIT, held=held)

    def share(self, fakes: int) -> float:
        """The share of so many fake users among all."""
        return fakes / (self.found.n + fakes)

    def formulas(self) -> list[dict[str, Any]]:
        """What the raw gain of each attack is in expectation, from nobody on to beyond this run.

        It is proportional to the share where what a fake user sends does not depend on how many
        they are: then two points make the line.
        """
        data, targets, most = self._data, self.targets, max(self.fakes, default=0)
        if data is None or targets is None or not most:
            return []
        end = min(0.9, BEYOND * self.share(most))
        made = []
        for spec in self.attacks:
            for (protocol, epsilon), oracle in self.oracles.items():
                with suppress(LDPError):
                    attack = build_attack(spec, targets=targets, honest=data.histogram)
                    row = {"epsilon": epsilon, "attack": spec, "protocol": protocol}
                    points = 2 if attack.rates(oracle) is not None else CURVE
                    made += [{**row, **point} for point in self._line(attack, oracle, end, points)]
        return made

    def _line(
        self, attack: Attack, oracle: PureOracle, end: float, points: int
    ) -> list[dict[str, float]]:
        numbers = [fake_count(float(s), self.found.n) for s in np.linspace(0, end, points)]
        gains = [(m, attack.expected_gain(oracle, m)) for m in numbers]
        return [{"share": self.share(m), "gain": gain} for m, gain in gains if gain is not None]

    def weights(self) -> list[dict[str, Any]]:
        """How many honest votes one fake report weighs, against ε."""
        own = self.found.epsilons
        line = np.geomspace(own[0] / 2, own[-1] * 2, EPSILONS)
        made = []
        for protocol in dict.fromkeys(protocol for protocol, _ in self.oracles):
            for epsilon in sorted({*line.tolist(), *own}):
                with suppress(LDPError):
                    oracle = self.found.oracle(protocol, epsilon)
                    assert isinstance(oracle, PureOracle)
                    row = {"protocol": protocol, "epsilon": epsilon, "ran": epsilon in own}
                    made.append({**row, "weight": amplification(oracle)})
        return made

    def successes(self) -> list[dict[str, Any]]:
        """How often a person's value is guessed after some reports: by a sum, or simulated."""
        made = []
        for (protocol, epsilon), oracle in self.oracles.items():
            row = {"protocol": protocol, "epsilon": epsilon}
            guessed = {n: summed_success(oracle, n) for n in REPORTS}
            without = [n for n, success in guessed.items() if success is None]
            people = min(PEOPLE, WORK // (oracle.d * max(without, default=1)))
            if without and people >= FEWEST:
                simulated = simulated_successes(oracle, without, people)
                guessed |= {n: success for n, (success, _) in simulated.items()}
            made += [{**row, "reports": n, "success": success, "simulated": n in without}
                     for n, success in guessed.items() if success is not None]  # fmt: skip
        return made
