"""Run an experiment: the one way under the command, `benchmark` and `recommend`."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from ldp3.datasets.loading import load_all
from ldp3.errors import InvalidParameter, as_path, as_python, require, several
from ldp3.experiment import schedule
from ldp3.experiment.executors import workers
from ldp3.experiment.grid import Named, Reference, Way, experiment
from ldp3.experiment.journal import open_journal
from ldp3.experiment.outcomes import Measured, Outcome
from ldp3.experiment.repeats import UntilSettled, prepared
from ldp3.experiment.schedule import Wanted
from ldp3.experiment.simulator import Simulator
from ldp3.experiment.tabulation import tabulated
from ldp3.progress import Bar, Progress
from ldp3.results.storage import is_table
from ldp3.results.table import Results, load_results

if TYPE_CHECKING:
    from distributed import Client


class Rule(Protocol):
    """Somebody who looks at what was measured and says what is still worth measuring."""

    @property
    def looks(self) -> Sequence[int]:
        """Repeats after which to look."""

    def hear(self, outcome: Outcome) -> None:
        """A block is measured."""

    def wanted(self) -> Wanted | None:
        """What to measure until the next look; None for everything."""

    def over(self, repeats: int) -> bool:
        """Look at the first so many repeats; whether to stop."""


def run(
    simulator: Simulator,
    executor: "Executor | Client | str | None" = None,
    threads: int | None = None,
    *,
    output: Path | None = None,
    fresh: bool = False,
    rule: Rule | None = None,
    progress: Progress | None = None,
    about: Mapping[str, Any] | None = None,
) -> Results:
    """The results of an experiment; with an `output`, kept there as they come in.

    The same run with the same output goes on where it was stopped, and where it ended if it is
    to have more repeats; when it is complete, what is there is read and nothing is run. A run that
    `progress` stopped gives what is finished, and is not `complete`.

    Parameters
    ----------
    simulator
        The experiment, built.
    executor, threads
        Who works: see `benchmark`.
    output, fresh
        Where to keep results, and whether to start over whatever is there.
    rule
        Measure in looks, and only what the rule wants. Without one, `UntilSettled` says when to
        stop if nobody asked for a number of repeats.
    progress
        Who is told, and may ask to stop.
    about
        What else the manifest should say: the command, the population.
    """
    ex = simulator.experiment
    if output is not None and ex.keep == "estimates" and is_table(output):
        raise InvalidParameter("`keep_estimates` needs a folder: give one as `output`.")
    progress = progress or Progress()
    chosen = None if rule or ex.repeats_asked else UntilSettled(simulator)
    journal = None if output is None else open_journal(output, ex, fresh)
    if output is not None and journal is None:
        return _finished(simulator, output, progress)
    measured = Measured() if journal is None else journal.measured
    began = time.monotonic()
    try:
        if journal is not None and journal.damaged:
            progress.note(f"{journal.damaged} lines of {journal.path} are damaged: run again.")
        keep = measured.add if journal is None else journal.append
        last = measure(
            simulator, executor, threads, rule or chosen, progress, measured=measured, keep=keep
        )
        ended: dict[str, Any] = {"complete": last is not None, "elapsed": time.monotonic() - began}
        if chosen is not None:
            ended["looks"] = chosen.looks
        if last is not None:
            ended["repeats"] = last
        results = tabulated(simulator, measured, {**(about or {}), **ended})
        if ex.keep != "scores" and not measured.summed:
            progress.note(f"{output} holds no mean frequencies to go on from: they are left out.")
        if journal is not None and results.complete:
            journal.finish(results)
    finally:
        if journal is not None:
            journal.close()
    return results


def _finished(simulator: Simulator, output: Path, progress: Progress) -> Results:
    """What a finished output holds of this run: all, or the first repeats."""
    found = load_results(output)
    there, wanted = found.manifest["repeats"], simulator.experiment.repeats
    if wanted == there or not simulator.experiment.repeats_asked:
        progress.note(f"{output} holds this run already and is left alone; `fresh` runs it again.")
        return found
    lost = "" if found.means is None else ", without mean frequencies, which are known of all only"
    progress.note(
        f"{output} holds {there} repeats and is left alone: the first {wanted} are shown{lost}."
    )
    first, kept = pl.col("repeat") < wanted, found.estimates
    about = {name: value for name, value in found.manifest.items() if name != "looks"}
    return replace(
        found,
        table=found.table.filter(first),
        manifest={**about, "repeats": wanted, "repeats_asked": True},
        means=None,
        estimates=None if kept is None else kept.filter(first),
    )


def measure(
    simulator: Simulator,
    executor: "Executor | Client | str | None",
    threads: int | None,
    rule: Rule | None,
    progress: Progress,
    *,
    measured: Measured | None = None,
    keep: Callable[[Outcome], None] = lambda _: None,
) -> int | None:
    """Run what is left to run, look by look; the repeats at the last one, None if stopped."""
    measured = measured or Measured()
    repeats = simulator.experiment.repeats
    done, size = frozenset(measured.cells), len(simulator.cells) * repeats
    progress.expect(size, len(done))
    if done:
        progress.note(f"{len(done)} of {size} cells are done already; going on.")
    if rule is not None:
        for outcome in measured.outcomes:
            rule.hear(outcome)
    start = 0
    with workers(executor, threads, simulator, progress) as staff:
        for stop in [repeats] if rule is None else rule.looks:
            wanted = None if rule is None else rule.wanted()
            todo = schedule.blocks(simulator, start, stop, done, wanted)
            finished = 0
            with closing(schedule.outcomes(simulator, staff, todo, wanted, progress)) as running:
                for outcome in running:
                    keep(outcome)
                    finished += 1
                    if rule is not None:
                        rule.hear(outcome)
            if finished < len(todo):
                return None
            start = stop
            if rule is not None and rule.over(stop):
                break
    return start


def benchmark(
    data: object,
    epsilons: float | Iterable[float] = 1.0,
    protocols: Named | Sequence[Named] = "paper",
    methods: Named | Sequence[Named] = "paper",
    metrics: Named | Sequence[Named] = "l1",
    *,
    repeats: int | None = None,
    threads: int | None = None,
    seed: int = 0,
    simulate: Way = "exact",
    executor: "Executor | Client | str | None" = None,
    output: str | Path | None = None,
    fresh: bool = False,
    population: int | None = None,
    reference: Reference = "truth",
    keep_estimates: bool = False,
    plugins: Iterable[str | Path] = (),
    attacks: Named | Sequence[Named] = "none",
    fake_users: float | str | Sequence[float | str] = 0,
    targets: str | Sequence[str] = "top:10",
    progress: Progress | None = None,
) -> Results:
    """Run every dataset × ε × attack × protocol × method × metric `repeats` times.

    The numbers depend on the data, the grid's own cells and the seed: not on the threads, the
    executor, or what else is in the grid.

    Parameters
    ----------
    data
        A dataset, a path, a spec such as ``"zipf(s=1.2, d=128, n=1_000_000)"``, an array, or a
        list of datasets.
    epsilons, protocols, methods, metrics
        One or several; names, specs or classes, ``"paper"``, ``"all"``
        or, for protocols, ``"literature"``: also those that another one beats.
    repeats
        How many. If not given, 10, 20, 40, … until what is best is settled, or to a ceiling that
        follows from the data and the grid.
    seed
        Where all randomness starts.
    simulate
        ``"exact"`` draws the tally from its law where the protocol knows it, ``"users"`` perturbs
        every user's value.
    reference
        What metrics compare with: the ``"truth"``, or the ``"raw"`` estimate.
    plugins
        Files that define more protocols, methods and metrics.
    threads
        How many; all cores if not given.
    executor
        ``"threads"``, ``"processes"``, ``"dask"``, the address of a Dask scheduler, a Dask client,
        or anything with the interface of `concurrent.futures`.
    output, fresh
        Keep results in this file or folder as they come in: the same call goes on where it was
        interrupted, and one with more repeats where it ended, unless it is to start over. With
        fewer repeats the first ones are read and nothing is written.
    population
        Answer for this many users, distributed as in the data.
    keep_estimates
        Keep the frequencies of every repeat, for `Results.score`.
    attacks
        What fake users do, such as ``"mga"``, beside the same collection without them.
    fake_users
        How many they are: a number, or a share of all reports such as ``"1%"``; several of them
        one after the other.
    targets
        What they want to raise: ``"top:10"``, ``"bottom:10"``, ``"random:10"``, or labels.
    progress
        Who is told how the work advances; by default a bar at a terminal or in a notebook.
    """
    known = isinstance(progress, Progress | None)
    require(known, "`progress`", "is a Progress, or None", progress)
    for name, flag in (("fresh", fresh), ("keep_estimates", keep_estimates)):
        require(isinstance(flag, bool), f"`{name}`", "is True or False", flag)
    files = [as_path(path, "a plug-in") for path in several(plugins, "`plugins`")]
    datasets = load_all(data, plugins=files)
    if population is not None:
        datasets = [one.scaled(population) for one in datasets]
    simulator = prepared(
        experiment(
            datasets, epsilons, protocols, methods, metrics, repeats=repeats, seed=seed,
            simulate=simulate, reference=reference,
            keep="estimates" if keep_estimates else "means", plugins=files,
            attacks=attacks, fake_users=fake_users, targets=targets,
        )
    )  # fmt: skip
    with progress or Bar() as shown:
        path = None if output is None else as_path(output, "a file or a folder")
        about = {} if population is None else {"population": as_python(population)}
        return run(
            simulator, executor, threads, output=path, fresh=fresh, progress=shown, about=about
        )
