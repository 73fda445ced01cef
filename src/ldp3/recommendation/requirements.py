"""What may compete: what keeps to requirements on bits, time and bias, and can be attacked.

Where a value is heavy, protocols that are tuned for its frequency compete, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from ldp3.attacks.targets import fake_count, fake_number
from ldp3.errors import InvalidParameter, require, whole
from ldp3.experiment.grid import NOBODY, Choice, Experiment, Named
from ldp3.kinds import find, plain
from ldp3.people import Dataset
from ldp3.plugins import load_plugins
from ldp3.postprocessing.base import build_method
from ldp3.protocols.base import MIXTURE, FrequencyOracle, build_oracle
from ldp3.recommendation.costs import measure
from ldp3.results import names

HEAVY = 0.1  # frequency from which on a protocol that is tuned for it may do better
TARGETS = 10  # rare values that fake users raise, if nobody says which; half of fewer than 20


@dataclass(frozen=True)
class Requirements:
    """What a protocol may cost, and what an estimate must be.

    Parameters
    ----------
    bits
        Of a report.
    decode
        Seconds of the server, for all people.
    unbiased, distribution
        Whether estimates must be unbiased, or at least 0 and sum to one.
    """

    bits: int | None = None
    decode: float | None = None
    unbiased: bool = False
    distribution: bool = False

    def __post_init__(self) -> None:
        if self.bits is not None and not whole(self.bits, 1):
            raise InvalidParameter(
                f"`max_bits` must be an integer of at least 1, got {self.bits!r}."
            )
        number = isinstance(self.decode, float | int) and not isinstance(self.decode, bool)
        if self.decode is not None and not (number and self.decode > 0):
            raise InvalidParameter(f"`max_decode` must be above 0 seconds, got {self.decode!r}.")
        for name in ("unbiased", "distribution"):
            flag = getattr(self, name)
            require(isinstance(flag, bool), f"`{name}`", "is True or False", flag)
        if self.unbiased and self.distribution:
            raise InvalidParameter(
                "No method is always a distribution and `unbiased`: leave `distribution` or "
                "`unbiased` out."
            )

    def methods(self, ex: Experiment) -> Experiment:
        """The experiment with the methods that may win; none stays, for others start from it."""
        if not self.unbiased and not self.distribution:
            return ex
        modules = load_plugins(ex.plugins)
        none, *others = ex.methods
        built = [(c, build_method(c.thing, *modules)) for c in others if self.distribution]
        kept = [c for c, method in built if method.distribution]
        if self.distribution and not kept:
            raise InvalidParameter("None of these methods is a `distribution`: name others.")
        return replace(ex, methods=(none, *kept))

    def applied(self, ex: Experiment) -> tuple[Experiment, list[str]]:
        """The experiment with the protocols that cost no more, and what is to be said."""
        if self.bits is None and self.decode is None:
            return ex, []
        said = {choice.spec: self._too_much(ex, choice) for choice in ex.protocols}
        kept = tuple(choice for choice in ex.protocols if not said[choice.spec])
        over = [f"{names.protocol(spec)} ({why})" for spec, why in said.items() if why]
        if not kept:
            raise InvalidParameter(
                f"No protocol keeps to `max_bits` and `max_decode`: {', '.join(over)}."
            )
        return replace(ex, protocols=kept), [f"Left out: {', '.join(over)}."] if over else []

    def _too_much(self, ex: Experiment, choice: Choice) -> str:
        """What is over a limit at some ε, in words."""
        modules, data = load_plugins(ex.plugins), ex.datasets[0]
        for epsilon in ex.epsilons:
            oracle = build_oracle(choice.thing, *modules, epsilon=epsilon, d=data.d)
            if self.bits is not None and oracle.report_bits > self.bits:
                return f"{oracle.report_bits:,} bits"
            if (
                self.decode is not None
                and (seconds := measure(oracle).server(data.n)) > self.decode
            ):
                return f"{seconds:.2g} s"
        return ""


@dataclass(frozen=True)
class Threat:
    """Fake users to be robust against.

    Parameters
    ----------
    fake_users
        How many: a number, or a share of all reports such as ``"1%"``; 0 for none.
    attacks
        What they may do.
    targets
        What they want to raise, as `ldp3.benchmark` takes it.
    """

    fake_users: float | str = 0
    attacks: Named | Sequence[Named] = "mga"
    targets: str | Sequence[str] | None = None  # the rarest values

    def on(self, data: Dataset) -> "Threat":
        """The same on these data: nobody, if there are no fake users; targets that there are."""
        rare = f"bottom:{max(1, min(TARGETS, data.d // 2))}"
        nobody = fake_count(fake_number(self.fake_users), data.n) == 0
        targets = rare if self.targets is None else self.targets
        return replace(self, attacks="none" if nobody else self.attacks, targets=targets)

    def applied(self, ex: Experiment) -> tuple[Experiment, list[str]]:
        """Without protocols on which nobody knows how to simulate fake users, and what is said."""
        if ex.attacks == (NOBODY,):
            return ex, []
        kept = tuple(choice for choice in ex.protocols if _pure(ex, choice))
        lost = [choice.spec for choice in ex.protocols if choice not in kept]
        if not kept:
            raise InvalidParameter(
                f"None of {', '.join(lost)} can be attacked here: their reports do not support "
                f"values. Leave `fake_users` out."
            )
        said = f"Left out: {', '.join(lost)}: what fake users do to them cannot be simulated."
        return replace(ex, protocols=kept), [said] if lost else []


def _pure(ex: Experiment, choice: Choice) -> bool:
    modules, data = load_plugins(ex.plugins), ex.datasets[0]
    made = build_oracle(choice.thing, *modules, epsilon=ex.epsilons[0], d=data.d)
    return made.support is not None


def with_designs(protocols: Named | Sequence[Named], data: Dataset) -> list[Named]:
    """What is named; beside `all`, where a value is heavy, the same tuned for its frequency.

    And where values lie in an order, the mixture that `plan --goal` takes.
    """
    given = list(protocols) if isinstance(protocols, list | tuple) else [protocols]
    if not any(isinstance(p, str) and plain(p) == "all" for p in given):
        return given
    given += [MIXTURE] if data.domain.in_line else []
    top = round(float(data.frequencies.max()), 2)
    if top < HEAVY:
        return given
    tunable = [
        n
        for n, cls in find(FrequencyOracle).items()
        if any(f.name == "design" for f in fields(cls))
    ]
    return [*given, *(f"{name}(design={min(top, 0.49)})" for name in tunable)]
