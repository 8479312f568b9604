"""Write whether a resource is protected from deletion."""

from typing import Any

from backend.cli.output import time_text


def protection_text(protection: dict[str, Any] | None) -> str:
    """Write who protects a resource from deletion, since when and why."""
    if protection is None:
        return "none"
    why = f": {protection['reason']}" if protection["reason"] else ""
    return f"by {protection['protected_by']} since {time_text(protection['protected_at'])}{why}"
