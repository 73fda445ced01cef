"""The contract as a library: what protocols, methods, metrics and attacks must do, checked."""

from ldp3.verification.base import ALPHA, Examination, Finding
from ldp3.verification.verify import SETTINGS, findings

__all__ = ["ALPHA", "SETTINGS", "Examination", "Finding", "findings"]
