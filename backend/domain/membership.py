"""Find members of one consumer group that contradict each other.

A group shares its queues and its offsets, so its members are to subscribe to the same. Where they
differ, messages are passed over or read by a member that does not want them. Plain values.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from backend.domain.finding import FindingCode

NAMED_COUNT_MAX: Final = 20
HEARD_WITHIN_MS: Final = 60_000
"""A connection that was not heard for so long may be gone: clients are heard every 30 s."""


@dataclass(frozen=True, slots=True)
class Membership:
    """Hold what one connection of a member to a broker says of its group.

    `subscriptions` is by topic the expression with its type. `heard_ms` is since the last
    heartbeat, None where the broker does not tell.
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
    """Hold what is wrong with the members of one group."""

    code: FindingCode
    consumer_group_name: str
    evidence: Mapping[str, Any]


def subscriptions_text(one: Membership) -> str:
    """Write what a member subscribes to, without the retries of its group."""
    # Each client subscribes to the retries of its group by itself, once it has started.
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
    """Find the contradictions of all groups, from what each broker told of its connections."""
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
    """Name by aspect what members say, and which members say it."""
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
