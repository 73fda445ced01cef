"""Several attributes: error over the limit of every mechanism, and beside multi-freq-ldpy.

    python -m benchmarks.attributes [--repeats 40] [--people 100000]

Tables come with statsmodels: `fair` (7 columns of a survey on marriages), `anes96` (7 of an
election study) and `randhie` (7 of an experiment with health insurance). In each repeat people are
drawn from their rows with replacement, and tables are compared with those of all rows. The first
output is the root mean square error over cells, tables weighted alike, divided by what no ε-LDP
mechanism goes below with unbiased estimates of evenly spread data. Below 1 is possible: methods are
biased, and data are not spread evenly. `±` is one standard error of the mean of the three.

The second holds multi-freq-ldpy's SMP and SPL against ours, ε = 1: the same people, one-way tables,
processor time of clients and server together. It always clips and rescales, so ours do (norm_sub).
"""

import argparse
import time
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

import ldp3
from ldp3.arrays import FloatArray, IntArray
from ldp3.protocols.base import build_oracle
from ldp3.schemes import shares
from ldp3.schemes.attributes import RecordScheme
from ldp3.tables import Attributes

EPSILONS = 0.5, 1.0, 2.0, 4.0
COLUMNS = {
    "fair": "rate_marriage age yrs_married children religious educ occupation",
    "anes96": "TVnews selfLR ClinLR DoleLR PID educ vote",
    "randhie": "lncoins idp mdvis physlm hlthg hlthf hlthp",
}
MOST = 10  # larger numbers are taken as this one
ROWS = [  # ways, scheme, method
    (1, "spl", "none"),
    (1, "smp", "none"),
    (1, "groups", "none"),
    (1, "groups", "interactions"),
    (2, "joint", "none"),
    (2, "pairs", "none"),
    (2, "pairs", "norm_sub"),
    (2, "groups", "none"),
    (2, "groups", "interactions"),
]


def table(name: str) -> tuple[IntArray, tuple[int, ...]]:
    """The rows of a table as codes, and the number of values of each column."""
    import statsmodels.api as sm

    data = getattr(sm.datasets, name).load_pandas().data[COLUMNS[name].split()].copy()
    if name == "randhie":
        data["mdvis"] = data["mdvis"].clip(upper=MOST)
        data["physlm"] = (data["physlm"] > 0).astype(int)
    columns = [np.unique(data[c].to_numpy(), return_inverse=True)[1] for c in data]
    return np.stack(columns, axis=1), tuple(int(c.max()) + 1 for c in columns)


def truths(rows: IntArray, sizes: tuple[int, ...], ways: int) -> dict[Attributes, FloatArray]:
    found = {}
    for own in shares.all_tables(ways, len(sizes)):
        shape = [sizes[a] for a in own]
        codes = np.ravel_multi_index(tuple(rows[:, own].T), shape)
        found[own] = np.bincount(codes, minlength=prod(shape)) / len(rows)
    return found


def scheme_of(spec: str, epsilon: float, sizes: tuple[int, ...], ways: int) -> RecordScheme:
    named = f"{spec}(targets={ways})"
    made = build_oracle(named, epsilon=epsilon, d=prod(sizes), sizes=sizes)
    assert isinstance(made, RecordScheme)
    return made


def over_the_limit(people: int, repeats: int) -> None:
    """The first output."""
    data = {name: table(name) for name in COLUMNS}
    print(f"RMSE over the limit, n = {people:,}, geometric mean of {', '.join(data)}\n")
    print("| tables | scheme | method | " + " | ".join(f"ε = {e:g}" for e in EPSILONS) + " |")
    print("|---|---|---|" + "---|" * len(EPSILONS))
    for ways, spec, method in ROWS:
        cells = []
        for epsilon in EPSILONS:
            logs = [one(data[name], ways, spec, method, epsilon, people, repeats) for name in data]
            mean, error = np.mean([m for m, _ in logs]), np.mean([e**2 for _, e in logs])
            cells.append(f"{np.exp(mean):.2f} ± {np.exp(mean) * (error / len(logs)) ** 0.5:.2f}")
        print(f"| {ways}-way | `{spec}` | `{method}` | {' | '.join(cells)} |", flush=True)


def one(
    data: tuple[IntArray, tuple[int, ...]],
    ways: int,
    spec: str,
    method: str,
    epsilon: float,
    people: int,
    repeats: int,
) -> tuple[float, float]:
    """The logarithm of RMSE over the limit on one table, and its standard error."""
    rows, sizes = data
    scheme, post = scheme_of(spec, epsilon, sizes, ways), ldp3.postprocess(method)
    true, squares = truths(rows, sizes, ways), []
    distinct, held = np.unique(rows, axis=0, return_counts=True)
    for repeat in range(repeats):
        rng = ldp3.stream(repeat, "attributes", spec, str(epsilon))
        counts = rng.multinomial(people, held / held.sum())
        made = scheme.tables(scheme.simulate_records(distinct, counts, rng))
        found = post(made)
        square = [np.mean((found[_key(own)] - f) ** 2) for own, f in true.items()]
        squares.append(float(np.mean(square)))
    load = {own: 1 / (len(true) * f.size) for own, f in true.items()}
    least = shares.limit(epsilon, sizes, load) / people
    mean, error = np.mean(squares), np.std(squares) / len(squares) ** 0.5
    return 0.5 * float(np.log(mean / least)), 0.5 * float(error / mean)


def _key(own: Attributes) -> Any:
    return own[0] if len(own) == 1 else own


def beside(people: int, repeats: int) -> None:
    """The second output."""
    from multi_freq_ldpy.mdim_freq_est import SMP_solution as Smp
    from multi_freq_ldpy.mdim_freq_est import SPL_solution as Spl

    rows, sizes = table("fair")
    k, lengths, epsilon = len(sizes), list(sizes), 1.0
    true = list(truths(rows, sizes, 1).values())
    peers: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], str]] = {
        "SMP[GRR]": (
            lambda r: Smp.SMP_GRR_Client(r, lengths, k, epsilon),
            lambda R: Smp.SMP_GRR_Aggregator_MI(R, lengths, k, epsilon),
            "smp",
        ),
        "SMP[SS]": (
            lambda r: Smp.SMP_SS_Client(r, lengths, k, epsilon),
            lambda R: Smp.SMP_SS_Aggregator_MI(R, lengths, k, epsilon),
            "smp",
        ),
        "SPL[SS]": (
            lambda r: Spl.SPL_SS_Client(r, lengths, k, epsilon),
            lambda R: Spl.SPL_SS_Aggregator_MI(R, lengths, k, epsilon),
            "spl",
        ),
    }
    print(f"\nBeside multi-freq-ldpy 0.2.5, `fair`, one-way, n = {people:,}, ε = {epsilon:g}\n")
    print("| theirs | ours | error, theirs / ours | µs a person, theirs | ours | ratio |")
    print("|---|---|---|---|---|---|")
    post = ldp3.postprocess("norm_sub")
    for name, (client, server, spec) in peers.items():
        schemes = [scheme_of(own, epsilon, sizes, 1) for own in (spec, "groups")]
        server([client(record) for record in rows[:100].tolist()])  # compile
        for scheme in schemes:
            post(scheme.tables(scheme.aggregate(scheme.perturb(np.arange(100), ldp3.stream(0)))))
        errors, times = np.zeros(3), np.zeros(3)
        for repeat in range(repeats):
            rng = ldp3.stream(repeat, "beside", name)
            np.random.seed(repeat)  # noqa: NPY002 (the peer knows no other way)
            some = rows[rng.integers(len(rows), size=people)]
            records, codes = some.tolist(), np.ravel_multi_index(tuple(some.T), sizes)
            began = time.process_time()
            found = [server([client(record) for record in records])]
            times[0] += time.process_time() - began
            for i, scheme in enumerate(schemes, 1):
                began = time.process_time()
                tally = scheme.aggregate(scheme.perturb(codes, rng))
                found.append(list(post(scheme.tables(tally)).values()))
                times[i] += time.process_time() - began
            for i, tables in enumerate(found):
                errors[i] += sum(np.mean((f - t) ** 2) for f, t in zip(tables, true, strict=True))
        each, rms = 1e6 * times / people / repeats, errors**0.5
        for i, own in enumerate((spec, "groups"), 1):
            print(
                f"| {name} | `{own}` | {rms[0] / rms[i]:.2f} | {each[0]:.1f} | {each[i]:.2f} | "
                f"{each[0] / each[i]:.0f} × |",
                flush=True,
            )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attributes", description=__doc__)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--people", type=int, default=100_000)
    given = parser.parse_args(arguments)
    over_the_limit(given.people, given.repeats)
    beside(given.people // 5, given.repeats)


if __name__ == "__main__":
    main()
