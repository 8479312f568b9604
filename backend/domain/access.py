"""Decide what whoever asks may do: one table of rules for every door (D26, I23).

A principal is who asks, as their credential shows them; how they proved it is not looked at here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from backend.domain.access_errors import PasswordChangeRequired
from backend.domain.api_token import ALL_CLUSTERS, matches_cluster
from backend.domain.errors import Forbidden
from backend.domain.plan import Risk
from backend.domain.user import Role


class Credential(StrEnum):
    """Say what somebody came with: a session they opened, or a token made for a program."""

    SESSION = "session"
    TOKEN = "token"  # noqa: S105 - no secret


class Permission(StrEnum):
    """Name what is asked for; every route and every field of the graph asks for one of these."""

    IDENTIFY = "identify"
    SIGN = "sign"
    READ = "read"
    READ_BODIES = "read_bodies"
    CHANGE = "change"
    MANAGE_OWN = "manage_own"
    READ_ACCESS = "read_access"
    MANAGE_ACCESS = "manage_access"


@dataclass(frozen=True, slots=True)
class Rule:
    """Say who has a permission: from which role on, and with what."""

    role: Role
    needs_session: bool = False
    is_change: bool = False
    allows_one_time_password: bool = False


RULES: Final[Mapping[Permission, Rule]] = {
    Permission.IDENTIFY: Rule(Role.VIEWER, allows_one_time_password=True),
    Permission.SIGN: Rule(Role.VIEWER, needs_session=True, allows_one_time_password=True),
    Permission.READ: Rule(Role.VIEWER),
    # What people send one another is not for everybody who may look at the cluster.
    Permission.READ_BODIES: Rule(Role.OPERATOR),
    Permission.CHANGE: Rule(Role.OPERATOR, is_change=True),
    Permission.MANAGE_OWN: Rule(Role.VIEWER, needs_session=True),
    Permission.READ_ACCESS: Rule(Role.ADMIN),
    Permission.MANAGE_ACCESS: Rule(Role.ADMIN, needs_session=True),
}


@dataclass(frozen=True, slots=True)
class Principal:
    """Hold who asks, and until when: `role` is what holds now, a token's never above its owner's.

    `credential_name` tells a token of its owner from the others; a session has none.
    """

    user_id: int
    user_name: str
    role: Role
    credential: Credential
    credential_id: UUID
    expires_at: datetime
    must_change_password: bool = False
    is_read_only: bool = False
    cluster_patterns: tuple[str, ...] = ALL_CLUSTERS
    credential_name: str | None = None

    @property
    def is_limited(self) -> bool:
        """Tell whether some cluster may be out of reach."""
        return "*" not in self.cluster_patterns

    @property
    def sees_all_access(self) -> bool:
        """Tell whether other users' sessions and tokens may be seen."""
        return self.role.includes(RULES[Permission.READ_ACCESS].role)

    def may_see_access_of(self, user_name: str) -> bool:
        """Tell whether a user's sessions and tokens may be seen, and so ended."""
        return self.sees_all_access or user_name == self.user_name


def find_risk_max(principal: Principal) -> Risk:
    """Return the highest class of operations that somebody may confirm.

    What may lose data, or can't be undone, is for administrators.
    """
    return Risk.LOSS if principal.role.includes(Role.ADMIN) else Risk.SERVICE


def require(principal: Principal, permission: Permission) -> None:
    """Let whoever has a permission pass.

    Raises:
        PasswordChangeRequired: a one-time password has not been replaced yet.
        Forbidden: the role, or what they came with, does not reach as far.
    """
    rule = RULES[permission]
    if principal.must_change_password and not rule.allows_one_time_password:
        raise PasswordChangeRequired
    if rule.needs_session and principal.credential is not Credential.SESSION:
        raise Forbidden("a token can not sign in or out, and changes no access: sign in for that")
    if not principal.role.includes(rule.role):
        can = "may only read" if rule.is_change else "is not enough"
        raise Forbidden(f"the role {principal.role} {can}; it takes the role {rule.role}")
    if rule.is_change and principal.is_read_only:
        raise Forbidden("the token may only read")


def require_cluster(principal: Principal, cluster_name: str | None) -> None:
    """Let pass who may look at a cluster, or, without a name, at what is of no single one.

    Raises:
        Forbidden: the token is limited to other clusters.
    """
    if not principal.is_limited:
        return
    reach = ", ".join(principal.cluster_patterns)
    if cluster_name is None:
        raise Forbidden(f"the token is limited to the clusters {reach}: name one of them")
    if not matches_cluster(principal.cluster_patterns, cluster_name):
        raise Forbidden(f"the token is limited to the clusters {reach}")
