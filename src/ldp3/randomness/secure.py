"""Randomness for the reports of real people."""

import os
from typing import NoReturn, SupportsIndex
from weakref import WeakSet

import numpy as np


class SecureGenerator(np.random.Generator):
    """ChaCha20 keyed from the operating system: for reports of real people.

    It cannot be seeded, pickled or copied, and a forked process gets a key of its own.
    """

    def __init__(self) -> None:
        self.rekey()
        _alive.add(self)

    def rekey(self) -> None:
        """Forget the stream and start another one.

        The lock is a new one too: in a forked process, the old one may be held by a thread that
        does not exist there.
        """
        from randomgen import ChaCha

        super().__init__(ChaCha(key=int.from_bytes(os.urandom(32), "little"), rounds=20))

    def spawn(self, n_children: int) -> list[np.random.Generator]:
        """Independent secure generators."""
        return [SecureGenerator() for _ in range(n_children)]

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("A secure generator cannot be pickled or copied: make a new one.")


_alive: "WeakSet[SecureGenerator]" = WeakSet()


def _rekey_all() -> None:
    for generator in list(_alive):
        generator.rekey()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_rekey_all)


def secure() -> SecureGenerator:
    """A generator for reports of real people: ChaCha20, keyed by the operating system.

    It cannot be seeded, pickled or copied, and a forked process gets a key of its own.
    """
    return SecureGenerator()
