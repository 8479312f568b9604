"""Present who protects a resource from deletion."""

from datetime import datetime
from typing import Self

import strawberry

from backend.api.graphql.context import Info
from backend.domain import protection as domain


@strawberry.type(description="Who protected it from deletion, when and why.")
class Protection:
    """Present a protection; no reason is null."""

    protected_by: str
    protected_at: datetime
    reason: str | None

    @classmethod
    async def load(cls, info: Info, resource: domain.Resource) -> Self | None:
        """Find the protection of a resource, many in one statement."""
        found = await info.context.loaders.protections.load(resource)
        if found is None:
            return None
        return cls(
            protected_by=found.protected_by,
            protected_at=found.protected_at,
            reason=found.reason,
        )
