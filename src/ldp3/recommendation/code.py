"""The few lines of Python that apply a choice."""

import sys
from pathlib import Path

from ldp3.bench import Bench


def lines(at: Bench, epsilon: int, protocol: int, method: int) -> str:
    """Client, server and post-processing, for a protocol, ε and method of the bench."""
    oracle, refine = at.oracles[protocol][epsilon], at.methods[method]
    spec, how = at.experiment.protocols[protocol].spec, at.experiment.methods[method].spec
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
            "total = oracle.aggregate(reports)  # on the server; totals of batches add up",
            "estimate = oracle.estimate(total, n=len(reports))",
            f"frequencies = {after}",
        ]
    )


def _foreign(cls: type) -> bool:
    """Whether it is not ours, so that its name alone does not find it."""
    return not cls.__module__.startswith("ldp3.")


def _import(cls: type) -> str:
    """From where it was loaded: a plug-in's file lies where Python can find it, or is moved."""
    module = cls.__module__
    if module.startswith("ldp3_plugin_"):
        module = Path(str(sys.modules[module].__file__)).stem
    return f"from {module} import {cls.__name__}"
