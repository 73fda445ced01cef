"""The outcome of a block as one line of JSON, its numbers bit by bit."""

from base64 import b64decode, b64encode
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldp3.experiment.cells import Block, Cell, Outcome, exact_sums, from_sums


def written(outcome: Outcome) -> dict[str, Any]:
    """What JSON can hold of an outcome."""
    sums: NDArray[Any] | None = outcome.sums
    if outcome.sums is not None and len(outcome.block) == 1:
        sums = from_sums(
            outcome.sums
        )  # half as long, and nothing is lost: one number fits into a float
    return {
        "cell": asdict(outcome.block.cell),
        "stop": outcome.block.stop,
        "values": _packed(outcome.values),
        "sums": _packed(sums),
        "estimates": _packed(outcome.estimates),
        "seconds": outcome.seconds,
        "limits": _packed(outcome.limits),
    }


def read(found: dict[str, Any]) -> Outcome:
    """The outcome that was written."""
    values, sums, estimates = (_unpacked(found[name]) for name in ("values", "sums", "estimates"))
    block = Block(Cell(**found["cell"]), found["stop"])
    if sums is not None and len(block) == 1:
        sums = exact_sums([sums])
    limits = _unpacked(found["limits"])
    return Outcome(block, values, sums, estimates, found["seconds"], limits)


def _packed(array: NDArray[Any] | None) -> list[Any] | None:
    if array is None:
        return None
    little = array.astype(array.dtype.newbyteorder("<"))
    return [little.dtype.str, list(array.shape), b64encode(little.tobytes()).decode()]


def _unpacked(packed: list[Any] | None) -> Any:
    if packed is None:
        return None
    kind, shape, text = packed
    array = np.frombuffer(b64decode(text), dtype=kind).reshape(shape)
    return array.astype(array.dtype.newbyteorder("="))
