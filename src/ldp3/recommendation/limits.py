"""What may compete: within limits on bits and time, and tuned for heavy values, if there are."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from ldp3 import specs
from ldp3.errors import InvalidParameter, whole
from ldp3.experiment.grid import Choice, Experiment, Named
from ldp3.kinds import find, plain
from ldp3.plugins import load_plugins
from ldp3.protocols.base import FrequencyOracle
from ldp3.recommendation.costs import measure
from ldp3.types import Dataset

HEAVY = 0.1  # frequency from which on a protocol that is tuned for it may do better
KIND: type[FrequencyOracle] = FrequencyOracle  # type: ignore[type-abstract]


@dataclass(frozen=True)
class Limits:
    """On what a protocol may cost.

    Parameters
    ----------
    bits
        Of a report.
    decode
        Seconds of the server, for all users.
    """

    bits: int | None
    decode: float | None

    def __post_init__(self) -> None:
        if self.bits is not None and not whole(self.bits, 1):
            raise InvalidParameter(
                f"`max_bits` must be an integer of at least 1, got {self.bits!r}."
            )
        number = isinstance(self.decode, float | int) and not isinstance(self.decode, bool)
        if self.decode is not None and not (number and self.decode > 0):
            raise InvalidParameter(f"`max_decode` must be above 0 seconds, got {self.decode!r}.")

    def applied(self, ex: Experiment) -> tuple[Experiment, list[str]]:
        """The experiment with the protocols that keep to the limits, and what is to be said."""
        if self.bits is None and self.decode is None:
            return ex, []
        said = {choice.spec: self._too_much(ex, choice) for choice in ex.protocols}
        kept = tuple(choice for choice in ex.protocols if not said[choice.spec])
        over = [f"{spec} ({why})" for spec, why in said.items() if why]
        if not kept:
            raise InvalidParameter(
                f"No protocol keeps to `max_bits` and `max_decode`: {', '.join(over)}."
            )
        return replace(ex, protocols=kept), [f"Left out: {', '.join(over)}."] if over else []

    def _too_much(self, ex: Experiment, choice: Choice) -> str:
        """What is over a limit at some ε, in words."""
        modules, data = load_plugins(ex.plugins), ex.datasets[0]
        for epsilon in ex.epsilons:
            oracle = specs.build(KIND, choice.thing, *modules, epsilon=epsilon, d=data.d)
            if self.bits is not None and oracle.report_bits > self.bits:
                return f"{oracle.report_bits:,} bits"
            if (
                self.decode is not None
                and (seconds := measure(oracle).server(data.n)) > self.decode
            ):
                return f"{seconds:.2g} s"
        return ""


def with_designs(protocols: Named | Sequence[Named], data: Dataset) -> list[Named]:
    """What is named; beside `all`, where a value is heavy, the same tuned for its frequency."""
    given = list(protocols) if isinstance(protocols, list | tuple) else [protocols]
    top = round(float(data.frequencies.max()), 2)
    if top < HEAVY or not any(isinstance(p, str) and plain(p) == "all" for p in given):
        return given
    tunable = [n for n, cls in find(KIND).items() if any(f.name == "design" for f in fields(cls))]
    return [*given, *(f"{name}(design={min(top, 0.49)})" for name in tunable)]
