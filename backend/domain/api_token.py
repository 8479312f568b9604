"""Describe API tokens of programs: their owner and their scope."""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from backend.domain.access_errors import InvalidTokenScope
from backend.domain.cluster_scope import ALL_CLUSTERS, check_patterns
from backend.domain.errors import InvalidName
from backend.domain.user import Role

TOKEN_MARK: Final = "rgt_"  # noqa: S105 - what every token begins with is no secret
"""Distinguishes API tokens from tokens of sessions, also in a search for leaked tokens."""

PREFIX_LENGTH: Final = 12
NAME_LENGTH_MAX: Final = 64
LIFETIME_DAYS_MAX: Final = 366
TOKENS_PER_USER_MAX: Final = 100

_NAME: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]*")


@dataclass(frozen=True, slots=True)
class TokenScope:
    """Hold the scope of a token: highest role, patterns of clusters, and whether it only reads."""

    role: Role
    cluster_patterns: tuple[str, ...] = ALL_CLUSTERS
    is_read_only: bool = False


@dataclass(frozen=True, slots=True)
class ApiToken:
    """Hold a token as it is stored: with its first characters, never the whole token."""

    id: UUID
    user_name: str
    name: str
    prefix: str
    scope: TokenScope
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    last_used_from: str | None


def check_token_name(name: str) -> str:
    """Return the name of a new token if it is valid.

    Raises:
        InvalidName: it is empty or too long, or contains other characters than letters, digits and
        ._-.
    """
    if len(name) > NAME_LENGTH_MAX or _NAME.fullmatch(name) is None:
        reason = f"is not 1 to {NAME_LENGTH_MAX} letters, digits and ._-, no sign first"
        raise InvalidName(kind="token", name=name, reason=reason)
    return name


def check_scope(scope: TokenScope, owner_role: Role) -> TokenScope:
    """Return the scope of a new token if its owner may give it.

    Its patterns may name clusters that the owner does not reach: they never extend the reach of the
    owner.

    Raises:
        InvalidTokenScope: its role is higher than that of the owner. InvalidClusterPattern: a
        pattern names no cluster.
    """
    if not owner_role.includes(scope.role):
        raise InvalidTokenScope(f"a token of role {scope.role} is beyond the role {owner_role}")
    return replace(scope, cluster_patterns=check_patterns(scope.cluster_patterns))


def check_lifetime(days: int) -> int:
    """Return the lifetime of a new token in days if it is valid.

    Raises:
        InvalidTokenScope: it is less than a day, or more than a year.
    """
    if not 1 <= days <= LIFETIME_DAYS_MAX:
        raise InvalidTokenScope(f"a token is valid for 1 to {LIFETIME_DAYS_MAX} days, not {days}")
    return days
