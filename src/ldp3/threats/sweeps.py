"""One attack on every protocol at every ε: what overtaking costs, how often values are guessed."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ldp3.answers import Answer, PrintedColumn, table
from ldp3.arrays import FloatArray
from ldp3.attacks.base import amplification, overtaking
from ldp3.attacks.targets import target_codes
from ldp3.errors import InvalidParameter
from ldp3.experiment.grid import choices
from ldp3.people import Dataset
from ldp3.plugins import load_plugins
from ldp3.postprocessing.base import build_method
from ldp3.printing import percent, plural
from ldp3.protocols.base import FrequencyOracle, build_oracle
from ldp3.protocols.pure import PureOracle
from ldp3.randomness import stream
from ldp3.results import names
from ldp3.threats.inference import inference, says_law

EPSILON = PrintedColumn("epsilon", "ε", "{:g}".format)
PROTOCOL = PrintedColumn("protocol", "protocol", names.protocol)
UNKNOWN = dict.fromkeys(("guessed", "standard_error", "how", "blind", "ceiling"))
GUESSES = (
    "guessed: how often the best guess is right; ±: its standard error, or ≈ where all values "
    "are taken as supported independently, though only any four are; blind: without any report; "
    "ceiling: what no protocol of this ε exceeds, whatever the attacker knows beforehand."
)


def costs(
    users: Dataset,
    overtake: tuple[str, str],
    epsilons: Sequence[float],
    protocols: Sequence[str],
    plugins: Sequence[Path] = (),
) -> Answer:
    """How many fake users lift the first of two values over the second, for each ε and protocol."""
    below, above = (_one(target_codes(users, name), name) for name in overtake)
    ahead = int(users.histogram[above] - users.histogram[below])
    if below == above:
        raise InvalidParameter(f"`overtake` takes two different values, got {overtake[0]} twice.")
    if ahead < 0:
        raise InvalidParameter(
            f"{overtake[0]} is more frequent than {overtake[1]} already: swap them."
        )
    rows = []
    for epsilon, spec, oracle in _grid(users.d, epsilons, protocols, plugins):
        needed = overtaking(oracle, ahead)
        rows.append(
            {
                "epsilon": epsilon,
                "protocol": spec,
                "made_to_order": needed.fake,
                "honest_lies": needed.lying,
                "weight": amplification(oracle),
            }
        )
    frame, lead = pl.DataFrame(rows), ahead / users.n
    least, most = (frame.sort("made_to_order").row(place, named=True) for place in (0, -1))
    enough = plural(least["made_to_order"], "fake user lifts", "fake users lift")
    more = f", {most['made_to_order']:,} under {_where(most)}" if most != least else ""
    said = (
        f"{enough} {overtake[0]} over {overtake[1]} under "
        f"{_where(least)}{more}. {overtake[1]} leads by {percent(lead, 3)} of "
        f"{plural(users.n, 'person')}."
    )
    shown = table(
        frame,
        [
            EPSILON,
            PROTOCOL,
            PrintedColumn("made_to_order", "made to order", "{:,}".format),
            PrintedColumn("honest_lies", "honest lies", "{:,}".format),
            PrintedColumn("weight", "weighs", "{:.1f}".format),
        ],
        "llr",
        note="made to order: fake users who send what helps most; honest lies: who claim the lower "
        "value and randomise; weighs: honest votes that one fake report weighs.",
    )
    return Answer([said, shown], {"overtake": overtake, "lead": lead, "n": users.n, "costs": frame})


def guesses(
    users: Dataset,
    epsilons: Sequence[float],
    protocols: Sequence[str],
    priors: Sequence[str] = ("uniform", "truth"),
    rounds: Sequence[int] = (1,),
    *,
    memoised: bool = False,
    seed: int = 0,
    plugins: Sequence[Path] = (),
) -> Answer:
    """How often the best attacker is right, for each ε, protocol, prior and number of rounds."""
    if not all(seen >= 1 for seen in rounds):
        raise InvalidParameter(f"`rounds` must be at least 1, got {min(rounds)}.")
    rows: list[dict[str, Any]] = []
    for epsilon, spec, oracle in _grid(users.d, epsilons, protocols, plugins):
        for prior in priors:
            believed = _prior(prior, users, oracle, seed)
            for seen in rounds:
                row = {"epsilon": epsilon, "protocol": spec, "prior": prior, "rounds": seen}
                rows.append(row | UNKNOWN)
                if says_law(oracle):
                    found = inference(
                        oracle, believed, truth=users.frequencies, reports=seen,
                        memoised=memoised, seed=seed,
                    )  # fmt: skip
                    simulated = "simulated" if found.error else "nearly"
                    rows[-1] |= {
                        "guessed": found.success,
                        "standard_error": found.error if found.error or found.exact else None,
                        "how": "exact" if found.exact else simulated,
                        "blind": found.blind,
                        "ceiling": found.ceiling,
                    }
    frame = pl.DataFrame(rows, infer_schema_length=None)
    heads = {"guessed": "guessed", "doubt": "±", "blind": "blind", "ceiling": "ceiling"}
    words = [PrintedColumn("prior", "prior"), PrintedColumn("rounds", "rounds", "{:,}".format)]
    columns = [EPSILON, PROTOCOL, *words, *(PrintedColumn(*both, _share) for both in heads.items())]
    signs = {"exact": "exact", "nearly": "≈", "simulated": None, None: "–"}
    doubts = [signs[row["how"]] or _share(row["standard_error"]) for row in rows]
    made = table(frame.with_columns(doubt=pl.Series(doubts)), columns, "lllr", note=GUESSES)
    about = {"data": users.name, "memoised": memoised}
    return Answer([_most(frame), made], {**about, "guesses": frame})


def _most(frame: pl.DataFrame) -> str:
    """Where the attacker is right most often, of all where that can be told."""
    known = frame.drop_nulls("guessed").sort("guessed", descending=True, maintain_order=True)
    if known.is_empty():
        return "How often values are guessed cannot be told: these protocols do not say their law."
    most = known.row(0, named=True)
    reports = "report" if most["rounds"] == 1 else "reports"
    return (
        f"{percent(most['guessed'], 3)} of all values are guessed right under {_where(most)}, from "
        f"{most['rounds']:,} {reports} and the prior {most['prior']}; from the prior alone, "
        f"{percent(most['blind'], 3)}."
    )


def _share(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.4f}"


def _where(row: dict[str, Any]) -> str:
    return f"{names.protocol(row['protocol'])} at ε = {row['epsilon']:g}"


def _one(codes: tuple[int, ...], name: str) -> int:
    if len(codes) > 1:
        raise InvalidParameter(f"`overtake` takes single values, got {name}: {len(codes)} values.")
    return codes[0]


def _prior(name: str, users: Dataset, oracle: PureOracle, seed: int) -> FloatArray | None:
    if name == "uniform":
        return None
    if name == "truth":
        return users.frequencies
    rng = stream(seed, "prior", users.digest, type(oracle).__name__, oracle.epsilon.hex())
    guessed = np.maximum(
        build_method(name)(oracle.estimate(oracle.simulate(users.histogram, rng))), 0
    )
    return guessed if guessed.sum() > 0 else None


def _grid(
    d: int, epsilons: Sequence[float], protocols: Sequence[str], plugins: Sequence[Path]
) -> Iterator[tuple[float, str, PureOracle]]:
    modules = load_plugins(plugins)
    for epsilon in epsilons:
        for choice in choices(FrequencyOracle, list(protocols), modules):
            oracle = build_oracle(choice.thing, *modules, epsilon=epsilon, d=d)
            if isinstance(oracle, PureOracle):
                yield epsilon, choice.spec, oracle
            elif choice.asked:
                raise InvalidParameter(f"{choice.spec}: its reports do not support values.")
