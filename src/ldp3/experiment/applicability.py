"""What serves what: misfits that were asked for in vain are refused, others left out and said."""

from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from ldp3 import specs
from ldp3.domain import GoesByOrder
from ldp3.errors import InvalidParameter
from ldp3.experiment.grid import Choice, Experiment
from ldp3.people import Dataset, Marginals
from ldp3.protocols.base import MIXTURE, FrequencyOracle
from ldp3.results import names
from ldp3.results.axes import Cell
from ldp3.schemes.attributes import RecordScheme

if TYPE_CHECKING:
    from ldp3.experiment.simulator import Simulator


def suited(experiment: Experiment, modules: Sequence[ModuleType]) -> list[Cell]:
    """The cells whose protocol is for as many attributes as the data have."""
    several = {data.name: isinstance(data, Marginals) for data in experiment.datasets}
    needs = {
        choice.spec: specs.class_of(FrequencyOracle, choice.thing, *modules).needs_records
        for choice in experiment.protocols
    }
    for choice in experiment.protocols:
        if choice.asked and needs[choice.spec] not in several.values():
            raise InvalidParameter(
                f"{choice.spec} is for several attributes, read together with `columns`."
                if needs[choice.spec]
                else f"{choice.spec} is for one attribute; for several there are groups, pairs, "
                f"smp, spl and joint."
            )
    found = [cell for cell in experiment.cells if needs[cell.protocol] == several[cell.dataset]]
    if not found:
        raise InvalidParameter("None of these protocols is for data with so many attributes.")
    return found


def tells(oracle: FrequencyOracle, data: Dataset) -> bool:
    """Whether a protocol can tell what is compared: some tables it does not ask for."""
    if not isinstance(data, Marginals):
        return True
    assert isinstance(oracle, RecordScheme)
    return set(data.targets) <= set(oracle.wanted)


def refuse_misfits(simulator: "Simulator") -> None:
    """Refuse what was asked for by its own name where it cannot serve."""
    protocols = {choice.spec: choice for choice in simulator.experiment.protocols}
    for cell in simulator.every_cell:
        oracle = simulator.oracle(cell)
        simulator.attackers.refuse_misfit(cell, oracle)
        _refuse_unordered(simulator.datasets[cell.dataset], oracle, protocols[cell.protocol])
    served = np.any([simulator.applies(cell) for cell in simulator.cells], axis=0)
    for cell in simulator.cells:
        data = simulator.datasets[cell.dataset]
        for m in np.flatnonzero(~simulator.applies(cell)):
            choice = simulator.experiment.methods[m]
            _refuse_unordered(data, simulator.methods[m], choice)
            if choice.asked and not served[m]:  # else it is left out where it does not apply
                raise InvalidParameter(
                    f"{choice.spec} does not apply to {cell.protocol} at "
                    f"epsilon={cell.epsilon:g}, d={data.d}: leave one of them out."
                )


def _refuse_unordered(data: Dataset, thing: GoesByOrder, choice: Choice) -> None:
    if choice.asked and not data.domain.suits(thing):
        raise InvalidParameter(
            f"{data.name}: {choice.spec} goes by an order, {data.domain.without_order}: leave it "
            f"out, or say they are `ordered`."
        )


def notes(simulator: "Simulator") -> list[str]:
    """What a person should know before the run, one sentence each."""
    return _once(
        [
            *_by_users(simulator),
            *_protocols_left_out(simulator),
            *_attacks_left_out(simulator),
            *_methods_left_out(simulator),
            *_metrics_by_order(simulator),
            *_order_unused(simulator),
            *_without_limit(simulator),
        ]
    )


def _by_users(simulator: "Simulator") -> list[str]:
    wanted = simulator.experiment.simulate
    slow = [cell.protocol for cell in simulator.cells if simulator.way(cell) != wanted]
    return [f"{names.protocol(p)} has no exact simulation: it runs by users." for p in slow]


def _protocols_left_out(simulator: "Simulator") -> list[str]:
    oracles = {cell.protocol: simulator.oracle(cell) for cell in simulator.every_cell}
    untold = [
        f"{names.protocol(cell.protocol)} does not tell {cell.dataset}: left out there."
        for cell in simulator.every_cell
        if not tells(simulator.oracle(cell), simulator.datasets[cell.dataset])
    ]
    by_order = [names.protocol(spec) for spec, oracle in oracles.items() if oracle.needs_order]
    return [*untold, *(note for called in by_order for note in _unordered(simulator, called))]


def _attacks_left_out(simulator: "Simulator") -> list[str]:
    return [
        f"{names.attack(cell.attack)} cannot be carried out against "
        f"{names.protocol(cell.protocol)}: left out there."
        for cell in simulator.every_cell
        if not simulator.attackers.can(cell, simulator.oracle(cell))
    ]


def _methods_left_out(simulator: "Simulator") -> list[str]:
    said, left_out = [], dict[str, list[str]]()
    for m, choice in enumerate(simulator.experiment.methods):
        without = _once(c.protocol for c in simulator.cells if not simulator.applies(c)[m])
        called = names.method(choice.spec)
        if simulator.methods[m].needs_order:
            said += _unordered(simulator, called)
        elif without:
            left_out.setdefault(", ".join(map(names.protocol, without)), []).append(called)
    for protocols, methods in left_out.items():
        apply = "does not apply" if len(methods) == 1 else "do not apply"
        said.append(f"{', '.join(methods)} {apply} to {protocols}: left out there.")
    return said


def _unordered(simulator: "Simulator", called: str) -> list[str]:
    """That what goes by an order is left out where the values have none."""
    labels = [name for name, data in simulator.datasets.items() if not data.ordered]
    all_alike = 1 < len(labels) == len(simulator.datasets)
    which = "labels" if all_alike else f"{', '.join(labels)}: labels"
    return [f"{called} does not apply to {which} without an order."] if labels else []


def _metrics_by_order(simulator: "Simulator") -> list[str]:
    """Which metrics go by an order that the values do not have."""
    labels = [name for name, data in simulator.datasets.items() if not data.ordered]
    built = next(iter(simulator.metrics.values()))
    asked = zip(simulator.experiment.metrics, built, strict=True)
    wanting = [names.metric(choice.spec) for choice, metric in asked if metric.needs_order]
    if not labels or not wanting:
        return []
    goes = "go" if len(wanting) > 1 else "goes"
    which = "" if len(labels) == len(simulator.datasets) else f" of {', '.join(labels)}"
    return [
        f"{', '.join(wanting)} {goes} by the order of the values, but those{which} are labels "
        f"without one; `ordered` if their order means something."
    ]


def _order_unused(simulator: "Simulator") -> list[str]:
    """That nothing here is made for numbers, where nobody chose the protocols."""
    chosen = any(choice.asked for choice in simulator.experiment.protocols)
    by_order = any(simulator.oracle(cell).needs_order for cell in simulator.every_cell)
    lines = [name for name, data in simulator.datasets.items() if data.domain.in_line]
    built = next(iter(simulator.metrics.values()))
    if chosen or by_order or not lines or not any(metric.needs_order for metric in built):
        return []
    return [
        f"{', '.join(lines)}: the values have an order, which none of these protocols goes by: "
        f"compare sw and {MIXTURE}, with the method adaptive_em, too."
    ]


def _without_limit(simulator: "Simulator") -> list[str]:
    return [
        f"No × limit for {names.protocol(cell.protocol)}: it has no p and q."
        for cell in simulator.cells
        if simulator.wants_limit(cell) and simulator.oracle(cell).support is None
    ]


def _once(said: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(said))
