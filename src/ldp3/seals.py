"""Lines with a seal in front, so that damage shows, for files that only grow."""

from hashlib import blake2b


def sealed(text: bytes) -> bytes:
    """A line: the seal, a blank, the text.

    >>> sealed(b"text")
    b'd7f35fa228381a1c text\\n'
    """
    return _seal(text) + b" " + text + b"\n"


def unsealed(line: bytes) -> bytes | None:
    """The text of a line, None if it is damaged; how the line ends does not matter.

    >>> unsealed(sealed(b"text")), unsealed(sealed(b"text").replace(b"x", b"s"))
    (b'text', None)
    """
    seal, _, text = line.strip().partition(b" ")
    return text if seal == _seal(text) else None


def mended(line: bytes) -> bytes | None:
    """The text of a line in which one bit was flipped; None if more happened to it.

    >>> mended(sealed(b"text").replace(b"x", b"y"))
    b'text'
    """
    for place in range(len(line)):
        for bit in range(8):
            flipped = bytearray(line)
            flipped[place] ^= 1 << bit
            if (text := unsealed(bytes(flipped))) is not None:
                return text
    return None


def _seal(text: bytes) -> bytes:
    return blake2b(text, digest_size=8).hexdigest().encode()
