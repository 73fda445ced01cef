"""Speed, never part of the tests: `python -m benchmarks`."""
