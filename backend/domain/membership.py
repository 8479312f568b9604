"""Find members of one consumer group that contradict each other.

A group shares its queues and its offsets, so its members must have the same subscriptions. If they
differ, messages are skipped, or read by a member without a subscription to them. Plain values.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from backend.domain.finding import FindingCode

NAMED_COUNT_MAX: Final = 20
HEARD_WITHIN_MS: Final = 60_000
"""A connection without a heartbeat for this long may be lost: clients send one every 30 s."""


@dataclass(frozen=True, slots=True)
class Membership:
    """Hold the report of one connection of a member to a broker about its group.

    `subscriptions` is the expression with its type, by topic. `heard_ms` is the time since the last
    heartbeat, None if the broker does not report it.
    """

    consumer_group_name: str
    client_id: str
    address: str
    message_model: str
    consume_type: str
    starts_from: str
    subscriptions: Mapping[str, str]
    heard_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Hold the contradictions between the members of one group."""

    code: FindingCode
    consumer_group_name: str
    evidence: Mapping[str, Any]


def subscriptions_text(one: Membership) -> str:
    """Write the subscriptions of a member, without the retry topic of its group."""
    # Each client subscribes to the retry topic of its group by itself after its start.
    return ", ".join(
        f"{topic} ({expression})"
        for topic, expression in sorted(one.subscriptions.items())
        if not topic.startswith("%RETRY%")
    )


_ASPECTS: Final[Mapping[str, Callable[[Membership], str]]] = {
    "subscriptions": subscriptions_text,
    "message model": lambda one: one.message_model,
    "consume type": lambda one: one.consume_type,
    "where they start": lambda one: one.starts_from,
}


def find_contradictions(memberships: Iterable[Sequence[Membership]]) -> list[Contradiction]:
    """Find the contradictions of all groups, from what brokers report of their connections."""
    brokers = [[one for one in members if _is_present(one)] for members in memberships]
    by_group: dict[str, list[Membership]] = {}
    for members in brokers:
        for one in members:
            by_group.setdefault(one.consumer_group_name, []).append(one)
    found: list[Contradiction] = []
    for name in sorted(by_group):
        if evidence := _differences(by_group[name]):
            found.append(Contradiction(FindingCode.SUBSCRIPTIONS_DIFFER, name, evidence))
        shared = _shared_ids(brokers, name)
        if shared:
            evidence = {"client_ids": dict(sorted(shared.items())[:NAMED_COUNT_MAX])}
            found.append(Contradiction(FindingCode.CLIENT_ID_SHARED, name, evidence))
    return found


def _is_present(one: Membership) -> bool:
    return one.heard_ms is None or one.heard_ms <= HEARD_WITHIN_MS


def _differences(members: Sequence[Membership]) -> dict[str, Any]:
    """Return the differing values by aspect, with the members that report them."""
    differences: dict[str, Any] = {}
    for aspect, read in _ASPECTS.items():
        said: dict[str, set[str]] = {}
        for one in members:
            said.setdefault(read(one), set()).add(one.client_id)
        if len(said) > 1:
            differences[aspect] = {
                text: sorted(ids)[:NAMED_COUNT_MAX] for text, ids in sorted(said.items())
            }
    return differences


def _shared_ids(brokers: Sequence[Sequence[Membership]], name: str) -> dict[str, list[str]]:
    """Find client ids with several connections to one broker, by their addresses."""
    shared: dict[str, list[str]] = {}
    for members in brokers:
        addresses: dict[str, set[str]] = {}
        for one in members:
            if one.consumer_group_name == name:
                addresses.setdefault(one.client_id, set()).add(one.address)
        shared |= {
            client_id: sorted(found)[:NAMED_COUNT_MAX]
            for client_id, found in addresses.items()
            if len(found) > 1
        }
    return shared
