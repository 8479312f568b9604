"""Decide what a caller may do: one table of rules for every door (D26, I23).

A principal is the caller, as its credential identifies it. Authentication is not part of this
module.
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
    """Name a permission; every route and every field of the graph needs one of these."""

    IDENTIFY = "identify"
    SIGN = "sign"
    READ = "read"
    READ_BODIES = "read_bodies"
    CHANGE = "change"
    MANAGE_OWN = "manage_own"
    READ_ACCESS = "read_access"
    MANAGE_ACCESS = "manage_access"


class Reach(StrEnum):
    """Say how a door is limited to the clusters that the caller reaches.

    `NAMED` is the default: a caller that reaches only some clusters must name the clusters, so a
    door without a cluster name needs reach to all. With `KEPT` the use case itself applies the
    limit: lists contain only objects of clusters within reach, and other objects are refused. `OWN`
    is about the caller. `CONTROL_PLANE` is about the control plane, and shows only totals of
    clusters.
    """

    NAMED = "named"
    KEPT = "kept"
    OWN = "own"
    CONTROL_PLANE = "control_plane"


@dataclass(frozen=True, slots=True)
class Rule:
    """Hold the condition of a permission: the lowest role, and the credential."""

    role: Role
    needs_session: bool = False
    needs_all_clusters: bool = False
    is_change: bool = False
    allows_one_time_password: bool = False


RULES: Final[Mapping[Permission, Rule]] = {
    Permission.IDENTIFY: Rule(Role.VIEWER, allows_one_time_password=True),
    Permission.SIGN: Rule(Role.VIEWER, needs_session=True, allows_one_time_password=True),
    Permission.READ: Rule(Role.VIEWER),
    # The content of messages needs more than the permission to read the cluster.
    Permission.READ_BODIES: Rule(Role.OPERATOR),
    Permission.CHANGE: Rule(Role.OPERATOR, is_change=True),
    Permission.MANAGE_OWN: Rule(Role.VIEWER, needs_session=True),
    # A user who manages users could extend the reach of any user, also the own one.
    Permission.READ_ACCESS: Rule(Role.ADMIN, needs_all_clusters=True),
    Permission.MANAGE_ACCESS: Rule(Role.ADMIN, needs_session=True, needs_all_clusters=True),
}


@dataclass(frozen=True, slots=True)
class Principal:
    """Hold the caller, and when its credential expires; `role` and `clusters` are the present ones.

    A token never has more rights than its owner. `credential_name` is the name of a token; a
    session has none.
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
        """Return whether the caller may see sessions and tokens of other users."""
        is_admin = self.role.includes(RULES[Permission.READ_ACCESS].role)
        return is_admin and not self.clusters.is_limited

    def may_see_access_of(self, user_name: str) -> bool:
        """Return whether the caller may see, and so end, the sessions and tokens of a user."""
        return self.sees_all_access or user_name == self.user_name


def find_risk_max(principal: Principal) -> Risk:
    """Return the highest risk class of operations that the caller may confirm.

    Only administrators confirm operations that may lose data, or that can't be undone.
    """
    return Risk.LOSS if principal.role.includes(Role.ADMIN) else Risk.SERVICE


def require(principal: Principal, permission: Permission) -> None:
    """Check that the caller has a permission.

    Raises:
        PasswordChangeRequired: a one-time password has not been replaced yet. Forbidden: the role
        or the credential does not include the permission.
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
    """Return the reason for each permission that the caller lacks, in the words of the refusal."""
    refusals: dict[Permission, str] = {}
    for permission in Permission:
        try:
            require(principal, permission)
        except (Forbidden, PasswordChangeRequired) as error:
            refusals[permission] = str(error)
    return refusals


def require_reach(principal: Principal, reach: Reach, cluster_names: Collection[str]) -> None:
    """Check that the caller reaches the clusters that a request names.

    Raises:
        Forbidden: one of them is out of reach, or a required name is missing.
    """
    scope = principal.clusters
    for name in cluster_names:
        scope.require(name)
    if reach is Reach.NAMED and not cluster_names and scope.is_limited:
        raise Forbidden(f"only the clusters {scope} are accessible: name one of them")
