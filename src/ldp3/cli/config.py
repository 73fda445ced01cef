"""`--config`: options of `ldp3 run` from a file, or the experiment that results hold.

A TOML file holds options by their long names. Data may be tables with reading options of their own:

    epsilon = [0.5, 1, 2]
    output = "sweep"
    data = ["flights", {source = "visits.csv", column = "page"}]

Results are somebody's data and never a command: grid and seed are read from the fields of their
manifest, each as the type that it is, and the data from the folder. Plug-ins, executors and outputs
come from the command line only. What the command line says wins.
"""

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp3.errors import InvalidData, InvalidParameter
from ldp3.files import read_toml

if TYPE_CHECKING:
    from cyclopts import App
    from cyclopts.argument import ArgumentCollection

    from ldp3.people import Dataset, Table

# what results do not decide when they are run again: files from elsewhere name no place or plug-in,
# `ldp3 run` has no attacks, and the rest changes no number
NOT_AGAIN = {"datasets", "plugins", "attacks", "fake_users", "targets", "keep", "limit"}


def configure(app: "App", commands: tuple[str, ...], arguments: "ArgumentCollection") -> None:
    """Give the options of `ldp3 run` that were not typed what its configuration says."""
    from cyclopts.config import Dict

    for argument in arguments:
        if argument.name == "--config" and argument.tokens:
            path = Path(argument.tokens[0].value)
            content = _grid(manifest(path)) if is_results(path) else read_toml(path)
            try:
                Dict({"run": content}, source=str(path))(app, commands, arguments)
            except RecursionError:
                raise InvalidData(f"{path}: is nested too deeply to hold options.") from None


def is_results(path: Path) -> bool:
    """Whether a configuration is results; any other is TOML."""
    return path.suffix != ".toml"


def manifest(path: Path) -> dict[str, Any]:
    """What results, or their manifest, say was run."""
    from ldp3.results.storage import manifest_of, read_manifest

    found = path if path.name.endswith("manifest.json") else manifest_of(path)
    if not found.is_file():
        raise InvalidData(f"{path}: is neither a .toml file nor results of a run.")
    return read_manifest(found)


def datasets(path: Path, population: int | None) -> "list[Dataset]":
    """The data that results hold, with as many users as asked for."""
    from ldp3.results.table import load_results

    found = load_results(path.parent if path.name == "manifest.json" else path).datasets
    if not found:
        raise InvalidParameter(f"{path} holds no data, as a folder of results does: give --data.")
    return [one if population is None else one.scaled(population) for one in found.values()]


def told(path: Path, data: "Sequence[Dataset | Table]") -> list[str]:
    """What a person should know of a run that is repeated."""
    found = manifest(path)
    says = [f"Grid and seed are those of {path}; plug-ins, executor and output are yours to give."]
    digests = [one.get("digest") for one in found.get("data", [])]
    if digests != [one.digest for one in data]:
        says.append(f"The data are not those of {path}.")
    if found.get("plugins"):
        names = ", ".join(found["plugins"])
        says.append(f"{path} used plug-ins, which are code: {names}.")
    return says


def _grid(found: dict[str, Any]) -> dict[str, Any]:
    """The options that make the same grid: a field for each, also for one that is new."""
    from ldp3.experiment.grid import Experiment

    if found.get("attacks") != ["none"]:
        raise InvalidData("These results are not of `ldp3 run`: there were attacks.")
    chosen = {"repeats_asked"} if found.get("repeats_asked", True) else {"repeats_asked", "repeats"}
    own = [field.name for field in fields(Experiment)]
    asked = [name for name in own if name not in NOT_AGAIN | chosen]
    missing = [name for name in asked if name not in found]
    if missing:
        raise InvalidData(f"The manifest does not say the {missing[0]}.")
    return {"epsilon" if name == "epsilons" else name: found[name] for name in asked}
