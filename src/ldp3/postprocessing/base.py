"""What a post-processing method promises."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from ldp3.types import Estimate, FloatArray, Oracle


@dataclass(frozen=True)
class PostProcessor(ABC):
    """From an estimate to better frequencies. It sees what the server sees, never the truth."""

    aliases: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def __call__(self, estimate: Estimate) -> FloatArray:
        """Frequencies of shape `(d,)`; the estimate is left untouched."""

    def applies(self, oracle: Oracle) -> bool:  # noqa: ARG002
        """Whether the method can serve this oracle's estimates."""
        return True
