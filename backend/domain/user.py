"""Describe users and roles."""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from backend.domain.access_errors import InvalidPassword
from backend.domain.cluster_scope import ALL_CLUSTERS
from backend.domain.errors import InvalidName
from backend.domain.version import version_of

BOOTSTRAP_USER_NAME: Final = "admin"
USER_NAME_LENGTH_MAX: Final = 128
PASSWORD_LENGTH_MIN: Final = 12
PASSWORD_LENGTH_MAX: Final = 1_024

_USER_NAME: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._@+-]*")


class Role(StrEnum):
    """Name the role of a user: reads, changes clusters, or manages users; the lowest first."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"

    @property
    def rank(self) -> int:
        """Return the rank of the role; 0 is the lowest."""
        return list(Role).index(self)

    def includes(self, other: "Role") -> bool:
        """Return whether this role includes all permissions of another role."""
        return self.rank >= other.rank

    def at_most(self, other: "Role") -> "Role":
        """Return the lower of two roles."""
        return self if other.includes(self) else other


@dataclass(frozen=True, slots=True)
class User:
    """Hold a user, whose role is valid in the clusters of some patterns.

    A one-time password must be replaced before it expires.
    """

    id: int
    name: str
    role: Role
    created_at: datetime
    disabled_at: datetime | None
    password_expires_at: datetime | None
    cluster_patterns: tuple[str, ...] = ALL_CLUSTERS

    @property
    def version(self) -> str:
        """Return the version of the role and the clusters."""
        return version_of([self.role, self.cluster_patterns, self.is_disabled])

    @property
    def is_disabled(self) -> bool:
        """Return whether the user is disabled."""
        return self.disabled_at is not None

    @property
    def must_change_password(self) -> bool:
        """Return whether the user still has a one-time password."""
        return self.password_expires_at is not None


def check_user_name(name: str) -> str:
    """Return the name of a new user if it is valid.

    Raises:
        InvalidName: it is empty or too long, or contains characters that are easily misread.
    """
    if len(name) > USER_NAME_LENGTH_MAX:
        reason = f"is longer than {USER_NAME_LENGTH_MAX} characters"
        raise InvalidName(kind="user", name=name, reason=reason)
    if _USER_NAME.fullmatch(name) is None:
        reason = "must have letters, digits and ._@+- only, with a letter or digit first"
        raise InvalidName(kind="user", name=name, reason=reason)
    return name


def check_new_password(password: str) -> str:
    """Return a chosen password if it is valid.

    Raises:
        InvalidPassword: it is too short or too long, or no text.
    """
    if not PASSWORD_LENGTH_MIN <= len(password) <= PASSWORD_LENGTH_MAX:
        raise InvalidPassword(
            f"a password has {PASSWORD_LENGTH_MIN} to {PASSWORD_LENGTH_MAX} characters"
        )
    try:
        password.encode()
    except UnicodeEncodeError as error:
        raise InvalidPassword("a password must be valid Unicode") from error
    return password
