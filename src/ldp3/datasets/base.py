"""What a dataset with a name of its own promises."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import ModuleType
from typing import ClassVar

from ldp3 import specs
from ldp3.people import Dataset


@dataclass(frozen=True)
class Source(ABC):
    """A dataset with a name of its own; its fields are its parameters.

    A source that people can name lies in this folder, or in a plug-in module.
    """

    aliases: ClassVar[tuple[str, ...]] = ()
    title: ClassVar[str] = ""  # as papers write it, where that is not the name of the class

    @abstractmethod
    def load(self) -> Dataset:
        """The data, the same every time."""


def build_source(spec: object, *plugins: ModuleType) -> Source:
    """The source that `spec` means: ``"zipf(s=1.1)"``, a class; a source as it is."""
    return specs.build(Source, spec, *plugins)
