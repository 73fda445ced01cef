"""What every frequency oracle must do.

A check asks one question of one oracle and answers with findings. What an oracle says of itself
(`p`, `q`, `log_prob`, `support_both`, `noise`, `draw` and so on) is never taken on trust: every
statement is held against reports that `perturb` made.
"""

from collections.abc import Callable, Iterator

from ldp3.progress import Progress
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.pure import PureOracle
from ldp3.schemes.base import Scheme
from ldp3.verification import (
    deployment,
    estimation,
    independence,
    perturbation,
    privacy,
    records,
    schemes,
    simulation,
    statements,
    supports,
)
from ldp3.verification.base import Finding, examine
from ldp3.verification.cases import OracleCase

Check = Callable[[OracleCase], Iterator[Finding]]
CHECKS: tuple[Check, ...] = (
    perturbation.one_form,
    privacy.bounded_ratio,
    privacy.audit,
    independence.batches,
    independence.neighbours,
    independence.independence,
    perturbation.generator_alone,
    perturbation.enough_randomness,
    perturbation.bad_values,
    estimation.adding_up,
    estimation.nobody,
    estimation.validity,
    simulation.simulation,
)
OF_ONE_ATTRIBUTE: tuple[Check, ...] = (
    supports.every_value,
    estimation.unbiased,
    estimation.queries,
    estimation.sound_estimate,
    simulation.crowds,
    supports.channel,
    statements.nonce,
)
OF_SEVERAL_ATTRIBUTES: tuple[Check, ...] = records.enumerated, records.tables
OF_PURE_ORACLES: tuple[Check, ...] = (
    privacy.bounded_supports,
    supports.own_and_others,
    supports.small_biases,
    supports.declared_law,
    statements.sizes,
    statements.all_that_is_told,
    statements.together,
    statements.independent,
    statements.alike,
    statements.made_to_order,
    estimation.counting,
    estimation.formula,
    estimation.impossible_tallies,
)
OF_SCHEMES: tuple[Check, ...] = schemes.lot, schemes.members, schemes.one_length
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
    checks += OF_SEVERAL_ATTRIBUTES if oracle.needs_records else OF_ONE_ATTRIBUTE
    checks += OF_PURE_ORACLES if isinstance(oracle, PureOracle) else ()
    checks += OF_SCHEMES if isinstance(oracle, Scheme) else ()
    checks += OF_DEPLOYABLE_ORACLES if oracle.deployable else ()
    setting = f"epsilon={oracle.epsilon:g}, d={oracle.d}"
    if oracle.needs_records:
        setting = f"epsilon={oracle.epsilon:g}, sizes={oracle.sizes}"  # type: ignore[attr-defined]
    return examine(checks, OracleCase(oracle, seed, draws), progress, setting)
