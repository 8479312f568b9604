"""Describe an open session of a user."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

USER_AGENT_LENGTH_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class UserSession:
    """Hold an open session with its user, address, program and end."""

    id: UUID
    user_name: str
    source: str
    user_agent: str
    created_at: datetime
    last_used_at: datetime
    expires_at: datetime
