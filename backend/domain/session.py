"""Describe who is signed in, what they may do, and when a guesser is told to wait."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

BOOTSTRAP_USER_NAME: Final = "admin"
USER_NAME_LENGTH_MAX: Final = 128
PASSWORD_LENGTH_MAX: Final = 1_024


class Role(StrEnum):
    """Say what a user may do: look, or also change."""

    ADMIN = "admin"
    VIEWER = "viewer"


@dataclass(frozen=True, slots=True)
class Session:
    """Hold who is signed in, and until when."""

    user_name: str
    role: Role
    expires_at: datetime

    @property
    def may_change(self) -> bool:
        """Tell whether the user may ask for anything beside reading."""
        return self.role is Role.ADMIN
