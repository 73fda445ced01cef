"""Run many lines by hand: how many, and from which seed on."""

import sys

from tests.cli.fuzzing.running import fuzz

if __name__ == "__main__":
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    failures = 0
    for found in fuzz(range(first, first + count)):
        failures += 1
        print(f"--- seed {found.seed}: {found.line!r}\n{found.why}", flush=True)
    print(f"{failures} failures in {count} lines")
    sys.exit(failures > 0)
