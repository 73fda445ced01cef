"""False alarms of `verify` on the built-in protocols, over budgets, domains and seeds.

    python -m benchmarks.false_alarms [--draws 1000] [--seeds 3] [--protocols grr oue …]

Prints every fault found (there should be none), how many checks were made, how many looked
suspicious at first, and how many of these the docs allow.
"""

import argparse
from collections.abc import Sequence

from scipy import stats

import ldp3
from ldp3.errors import InvalidParameter
from ldp3.kinds import find
from ldp3.protocols.base import FrequencyOracle
from ldp3.verification import findings
from ldp3.verification.base import ALPHA
from ldp3.verification.cases import SUSPICIOUS

ORACLES = [name for name, cls in find(FrequencyOracle).items() if not cls.needs_records]
EPSILONS = 0.05, 0.5, 1.0, 2.0, 4.0, 6.0, 8.5, 11.0, 14.0, 17.0, 20.0
DOMAINS = 2, 5, 17, 70


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--protocols", nargs="*", default=ORACLES)
    given = parser.parse_args(arguments)
    for name in given.protocols:
        settings = checks = suspicious = faults = 0
        for epsilon in EPSILONS:
            for d in DOMAINS:
                try:
                    oracle = ldp3.oracle(name, epsilon=epsilon, d=d)
                except InvalidParameter:
                    continue
                for seed in range(given.seeds):
                    made = list(findings(oracle, seed=seed, draws=given.draws))
                    settings += 1
                    checks += sum(f.alpha > 0 for f in made)
                    suspicious += sum("looked at again" in f.evidence for f in made)
                    for fault in (f for f in made if not f.passed):
                        faults += 1
                        print(f"{oracle}, seed {seed}: {fault.check}: {fault.evidence}", flush=True)
        allowed = int(stats.binom.isf(ALPHA, checks, SUSPICIOUS))
        print(
            f"{name}: {faults} faults in {checks} checks of {settings} settings; "
            f"{suspicious} looked suspicious at first, {allowed} allowed",
            flush=True,
        )


if __name__ == "__main__":
    main()
