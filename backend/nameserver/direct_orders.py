"""Enter in the audit what stock's tools order, which acts at once and past the engine (D19)."""

from collections.abc import Mapping
from typing import Any

from backend.domain.operation import Author
from backend.services.access import audit
from backend.services.access.audit import AuditedAction
from backend.services.controller.group_changes import Controller

UNNAMED = "unnamed"
"""Stock's tools do not say who runs them."""


async def enter_order(
    action: str,
    session: object,
    controller: Controller,
    *,
    cluster_name: str,
    broker_group_name: str,
    details: Mapping[str, Any],
) -> None:
    """Enter an order that has changed a group."""
    audited = AuditedAction(
        author=Author(UNNAMED, f"remoting {getattr(session, 'peer', 'unknown')}"),
        action=action,
        cluster_name=cluster_name,
        subject=broker_group_name,
        details=details,
    )
    await audit.enter(audited, database=controller.database, clock=controller.clock)
