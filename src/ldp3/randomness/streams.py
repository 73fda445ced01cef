"""Seeded randomness for simulation: an independent generator for every key."""

from hashlib import blake2b

import numpy as np

from ldp3.errors import InvalidParameter, short, whole


def stream(seed: int, *key: str | int) -> np.random.Generator:
    """An independent generator for every key: the same today, on any machine and any thread.

    >>> int(stream(0, "oue", 1).integers(100)) == int(stream(0, "oue", 1).integers(100))
    True
    """
    if not whole(seed, 0):
        raise InvalidParameter(f"seed must be an integer of at least 0, got {short(seed)}.")
    for part in key:
        if not isinstance(
            part, str | int | float | np.integer
        ):  # the text of another thing may be its address
            raise InvalidParameter(f"A key is made of texts and numbers, got {short(part)}.")
    parts = "".join(f"{type(part).__name__}:{len(str(part))}:{part};" for part in (seed, *key))
    digest = blake2b(parts.encode(), digest_size=32).digest()
    return np.random.Generator(np.random.PCG64DXSM(int.from_bytes(digest, "little")))
