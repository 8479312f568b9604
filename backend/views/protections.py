"""Show who protects a resource from deletion."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from backend.domain.protection import Protection
from backend.views.copying import copied
from backend.views.graph_forms import in_graph


@in_graph(description="Who protected it from deletion, when and why.")
@dataclass(frozen=True, slots=True)
class ProtectionOut:
    """Who protected a resource from deletion, when and why; `reason` is null if none was given."""

    protected_by: str
    protected_at: datetime
    reason: str | None

    @classmethod
    def of(cls, protection: Protection | None) -> Self | None:
        """Show a protection, or that there is none."""
        return None if protection is None else copied(cls, protection)
