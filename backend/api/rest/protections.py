"""Show over REST who protects a resource from deletion."""

from datetime import datetime
from typing import Self

from pydantic import BaseModel

from backend.domain import protection as domain


class ProtectionOut(BaseModel):
    """Who protected a resource from deletion, when and why; `reason` is null if none was given."""

    protected_by: str
    protected_at: datetime
    reason: str | None

    @classmethod
    def of(cls, protection: domain.Protection | None) -> Self | None:
        """Present a protection, or that there is none."""
        if protection is None:
            return None
        return cls(
            protected_by=protection.protected_by,
            protected_at=protection.protected_at,
            reason=protection.reason,
        )
