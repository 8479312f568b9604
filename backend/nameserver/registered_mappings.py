"""Read the mappings of static topics in a registration, and judge them (logical-queues.md 17)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from backend.domain.logical_queue.errors import InvalidQueueMapping
from backend.domain.logical_queue.invariant import Invariant
from backend.domain.logical_queue.mapping import MappingInfo
from backend.domain.logical_queue.route import Acceptance, LegacyMode
from backend.domain.logical_queue.stock_json import read_info
from backend.nameserver.members import GroupKey
from backend.nameserver.route_table import RouteTable
from backend.nameserver.static_topics import RegisteredMapping, Verdict
from backend.remoting.bodies import TopicConfig, TopicConfigTable, left_out_mapping
from backend.remoting.sifting import LeftOut, leave_out
from backend.rules.attributes import LEGACY_CLIENTS

NEWER_EPOCHS_MAX: Final = 100
"""How many outdated mappings one answer names; the next registration names others."""


@dataclass(slots=True)
class ReadMappings:
    """Hold what a registration says of static topics.

    Attributes:
        taken: The mapping of each topic; None keeps the former one.
        left_out: What was refused, or is in conflict with another broker group.
        newer_epochs: The newest epoch of each topic whose mapping is outdated.
    """

    taken: dict[str, RegisteredMapping | None] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    newer_epochs: dict[str, int] = field(default_factory=dict)


def read_mappings(table: TopicConfigTable, key: GroupKey, routes: RouteTable) -> ReadMappings:
    """Read the mappings that a broker group registers; nothing changes yet.

    Raises:
        InvalidJson: too many are invalid.
    """
    found = ReadMappings()
    for name, value in table.mapping_infos.items():
        found.taken[name] = None
        try:
            info = read_info(value)
            fault = _fault(name, info, key, table.topics, routes)
        except InvalidQueueMapping as error:
            info, fault = None, str(error)
        if info is not None and fault is None:
            fault = _take(found, info, key, table.topics.get(name), routes)
        if fault is not None:
            leave_out(found.left_out, left_out_mapping(name, fault, value))
    return found


def _fault(
    name: str,
    info: MappingInfo,
    key: GroupKey,
    topics: Mapping[str, TopicConfig],
    routes: RouteTable,
) -> str | None:
    """Return why a mapping is not one of this topic on this broker group; None if it is."""
    if info.topic_name != name:
        return f"it is of topic {info.topic_name!r} ({Invariant.SAME_TOPIC})"
    if info.broker_group_name != key[1]:
        return f"it is of broker group {info.broker_group_name!r} ({Invariant.OWN_BROKER_GROUP})"
    if info.is_dirty:
        return f"it is marked as dirty ({Invariant.NOT_DIRTY})"
    if name not in topics and not routes.has_topic(key, name):
        return f"the broker has no such topic ({Invariant.TOPIC_EXISTS})"
    return None


def _take(
    found: ReadMappings,
    info: MappingInfo,
    key: GroupKey,
    topic: TopicConfig | None,
    routes: RouteTable,
) -> str | None:
    """Take a mapping if routes may change to it; return what is wrong with it."""
    verdict = routes.judge(key, info)
    if info.epoch < verdict.newest_epoch and len(found.newer_epochs) < NEWER_EPOCHS_MAX:
        found.newer_epochs[info.topic_name] = verdict.newest_epoch
    if verdict.acceptance in {Acceptance.STORED, Acceptance.UNCHANGED}:
        found.taken[info.topic_name] = RegisteredMapping(info, _legacy(topic))
    return _refusal(info, verdict)


def _refusal(info: MappingInfo, verdict: Verdict) -> str | None:
    match verdict.acceptance:
        case Acceptance.REFUSED:
            return f"its number of queues is {info.queue_count}"
        case Acceptance.OUTDATED:
            return f"its epoch {info.epoch} is lower than before ({Invariant.EPOCH_NOT_LOWER})"
        case Acceptance.CONTRADICTS:
            reason = f"epoch {info.epoch} had another number of queues"
            return f"{reason} ({Invariant.SAME_QUEUE_COUNT})"
    if not verdict.conflicts:
        return None
    global_id, names = min(verdict.conflicts.items())
    reason = f"{' and '.join(names)} lead logical queue {global_id} in epoch {info.epoch}"
    return f"{reason} ({Invariant.ONE_LEADER}); clients see its former leader"


def _legacy(topic: TopicConfig | None) -> LegacyMode | None:
    if topic is None:
        return None
    is_proxied = topic.attributes.get(LEGACY_CLIENTS) == LegacyMode.PROXY
    return LegacyMode.PROXY if is_proxied else LegacyMode.HIDE
