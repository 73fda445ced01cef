"""`--config`: a whole run written down in a file, or that of a finished one.

A TOML file holds options of `ldp3 run` by their long names; what the command line says as well
wins. The data may be tables with reading options of their own:

    epsilon = [0.5, 1, 2]
    output = "sweep"
    data = ["flights", {source = "visits.csv", column = "page"}]
"""

import json
import shlex
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ldp3.errors import InvalidData, InvalidParameter, short

FLAG = "--config"
SHORT = {
    "-e": "--epsilon", "-p": "--protocols", "-m": "--methods", "-r": "--repeats",
    "-t": "--threads", "-d": "--data", "-u": "--metrics", "-o": "--output", "-q": "--quiet",
}  # fmt: skip
OWN = ("--output", "--fresh", "--report")  # of the finished run, not of who repeats it
NESTED = 5  # configurations that name others, at most


def expanded(arguments: Sequence[str]) -> list[str]:
    """The command line with what its configuration says, for `ldp3 run`."""
    found = list(arguments)
    for _ in range(NESTED):
        if found[:1] != ["run"] or not any(word.partition("=")[0] == FLAG for word in found):
            return found
        groups = _groups(found[1:])
        if groups[FLAG][1:] or not groups[FLAG]:
            raise InvalidParameter("--config takes one file: a .toml file, or results of a run.")
        path = Path(groups.pop(FLAG)[0])
        given = {**_configured(path), **groups}
        found = ["run", *(word for flag, values in given.items() for word in (flag, *values))]
    raise InvalidParameter("--config: these files name one another.")


def _groups(words: Sequence[str]) -> dict[str, list[str]]:
    """Flags by their long names, with the words that follow."""
    groups: dict[str, list[str]] = {}
    flag = ""
    for word in words:
        if word.startswith("-") and word != "-" and not _is_number(word):
            name, equals, value = word.partition("=")
            flag = SHORT.get(name, name)
            groups.setdefault(flag, [])
            if equals:
                groups[flag].append(value)
        else:
            groups.setdefault(flag, []).append(word)
    return groups


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _configured(path: Path) -> dict[str, list[str]]:
    if path.suffix == ".toml":
        return _from_toml(path)
    return _from_results(path)


def _from_toml(path: Path) -> dict[str, list[str]]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidData(f"{path}: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidData(f"{path}: is no TOML: {error}.") from error
    flags: dict[str, list[str]] = {}
    for key, value in content.items():
        flag = "--" + key.replace("_", "-")
        if value is False:
            flags |= {"--no-header": []} if flag == "--header" else {}
        else:
            flags[flag] = [] if value is True else [_word(path, key, one) for one in _list(value)]
    return flags


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _word(path: Path, key: str, value: object) -> str:
    if isinstance(value, dict) and key == "data" and isinstance(value.get("source"), str):
        return json.dumps(value)
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value)
    raise InvalidData(
        f"{path}: {key} holds {short(value)}: give texts and numbers, or for data a table with "
        f"source and reading options."
    )


def _from_results(path: Path) -> dict[str, list[str]]:
    """The command of a finished run, but for where it wrote."""
    from ldp3.results.storage import manifest_of, read_manifest

    manifest = path if path.name.endswith("manifest.json") else manifest_of(path)
    if not manifest.is_file():
        raise InvalidData(f"{path}: is neither a .toml file nor results of a run.")
    command = read_manifest(manifest).get("command")
    words = shlex.split(command) if isinstance(command, str) else []
    if words[:2] != ["ldp3", "run"]:
        raise InvalidData(f"{path}: does not say which command made it.")
    return {flag: values for flag, values in _groups(words[2:]).items() if flag not in OWN}
