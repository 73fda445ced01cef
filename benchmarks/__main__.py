"""`python -m benchmarks [SECTION…]`: measure, print the table, write JSON and the docs' figures.

Each row runs in a process of its own, so that its peak memory is its own. Everything that matters
is a ratio of two things measured in the same process, so runs on different machines compare.
"""

import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import benchmarks.engine
import benchmarks.oracles
import benchmarks.start
import benchmarks.users
import benchmarks.yardstick

PAPER = benchmarks.engine.PAPER
HERE = Path(__file__).parent
FIGURES = HERE.parent / "docs" / "figures"

SECTIONS: dict[str, list[str]] = {
    "users": [
        *(f"benchmarks.users.measure({name!r}, 128)" for name in PAPER),
        *(f"benchmarks.users.measure({name!r}, 1024, peers=False)" for name in PAPER),
    ],
    "yardstick": [f"benchmarks.yardstick.measure({d})" for d in (128, 1024)],
    "threads": [f"benchmarks.engine.in_users_mode({name!r})" for name in PAPER],
    "exact": [
        "benchmarks.engine.experiment()",
        "benchmarks.engine.experiment(n=10_000)",
        "benchmarks.engine.experiment(n=10**9)",
        "benchmarks.engine.experiment(repeats=1000)",
        "benchmarks.engine.exact_subset_selection(1024)",
        "benchmarks.engine.exact_subset_selection(4096)",
    ],
    "oracles": [f"benchmarks.oracles.measure({d})" for d in benchmarks.oracles.SIZES],
    "million": [
        "benchmarks.oracles.million('pgr')",
        "benchmarks.oracles.million('hrr')",
        "benchmarks.oracles.million('hr')",
        "benchmarks.oracles.million('olh', n=20_000)",  # a part: the rest is as slow
        "benchmarks.users.measure('pgr', 1024, peers=False)",
        "benchmarks.users.measure('hrr', 1024, peers=False)",
    ],
    "commands": [
        "benchmarks.start.one_kernel()",
        "benchmarks.start.command('--help')",
        "benchmarks.start.command('run', '-r', '10')",
        "benchmarks.start.command('run')",
        "benchmarks.start.command('list')",
        "benchmarks.start.first('run', '-r', '10')",
        "benchmarks.start.first('run')",
    ],
    "growth": [
        *(
            f"benchmarks.engine.growth({name!r}, 128, {n})"
            for name in PAPER
            for n in (10_000, 100_000, 1_000_000, 10_000_000)
        ),
        *(
            f"benchmarks.engine.growth({name!r}, {d}, 65_536)"
            for name in PAPER
            for d in (16, 64, 256, 1024, 4096, 16384)
        ),
    ],
}


def measure(call: str) -> dict[str, Any]:
    """One row, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--row", call],
        capture_output=True, text=True, check=False, cwd=HERE.parent,
    )  # fmt: skip
    if done.returncode:
        return {"call": call, "failed": done.stderr.strip().splitlines()[-1]}
    row: dict[str, Any] = json.loads(done.stdout)
    return row


def show(row: dict[str, Any]) -> str:
    def text(value: object) -> str:
        if isinstance(value, list):
            deep = any(isinstance(item, dict) for item in value)
            return "\n    ".join(["", *map(text, value)]) if deep else "/".join(map(text, value))
        if isinstance(value, dict):
            return ", ".join(f"{k} {text(v)}" for k, v in value.items())
        return f"{value:,.3g}" if isinstance(value, float) else str(value)

    return "  ".join(f"{key}={text(value)}" for key, value in row.items())


def processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    wide = "AVX-512" if any("avx512bw" in line for line in lines) else "no AVX-512"
    return f"{names[0] if names else platform.processor()} ({wide}, {len(names)} cores)"


def main(sections: list[str]) -> None:
    unknown = set(sections) - set(SECTIONS)
    if unknown:
        sys.exit(f"No section is called {unknown.pop()!r}: {', '.join(SECTIONS)}.")
    target = HERE / "results.json"
    results = json.loads(target.read_text()) if target.exists() else {}
    results["machine"] = {"processor": processor(), "python": platform.python_version()}
    print(processor())
    for section in sections or SECTIONS:
        print(f"\n{section}")
        results[section] = []
        for call in SECTIONS[section]:
            row = measure(call)
            results[section].append(row)
            print("  " + show(row), flush=True)
        target.write_text(json.dumps(results, indent=1) + "\n")
    from benchmarks import figures

    if results.get("oracles"):
        benchmarks.oracles.write_page(results["oracles"])
    figures.draw(results, FIGURES)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--row"]:
        print(json.dumps(eval(sys.argv[2])))  # a call from SECTIONS, never a person's text
    else:
        main(sys.argv[1:])
