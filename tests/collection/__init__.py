"""Collections: plans, clients, servers, and what travels between them."""

from dataclasses import replace

from ldp3 import specs
from ldp3.domain import Domain, as_domain
from ldp3.kinds import look_up
from ldp3.protocols.base import FrequencyOracle


def suited(spec: str, domain: object) -> Domain:
    """The domain; in order, without `other`, for a protocol that needs it."""
    values = as_domain(domain)
    if not look_up(FrequencyOracle, specs.parse(spec)[0]).needs_order:
        return values
    return replace(values, other=None, ordered=True)
