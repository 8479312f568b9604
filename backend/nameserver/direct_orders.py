"""Enter in the audit the orders of RocketMQ's tools.

They take effect immediately, without a plan (D19).
"""

from collections.abc import Mapping
from typing import Any

from backend.domain.operation import Author
from backend.services.access import audit
from backend.services.access.audit import AuditedAction
from backend.services.controller.group_changes import Controller

UNNAMED = "unnamed"
"""The tools of RocketMQ do not name their user."""


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
