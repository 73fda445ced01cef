"""What a class says of itself: the first line of its docstring, and what it comes from."""

import inspect
import re


def summary(cls: type) -> str:
    """The first line as plain text, up to a formula: those are for the documentation.

    >>> from ldp3.protocols.grr import GRR
    >>> summary(GRR)
    'Generalised randomised response, also called k-RR or direct encoding'
    """
    first = _doc(cls).partition("\n")[0]
    return re.sub(r"\$(\w+)\$", r"\1", first).partition("$")[0].rstrip(" :.,")


def reference(cls: type) -> str:
    """The *References* on one line, or nothing.

    >>> from ldp3.protocols.grr import GRR
    >>> reference(GRR)
    'Kairouz, Bonawitz, Ramage. *Discrete distribution estimation under local privacy.* ICML 2016.'
    """
    section = _doc(cls).partition("References\n----------\n")[2]
    return " ".join(section.partition("\n\n")[0].split())


def _doc(cls: type) -> str:
    return inspect.getdoc(cls) or ""
