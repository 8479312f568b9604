"""Describe the protection of objects from deletion (console-and-cli.md 1.2).

A protection belongs to a name, not to the present object: a topic that is absent now, or is created
later, is protected too.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from backend.domain.plan import Check, CheckVerdict, Precondition

UNPROTECTED: Final = "none"


class ResourceKind(StrEnum):
    """Name what can be protected."""

    TOPIC = "topic"
    CONSUMER_GROUP = "consumer_group"
    BROKER = "broker"


@dataclass(frozen=True, slots=True, order=True)
class Resource:
    """Name an object of a cluster; the name of a broker is `GROUP/ADDRESS` (`broker_resource`)."""

    cluster_name: str
    kind: ResourceKind
    name: str


@dataclass(frozen=True, slots=True)
class Protection:
    """Hold the protection of an object from deletion, with user, time and reason."""

    resource: Resource
    protected_by: str
    protected_at: datetime
    reason: str | None

    @property
    def text(self) -> str:
        """Describe the protection in a phrase."""
        since = self.protected_at.isoformat(sep=" ", timespec="seconds")
        why = "without a reason" if self.reason is None else f"because: {self.reason}"
        return f"by {self.protected_by} since {since}, {why}"


def broker_resource(cluster_name: str, broker_group_name: str, address: str) -> Resource:
    """Name a broker by its address, which does not change with its role and id."""
    return Resource(cluster_name, ResourceKind.BROKER, f"{broker_group_name}/{address}")


def split_broker_name(name: str) -> tuple[str, str]:
    """Return the group and the address of a broker's name; either may be empty."""
    broker_group_name, _, address = name.partition("/")
    return broker_group_name, address


def protection_text(protection: Protection | None) -> str:
    """Describe a protection, or write that there is none."""
    return UNPROTECTED if protection is None else protection.text


def protection_fact(protections: dict[Resource, Protection]) -> Precondition:
    """Return the protections as a fact of a plan: the plan expires if they change."""
    listed = "; ".join(f"{key.name} {one.text}" for key, one in sorted(protections.items()))
    return Precondition("deletion protection", listed or UNPROTECTED)


def check_unprotected(protections: dict[Resource, Protection]) -> Check:
    """Forbid a deletion of protected objects, and name the command that removes the protection."""
    name = "no protection"
    if not protections:
        return Check(name, CheckVerdict.PASS, "no deletion protection is set")
    listed = "; ".join(
        f"{key.kind.replace('_', ' ')} {key.name} is protected {one.text}"
        f" (lift it: {_unprotect_command(key)})"
        for key, one in sorted(protections.items())
    )
    return Check(name, CheckVerdict.BLOCK, listed)


def _unprotect_command(resource: Resource) -> str:
    if resource.kind is ResourceKind.BROKER:
        broker_group_name, address = split_broker_name(resource.name)
        return f"regent broker unprotect {broker_group_name} --address {address}"
    noun = "topic" if resource.kind is ResourceKind.TOPIC else "group"
    return f"regent {noun} unprotect {resource.name}"
