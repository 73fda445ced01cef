"""The few lines of Python that apply a choice, and the command that plans it."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from ldp3.plugins import PREFIX
from ldp3.postprocessing.base import PostProcessor
from ldp3.protocols.base import FrequencyOracle
from ldp3.types import Dataset


def lines(oracle: FrequencyOracle, spec: str, refine: PostProcessor, how: str) -> str:
    """Client, server and post-processing, for an oracle and a method with their specs."""
    imports = ["import ldp3"]
    make = f"ldp3.oracle({spec!r}, epsilon={oracle.epsilon!r}, d={oracle.d})"
    if _foreign(type(oracle)):
        imports.append(_import(type(oracle)))
        make = repr(oracle)
    after = f"ldp3.postprocess({how!r})(estimate)"
    if _foreign(type(refine)):
        imports.append(_import(type(refine)))
        after = f"{refine!r}(estimate)"
    if how == "none":
        after = "estimate.frequencies"
    return "\n".join(
        [
            *imports,
            "",
            f"oracle = {make}",
            "reports = oracle.perturb(values, ldp3.secure())  # on the users' devices",
            "tally = oracle.aggregate(reports)  # on the server; tallies of batches add up",
            "estimate = oracle.estimate(tally)",
            f"frequencies = {after}",
        ]
    )


def command(
    oracle: FrequencyOracle, spec: str, how: str, data: Dataset, plugins: Sequence[Path]
) -> str:
    """`ldp3 plan` for a choice; nothing if it cannot be deployed."""
    if not oracle.deployable:
        return ""
    numbered = list(data.labels) == [str(v) for v in range(data.d)]
    domain = ["--domain-size", str(data.d)] if numbered else ["--domain", "values.txt"]
    more = [word for file in plugins for word in ("--plugin", str(file))]
    words = ["ldp3", "plan", "-p", spec, "-m", how, "-e", repr(oracle.epsilon).removesuffix(".0")]
    line = shlex.join([*words, *domain, *more, "-o", "collection.ldp3.json"])
    return line if numbered else f"{line}  # values.txt: the {data.d:,} values, one per line"


def _foreign(cls: type) -> bool:
    """Whether it is not ours, so that its name alone does not find it."""
    return not cls.__module__.startswith("ldp3.")


def _import(cls: type) -> str:
    """From where it was loaded: a plug-in's file lies where Python can find it, or is moved."""
    module = cls.__module__
    if module.startswith(PREFIX):
        module = Path(str(sys.modules[module].__file__)).stem
    return f"from {module} import {cls.__name__}"
