"""Seals, so that damage shows, and lines with a seal in front, for files that only grow."""

from hashlib import blake2b


def seal(text: bytes) -> bytes:
    """Sixteen digits that another text has by chance in one of 2⁶⁴ cases.

    >>> seal(b"text")
    b'd7f35fa228381a1c'
    """
    return blake2b(text, digest_size=8).hexdigest().encode()


def sealed(text: bytes) -> bytes:
    """A line: the seal, a blank, the text.

    >>> sealed(b"text")
    b'd7f35fa228381a1c text\\n'
    """
    return seal(text) + b" " + text + b"\n"


def unsealed(line: bytes) -> bytes | None:
    """The text of a line, None if it is damaged; how the line ends does not matter.

    >>> unsealed(sealed(b"text")), unsealed(sealed(b"text").replace(b"x", b"s"))
    (b'text', None)
    """
    before, _, text = line.strip().partition(b" ")
    return text if before == seal(text) else None


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
