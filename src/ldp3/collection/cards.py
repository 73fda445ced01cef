"""What a notebook shows of a collection, its clients and its server."""

from typing import TYPE_CHECKING

from ldp3.budget import odds
from ldp3.display import card, of_estimate
from ldp3.results import names

if TYPE_CHECKING:
    from ldp3.collection.aggregator import Aggregator
    from ldp3.collection.client import Client
    from ldp3.collection.plan import Plan

LABELS = 8  # named, at most


def of_plan(plan: "Plan") -> str:
    """The question, how it is asked, and what one answer costs."""
    labels = ", ".join(plan.label(code) for code in range(min(plan.d, LABELS)))
    facts = [
        f"Values: {labels}{', …' if plan.d > LABELS else ''}",
        f"Others are {'refused' if plan.other is None else f'counted as {plan.other}'}",
        f"Method: {names.method(plan.method)}",
        f"A report has {plan.report_bytes:,} bytes; {odds(plan.epsilon)}",
        f"Identifier: {plan.identifier}",
    ]
    return card(f"Plan: {plan.name}", _facts(plan), remarks=facts)


def of_client(client: "Client") -> str:
    """What it reports on, and what it has spent."""
    spent = "No memo: every report is a fresh one and spends ε again"
    if client.memo is not None:
        spent = f"Spent so far: ε = {client.spent:g}, by its memo"
    facts = [*_facts(client.plan), f"{client.plan.report_bytes:,} bytes per report"]
    return card(f"Client: {client.plan.name}", facts, remarks=[spent])


def of_aggregator(server: "Aggregator") -> str:
    """What was counted so far, and what it says."""
    refused = [f"Left out: {count:,} {reason}" for reason, count in server.refused.items()]
    name = f"Aggregator: {server.plan.name}"
    if not server.n:
        return card(name, [*_facts(server.plan), "no reports yet", *refused])
    return of_estimate(
        server.estimate(), name, server.plan.labels, [" · ".join(_facts(server.plan)), *refused]
    )


def _facts(plan: "Plan") -> list[str]:
    return [names.protocol(plan.protocol), f"ε = {plan.epsilon:g}", f"{plan.d:,} values"]
