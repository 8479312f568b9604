"""Decide what whoever asks may do: one table of rules for every door (D26, I23).

A principal is who asks, as their credential shows them; how they proved it is not looked at here.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from backend.domain.access_errors import PasswordChangeRequired
from backend.domain.cluster_scope import EVERYWHERE, ClusterScope
from backend.domain.errors import Forbidden
from backend.domain.plan import Risk
from backend.domain.user import Role


class Credential(StrEnum):
    """How a user authenticated: with a session, or with a token of a program."""

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


class Reach(StrEnum):
    """Say how a door keeps to the clusters that whoever asks reaches.

    `NAMED` is what every door is until it says otherwise: who reaches some clusters only must name
    those that are meant, so a door without such a name is for who reaches all. Behind `KEPT` the
    use case itself keeps to them: lists hold what is of them, and other objects are refused. `OWN`
    is about whoever asks, `CONTROL_PLANE` about the control plane, of whose clusters it tells
    totals at most.
    """

    NAMED = "named"
    KEPT = "kept"
    OWN = "own"
    CONTROL_PLANE = "control_plane"


@dataclass(frozen=True, slots=True)
class Rule:
    """Say who has a permission: from which role on, and with what."""

    role: Role
    needs_session: bool = False
    needs_all_clusters: bool = False
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
    # Who says who may sign in could let anybody reach any cluster, themselves included.
    Permission.READ_ACCESS: Rule(Role.ADMIN, needs_all_clusters=True),
    Permission.MANAGE_ACCESS: Rule(Role.ADMIN, needs_session=True, needs_all_clusters=True),
}


@dataclass(frozen=True, slots=True)
class Principal:
    """Hold who asks, and until when: `role` and `clusters` are what holds now.

    A token has never more of them than its owner. `credential_name` tells a token of its owner
    from the others; a session has none.
    """

    user_id: int
    user_name: str
    role: Role
    credential: Credential
    credential_id: UUID
    expires_at: datetime
    must_change_password: bool = False
    is_read_only: bool = False
    clusters: ClusterScope = EVERYWHERE
    credential_name: str | None = None

    @property
    def sees_all_access(self) -> bool:
        """Tell whether other users' sessions and tokens may be seen."""
        is_admin = self.role.includes(RULES[Permission.READ_ACCESS].role)
        return is_admin and not self.clusters.is_limited

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
        raise Forbidden(
            "a token can't sign in, sign out or change access: sign in with a password for that"
        )
    if not principal.role.includes(rule.role):
        can = "may only read" if rule.is_change else "is not enough"
        raise Forbidden(f"the role {principal.role} {can}; it takes the role {rule.role}")
    if rule.is_change and principal.is_read_only:
        raise Forbidden("the token may only read")
    if rule.needs_all_clusters and principal.clusters.is_limited:
        raise Forbidden("only an admin of all clusters can see and change users")


def find_refusals(principal: Principal) -> dict[Permission, str]:
    """Say of each permission that somebody lacks why they do, in the words of the refusal."""
    refusals: dict[Permission, str] = {}
    for permission in Permission:
        try:
            require(principal, permission)
        except (Forbidden, PasswordChangeRequired) as error:
            refusals[permission] = str(error)
    return refusals


def require_reach(principal: Principal, reach: Reach, cluster_names: Collection[str]) -> None:
    """Let a request pass that names some clusters.

    Raises:
        Forbidden: one of them is out of reach, or none is named where one must be.
    """
    scope = principal.clusters
    for name in cluster_names:
        scope.require(name)
    if reach is Reach.NAMED and not cluster_names and scope.is_limited:
        raise Forbidden(f"only the clusters {scope} are accessible: name one of them")
