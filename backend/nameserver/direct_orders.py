"""Enter in the audit what stock's tools order, which acts at once and past the engine (D19)."""

from collections.abc import Mapping
from typing import Any

from backend.domain.operation import Author
from backend.services import audit
from backend.services.audit import Deed
from backend.services.group_changes import Controller

UNNAMED = "unnamed"
"""Stock's tools do not say who runs them."""


async def enter_order(
    action: str,
    session: object,
    controller: Controller,
    *,
    cluster_name: str,
    group_name: str,
    details: Mapping[str, Any],
) -> None:
    """Enter an order that has changed a group."""
    deed = Deed(
        author=Author(UNNAMED, f"remoting {getattr(session, 'peer', 'unknown')}"),
        action=action,
        cluster_name=cluster_name,
        subject=group_name,
        details=details,
    )
    await audit.enter(deed, database=controller.database, clock=controller.clock)
