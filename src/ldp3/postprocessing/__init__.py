"""Post-processing: from an estimate to better frequencies, one file per method or family."""

from ldp3.kinds import exports

__getattr__, __dir__ = exports(__name__)
