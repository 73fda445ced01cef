"""Where randomness comes from, and exact probabilities to compare it with.

Simulation uses `stream`: seeded, independent for every key. Reports of real people use `secure`.
Nothing else makes generators. Kernels take a 256-bit key from the generator they are given and
expand it with ChaCha20, so that simulated and real reports run the same code.
"""

import os
from decimal import Context, Decimal
from fractions import Fraction
from hashlib import blake2b
from math import ceil, floor
from typing import NoReturn, SupportsIndex
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from ldp3.errors import InvalidParameter
from ldp3.kernels import compiled_in

WORDS = 2**64  # probabilities on the client are whole numbers of these
_DIGITS = Context(prec=60)


def stream(seed: int, *key: str | int) -> np.random.Generator:
    """An independent generator for every key: the same today, on any machine and any thread.

    >>> int(stream(0, "oue", 1).integers(100)) == int(stream(0, "oue", 1).integers(100))
    True
    """
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise InvalidParameter(f"seed must be an integer of at least 0, got {seed!r}.")
    parts = "".join(f"{type(part).__name__}:{len(str(part))}:{part};" for part in (seed, *key))
    digest = blake2b(parts.encode(), digest_size=32).digest()
    return np.random.Generator(np.random.PCG64DXSM(int.from_bytes(digest, "little")))


class SecureGenerator(np.random.Generator):
    """ChaCha20 keyed from the operating system: for reports of real people.

    It cannot be seeded, pickled or copied, and a forked process gets a key of its own.
    """

    def __init__(self) -> None:
        from randomgen import ChaCha

        super().__init__(ChaCha(key=int.from_bytes(os.urandom(32), "little"), rounds=20))
        _alive.add(self)

    def rekey(self) -> None:
        """Forget the stream and start another one."""
        from randomgen import ChaCha

        fresh = ChaCha(key=int.from_bytes(os.urandom(32), "little"), rounds=20)
        self.bit_generator.state = fresh.state

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
    """A generator for reports of real people; see `SecureGenerator`."""
    return SecureGenerator()


def key_of(rng: np.random.Generator) -> NDArray[np.uint32]:
    """A 256-bit key for a kernel, drawn from `rng`."""
    return np.frombuffer(rng.bytes(32), dtype="<u4").astype(np.uint32)


def words(rng: np.random.Generator, size: int) -> NDArray[np.uint64]:
    """`size` uniform 64-bit words, expanded from a key that `rng` gives."""
    blocks = np.empty((16, -(-size // 8)), dtype=np.uint32)
    expand(key_of(rng), np.uint64(0), blocks)
    return blocks.reshape(-1).view(np.uint64)[:size]


@compiled_in("ldp3.chacha")
def expand(key: NDArray[np.uint32], counter: np.uint64, out: NDArray[np.uint32]) -> None:
    """Fill `out`, shape `(16, blocks)`, with the ChaCha20 blocks `counter`, `counter + 1`, …"""


def exp(epsilon: float) -> Fraction:
    """e^ε to 60 digits, rounded down by less than 1e-58 of itself."""
    power = Decimal(epsilon).exp(_DIGITS)
    return Fraction(power) * (1 - Fraction(1, 10**58))


def floor_threshold(probability: Fraction) -> int:
    """Largest whole number of 2⁻⁶⁴ not above `probability`, kept off 0 and 1."""
    return min(max(floor(probability * WORDS), 1), WORDS - 1)


def ceil_threshold(probability: Fraction) -> int:
    """Smallest whole number of 2⁻⁶⁴ not below `probability`, kept off 0 and 1."""
    return min(max(ceil(probability * WORDS), 1), WORDS - 1)
