"""Describe the tokens that programs come with: whose they are, and how far they reach."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Final
from uuid import UUID

from backend.domain.access_errors import InvalidTokenScope
from backend.domain.errors import InvalidName
from backend.domain.names import CLUSTER_NAME_BYTES_MAX
from backend.domain.user import Role

TOKEN_MARK: Final = "rgt_"  # noqa: S105 - what every token begins with is no secret
"""Tells an API token from a session's, to us and to whoever searches files for leaked ones."""

PREFIX_LENGTH: Final = 12
NAME_LENGTH_MAX: Final = 64
LIFETIME_DAYS_MAX: Final = 366
PATTERNS_MAX: Final = 20
TOKENS_PER_USER_MAX: Final = 100
ALL_CLUSTERS: Final = ("*",)

_NAME: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]*")
# The letters of a cluster's name, and `*` for any number of them.
_PATTERN: Final = re.compile(r"[%|a-zA-Z0-9_.*-]+")


@dataclass(frozen=True, slots=True)
class TokenScope:
    """Hold how far a token reaches: a role at most, clusters by pattern, perhaps only reading."""

    role: Role
    cluster_patterns: tuple[str, ...] = ALL_CLUSTERS
    is_read_only: bool = False


@dataclass(frozen=True, slots=True)
class ApiToken:
    """Hold a token as it is kept: its beginning to recognise it by, never the whole."""

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
    """Return the name of a new token when it may be one.

    Raises:
        InvalidName: it is empty, too long or holds other than letters, digits and ._-.
    """
    if len(name) > NAME_LENGTH_MAX or _NAME.fullmatch(name) is None:
        reason = f"is not 1 to {NAME_LENGTH_MAX} letters, digits and ._-, no sign first"
        raise InvalidName(kind="token", name=name, reason=reason)
    return name


def check_scope(scope: TokenScope, owner_role: Role) -> TokenScope:
    """Return the scope of a new token when its owner may give it.

    Raises:
        InvalidTokenScope: it reaches beyond the owner's role, or a pattern names no cluster.
    """
    if not owner_role.includes(scope.role):
        raise InvalidTokenScope(f"a token of role {scope.role} is beyond the role {owner_role}")
    if not 1 <= len(scope.cluster_patterns) <= PATTERNS_MAX:
        raise InvalidTokenScope(f"a token has 1 to {PATTERNS_MAX} cluster patterns")
    for pattern in scope.cluster_patterns:
        if len(pattern) > CLUSTER_NAME_BYTES_MAX or _PATTERN.fullmatch(pattern) is None:
            raise InvalidTokenScope(f"{pattern[:300]!r} is no cluster's name, with or without *")
    return scope


def check_lifetime(days: int) -> int:
    """Return for how many days a token may live when it may live as long.

    Raises:
        InvalidTokenScope: that is no day, or more than a year.
    """
    if not 1 <= days <= LIFETIME_DAYS_MAX:
        raise InvalidTokenScope(f"a token lives 1 to {LIFETIME_DAYS_MAX} days, not {days}")
    return days


def matches_cluster(patterns: Iterable[str], cluster_name: str) -> bool:
    """Tell whether one of some patterns names a cluster."""
    return any(fnmatchcase(cluster_name, pattern) for pattern in patterns)
