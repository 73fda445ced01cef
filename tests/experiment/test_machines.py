"""The same table whatever the processor can do, and a run that goes on on another one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__  # type: ignore[import-not-found]

import ldp3

PLAIN = {"NPY_DISABLE_CPU_FEATURES": " ".join(f for f in __cpu_dispatch__ if __cpu_features__[f])}
RUN = """
import sys
import ldp3
from ldp3.progress import Progress

class Stop(Progress):
    left = int(sys.argv[2])

    def tick(self, cells):
        self.left -= cells

    def stopped(self):
        return self.left <= 0

specs = "flights", "zipf(d=300, n=2_000_000_000)", "gaussian(d=64, n=10_000)"
data = [ldp3.load(spec) for spec in specs]
done = ldp3.benchmark(
    data, [0.5, 4], ["grr", "olh"], ["power", "power_ns", "norm_sub"],
    ["l1", "kl", "js", "emd", "ndcg", "l2"], repeats=4, threads=1, output=sys.argv[1],
    progress=Stop(),
)
print(done.complete)
"""


def run(output: Path, cells: int, **more: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(output), str(cells)],
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(
    not PLAIN["NPY_DISABLE_CPU_FEATURES"], reason="NumPy uses nothing of this processor"
)
@pytest.mark.slow
def test_a_run_goes_on_on_another_processor_and_gives_the_same_table(tmp_path: Path) -> None:
    here, there, both = (tmp_path / f"{name}.parquet" for name in ("here", "there", "both"))
    assert run(here, 1_000) == "True"
    assert run(there, 1_000, **PLAIN) == "True"
    assert ldp3.load_results(here).table.equals(ldp3.load_results(there).table)
    assert run(both, 20) == "False"
    assert run(both, 1_000, **PLAIN) == "True"
    assert ldp3.load_results(both).table.equals(ldp3.load_results(here).table)
