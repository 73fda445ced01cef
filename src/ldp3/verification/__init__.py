"""The contract as a library: what every oracle must do, checked with known false-alarm rates."""

from ldp3.verification.base import ALPHA, Finding
from ldp3.verification.oracles import verify_oracle

__all__ = ["ALPHA", "Finding", "verify_oracle"]
