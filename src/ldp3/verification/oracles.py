"""What every frequency oracle must do.

A check asks one question of one oracle and answers with findings. What an oracle says of itself
(`p`, `q`, `log_prob`, `privacy_ratio`, `noise`, `draw`) is never taken on trust: every statement is
held against reports that `perturb` made.
"""

from collections.abc import Callable, Iterator

from ldp3.progress import Progress
from ldp3.protocols.base import FrequencyOracle, PureOracle
from ldp3.verification import (
    deployment,
    estimates,
    independence,
    manners,
    privacy,
    randomness,
    simulation,
    supports,
    tallies,
)
from ldp3.verification.audit import audit
from ldp3.verification.base import Finding, examine
from ldp3.verification.case import OracleCase

Check = Callable[[OracleCase], Iterator[Finding]]
CHECKS: tuple[Check, ...] = (
    manners.one_form,
    privacy.bounded_ratio,
    audit,
    privacy.every_value,
    independence.batches,
    independence.neighbours,
    independence.independence,
    randomness.generator_alone,
    randomness.enough_randomness,
    manners.bad_values,
    estimates.unbiased,
    estimates.sound_estimate,
    tallies.adding_up,
    tallies.nobody,
    manners.validity,
    simulation.simulation,
    simulation.crowds,
    supports.channel,
)
OF_PURE_ORACLES: tuple[Check, ...] = (
    privacy.bounded_supports,
    supports.own_and_others,
    supports.small_biases,
    supports.declared_law,
    supports.fixed_support,
    tallies.counting,
    estimates.formula,
    estimates.stated_variance,
    estimates.impossible_tallies,
)
OF_DEPLOYABLE_ORACLES: tuple[Check, ...] = (
    deployment.written,
    deployment.hostile_bytes,
    deployment.described,
    deployment.drawing,
    deployment.drawn_law,
)


def oracle_findings(
    oracle: FrequencyOracle, seed: int, draws: int, progress: Progress
) -> Iterator[Finding]:
    """Every check that applies to `oracle`, as they are made."""
    checks = CHECKS
    checks += OF_PURE_ORACLES if isinstance(oracle, PureOracle) else ()
    checks += OF_DEPLOYABLE_ORACLES if oracle.deployable else ()
    setting = f"epsilon={oracle.epsilon:g}, d={oracle.d}"
    return examine(checks, OracleCase(oracle, seed, draws), progress, setting)
