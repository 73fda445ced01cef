"""Plug-in files to write down and load."""

from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples" / "plugins"

PROTOCOL = """
from dataclasses import dataclass
import numpy as np
from ldp3 import Estimate, FrequencyOracle, Noise
from ldp3.errors import require_values

@dataclass(frozen=True)
class Mine(FrequencyOracle):
    def perturb(self, values, rng):
        codes = require_values(self, values, self.d)
        return np.eye(self.d)[codes] + rng.normal(0, 1, (len(codes), self.d))

    def estimate(self, tally):
        return Estimate(tally.total / tally.n, tally, Noise(1 / tally.n))
"""

SLOW = """
import time
from dataclasses import dataclass
from pathlib import Path
from ldp3.metrics.base import Metric

@dataclass(frozen=True)
class Slow(Metric):
    def compare(self, truth, frequencies):
        Path(__file__).with_name("at work").touch()
        time.sleep({seconds})
        return 1.0
"""

PURE_PYTHON = """
from dataclasses import dataclass
from math import exp
import numpy as np
from ldp3 import PureOracle
from ldp3.errors import require_values

@dataclass(frozen=True)
class Mine(PureOracle):
    @property
    def p(self):
        return exp(self.epsilon) / (exp(self.epsilon) + self.d - 1)

    @property
    def q(self):
        return (1 - self.p) / (self.d - 1)

    def perturb(self, values, rng):
        return np.array([self.one(int(v), rng) for v in require_values(self, values, self.d)])

    def one(self, value, rng):
        if rng.random() < self.p:
            return value
        lie = int(rng.integers(self.d - 1))
        return lie + (lie >= value)

    def supports(self, reports, value):
        return reports == value
"""

DATASET = """
from dataclasses import dataclass
import numpy as np
from ldp3 import Dataset, Labels, Source

@dataclass(frozen=True)
class Dice(Source):
    n: int = 600

    def load(self):
        return Dataset("dice", Labels(range(1, 7)), np.full(6, self.n // 6))
"""


def written(folder: Path, source: str, name: str = "mine.py") -> str:
    """The path of a file in `folder` that holds `source`."""
    (folder / name).write_text(source)
    return str(folder / name)
