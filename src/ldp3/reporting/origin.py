"""Where results come from and how to repeat them: from the manifest, which may hold anything."""

import shlex
from collections.abc import Mapping
from typing import Any

from ldp3.reporting.findings import Findings

FLAGS = {
    "-e": "epsilons",
    "-p": "protocols",
    "-m": "methods",
    "-u": "metrics",
    "-r": "repeats",
    "--seed": "seed",
    "--simulate": "simulate",
    "--reference": "reference",
}
ATTACKED = {flag: key for flag, key in FLAGS.items() if key != "reference"} | {
    "--attack": "attacks",
    "--targets": "targets",
    "--fake-users": "fake_users",
}


def origin(found: Findings) -> dict[str, str]:
    """Data, seed and versions, and what is left out; what is not known is not among them."""
    manifest = found.results.manifest
    ways = " and ".join(found.results.table["simulate"].unique(maintain_order=True))
    own = [entry for entry in _data(manifest) if entry.get("name") == found.dataset]
    facts = {
        "Dataset": f"{found.dataset}: {found.n:,} users, {found.d:,} values",
        "SHA-256 of the data": own[0].get("digest") if own else None,
        "Seed": manifest.get("seed"),
        "Simulation": "every user perturbed" if ways == "users" else ways,
        "Reference": manifest.get("reference"),
        "Notes": " ".join(_texts(manifest.get("notes"))),
        "Plug-ins": _pairs(manifest.get("plugins")),
        "Versions": _pairs(manifest.get("versions")),
        **{f"Left out: {what}": why for what, why in found.left_out.items()},
    }
    return {what: str(said) for what, said in facts.items() if said not in (None, "")}


def command(manifest: Mapping[str, Any]) -> str | None:
    """The command that was given; for a run from Python, one that gives the same table."""
    if isinstance(manifest.get("command"), str):
        return str(manifest["command"])
    data = [entry["name"] for entry in _data(manifest) if isinstance(entry.get("name"), str)]
    attacked = "fake_users" in manifest
    flags = ATTACKED if attacked else FLAGS
    if not data or not all(key in manifest for key in flags.values()):
        return None
    words = ["ldp3", *(["attack", "poison"] if attacked else ["run"]), "-d", *data]
    for flag, key in flags.items():
        value = manifest[key] if isinstance(manifest[key], list) else [manifest[key]]
        words += [flag, *(_word(one) for one in value if key != "attacks" or one != "none")]
    if manifest.get("population") is not None:
        words += ["--population", _word(manifest["population"])]
    plugins = manifest.get("plugins")
    files = [name for name in plugins if name.endswith(".py")] if isinstance(plugins, dict) else []
    return shlex.join([*words, *(["--plugin", *files] if files else [])])


def _data(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    given = manifest.get("data")
    return [entry for entry in given if isinstance(entry, dict)] if isinstance(given, list) else []


def _texts(given: object) -> list[str]:
    return [note for note in given if isinstance(note, str)] if isinstance(given, list) else []


def _word(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def _pairs(found: object) -> str:
    if not isinstance(found, dict):
        return ""
    return ", ".join(f"{key} {value}" for key, value in found.items())
