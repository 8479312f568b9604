"""Show the protection of an object from deletion."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from backend.domain.protection import Protection
from backend.views.copying import copied
from backend.views.graph_forms import Text, in_graph


@in_graph(description="Protection of an object from deletion: user, time and reason.")
@dataclass(frozen=True, slots=True)
class ProtectionOut:
    """Protection of an object from deletion, with user, time and reason."""

    protected_by: Annotated[str, Text("User who protected the object.")]
    protected_at: Annotated[datetime, Text("Time when the object was protected.")]
    reason: Annotated[str | None, Text("Reason of the protection. Null if none was given.")]

    @classmethod
    def of(cls, protection: Protection | None) -> Self | None:
        """Show a protection, or that there is none."""
        return None if protection is None else copied(cls, protection)
