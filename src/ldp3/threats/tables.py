"""The tables of the attack commands."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from ldp3.arrays import FloatArray
from ldp3.attacks.base import amplification
from ldp3.errors import InvalidParameter
from ldp3.experiment.grid import choices
from ldp3.plugins import load_plugins
from ldp3.postprocessing.base import build_method
from ldp3.printing import Rows, columns, escape_markdown, markdown_table, wrapped
from ldp3.protocols.base import FrequencyOracle, PureOracle, build_oracle
from ldp3.randomness import stream
from ldp3.results import names
from ldp3.threats.cost import overtaking
from ldp3.threats.inference import inference, says_law
from ldp3.threats.poisoning import Poisoned
from ldp3.types import Dataset

NEARLY, UNKNOWN = "≈", "–"  # a sum as if all supports were independent; what cannot be told
HEADS = ["protocol", "method", "clean", "attacked", "gain", "±", "left", "formula", "weighs"]


LEGEND = (
    "gain: what the targets' frequencies gained together; left: share of the raw gain; formula: "
    "the raw gain in expectation; weighs: honest votes that one fake report weighs."
)


def render(rows: Rows, format: str, width: int | None = None) -> str:
    """Rows as a table for people, in lines of at most `width`, or as data."""
    if format in ("csv", "json"):
        head, *body = rows
        made = [dict(zip(head, map(_value, row), strict=True)) for row in body]
        table = pl.DataFrame(made, infer_schema_length=None)
        text = table.write_csv() if format == "csv" else json.dumps(table.to_dicts(), indent=1)
        return text.rstrip("\n")
    if format == "markdown":
        cells = [[escape_markdown(cell) for cell in row] for row in _named(rows)]
        return markdown_table(cells, "lr")
    return columns(_named(rows), "llr", width)


def _named(rows: Rows) -> Rows:
    """With the literature's names for protocols and methods."""
    head, *body = rows
    read = [{"protocol": names.protocol, "method": names.method}.get(title, str) for title in head]
    head = ["ε" if title == "epsilon" else title for title in head]
    return [head, *([f(cell) for f, cell in zip(read, row, strict=True)] for row in body)]


def _value(cell: str) -> float | str | None:
    """A number as one; what is exact has an error of 0, what cannot be told none."""
    if cell in (NEARLY, UNKNOWN):
        return None
    plain = "0" if cell == "exact" else cell.replace(",", "")
    try:
        return int(plain) if plain.isdigit() else float(plain)
    except ValueError:
        return cell


def render_poison(found: Poisoned, format: str, width: int | None = None) -> str:
    """One table for each dataset, ε and attack; or all rows as data."""
    if format == "csv":
        return found.table.write_csv().rstrip("\n")
    if format == "json":
        return json.dumps(found.table.to_dicts(), ensure_ascii=False)
    parts = found.table.partition_by(["dataset", "epsilon", "attack"], maintain_order=True)
    tables = (_attacked(part, format, width) for part in parts)
    repeats = max(found.results.table["repeat"]) + 1
    said = f"Means over {repeats} repeats. {LEGEND}"
    return "\n\n".join([*tables, wrapped(said, width if format == "table" else None)])


def _attacked(part: pl.DataFrame, format: str, width: int | None) -> str:
    first = part.row(0, named=True)
    rows = [HEADS, *(_row(row) for row in part.iter_rows(named=True))]
    title = (
        f"{names.attack(first['attack'])} with {first['fakes']:,} fake users on "
        f"{first['dataset']} at ε = {first['epsilon']:g}; honest lying gains {first['ceiling']:.4f}"
    )
    return f"{wrapped(title, width)}\n\n{render(rows, format, width)}"


def _row(row: dict[str, object]) -> list[str]:
    def shown(name: str, digits: int = 4) -> str:
        value = row[name]
        known = isinstance(value, float) and np.isfinite(value)
        return f"{value:.{digits}f}" if known else "–"

    numbers = [shown(name) for name in ("clean", "attacked", "gain", "sd")]
    rest = [shown("left", 2), shown("formula"), shown("amplification", 1)]
    return [str(row["protocol"]), str(row["method"]), *numbers, *rest]


def cost_rows(
    users: Dataset,
    lead: float,
    epsilons: Sequence[float],
    protocols: Sequence[str],
    plugins: Sequence[Path],
) -> Rows:
    """How many fake users swap two values, for each ε and protocol."""
    rows = [["epsilon", "protocol", "made to order", "honest lies", "weighs"]]
    for epsilon, spec, oracle in _grid(users.d, epsilons, protocols, plugins):
        needed = overtaking(oracle, users.n, lead)
        weight = f"{amplification(oracle):.1f}"
        rows.append([f"{epsilon:g}", spec, f"{needed.fake:,}", f"{needed.lying:,}", weight])
    return rows


def infer_rows(
    users: Dataset,
    epsilons: Sequence[float],
    protocols: Sequence[str],
    priors: Sequence[str],
    rounds: Sequence[int],
    *,
    memoised: bool,
    seed: int,
    plugins: Sequence[Path],
) -> Rows:
    """How often the best attacker is right, for each ε, protocol, prior and number of rounds."""
    rows = [["epsilon", "protocol", "prior", "rounds", "guessed", "±", "blind", "ceiling"]]
    for epsilon, spec, oracle in _grid(users.d, epsilons, protocols, plugins):
        for prior in priors:
            believed = _prior(prior, users, oracle, seed)
            for seen in rounds:
                given = [f"{epsilon:g}", spec, prior, f"{seen}"]
                if not says_law(oracle):
                    rows.append([*given, *[UNKNOWN] * 4])
                    continue
                found = inference(
                    oracle, believed, truth=users.frequencies, reports=seen, memoised=memoised,
                    seed=seed,
                )  # fmt: skip
                error = f"{found.error:.4f}" if found.error else NEARLY
                error = "exact" if found.exact else error
                numbers = [f"{found.success:.4f}", error, f"{found.blind:.4f}"]
                rows.append([*given, *numbers, f"{found.ceiling:.4f}"])
    return rows


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
