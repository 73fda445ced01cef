"""The contract as a library: what protocols, methods and metrics must do, checked."""

from ldp3.verification.base import ALPHA, Finding, Verdict
from ldp3.verification.command import verify
from ldp3.verification.oracles import oracle_findings

__all__ = ["ALPHA", "Finding", "Verdict", "oracle_findings", "verify"]
