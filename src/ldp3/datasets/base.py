"""What a dataset with a name of its own promises."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from ldp3.types import Dataset


@dataclass(frozen=True)
class Source(ABC):
    """A dataset with a name of its own; its fields are its parameters.

    A source that people can name lies in this folder, or in a plug-in module.
    """

    aliases: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def load(self) -> Dataset:
        """The data, the same every time."""
