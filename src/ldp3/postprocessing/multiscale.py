"""Multiscale: posterior means under a prior of atoms and tents at all scales."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.postprocessing.base import PostProcessor, fill
from ldp3.postprocessing.scales import Posterior
from ldp3.types import Estimate

CAP = 2.0  # nobody pays more than twice the mean of what makes the sum one


@final
@dataclass(frozen=True)
class Multiscale(PostProcessor):
    aliases: ClassVar[tuple[str, ...]] = ("multi-scale",)
    distribution: ClassVar[bool] = True

    def refine(self, estimate: Estimate) -> FloatArray:
        mean, variance = Posterior.of(estimate).moments()
        spread = np.sqrt(variance)
        return fill(mean, np.minimum(spread, CAP * spread.mean()))
