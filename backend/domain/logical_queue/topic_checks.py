"""Check a whole topic: the truth, the copies of brokers and the routes (logical-queues.md 5).

Every function gives findings and raises no error, whatever it is given. An empty result means that
the invariants hold for what was observed: what was not observed is not judged (D21).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from backend.domain.logical_queue.invariant import Invariant, MappingFinding
from backend.domain.logical_queue.mapping import (
    BrokerMapping,
    LogicalQueue,
    MappingInfo,
    Place,
    TopicCopy,
    TopicMapping,
    copies_of,
)
from backend.domain.logical_queue.segment_checks import check_segments

Findings = Iterator[MappingFinding]


@dataclass(frozen=True, slots=True)
class ReplicaCopy:
    """Hold the mapping of one replica of a broker group, None if it has none."""

    broker_group_name: str
    own_id: int
    mapping: BrokerMapping | None


@dataclass(frozen=True, slots=True)
class Observation:
    """Hold all that was observed of a topic.

    Attributes:
        truth: What Postgres holds, None if the topic has no row.
        copies: What broker groups answered; a group without an answer is absent.
        routes: What name servers hold, by name server and broker group.
        replicas: What replicas hold.
        seal_epochs: The newest epoch of a seal that a broker group has seen, by global id.
        served: The logical queues for which a broker group takes messages.
        topic_holders: The broker groups whose topic table has the topic.
        mapping_holders: The broker groups that have a mapping of the topic.
        ordinary_holders: Those that serve the topic as an ordinary topic.
    """

    topic_name: str
    truth: TopicMapping | None = None
    copies: Mapping[str, TopicCopy] = field(default_factory=dict)
    routes: Mapping[str, Mapping[str, MappingInfo]] = field(default_factory=dict)
    replicas: tuple[ReplicaCopy, ...] = ()
    seal_epochs: Mapping[tuple[str, int], int] = field(default_factory=dict)
    served: Mapping[str, Collection[int]] = field(default_factory=dict)
    topic_holders: frozenset[str] = frozenset()
    mapping_holders: frozenset[str] = frozenset()
    ordinary_holders: frozenset[str] = frozenset()


def check_topic(seen: Observation) -> tuple[MappingFinding, ...]:
    """Return all findings about a topic, ordered by their invariant."""
    found = [
        *check_copies(seen.topic_name, seen.copies),
        *check_agreement(seen),
        *check_queues(seen.copies, reused=seen.truth.reused if seen.truth is not None else None),
        *(check_truth(seen.truth) if seen.truth is not None else ()),
        *check_routes(seen),
        *check_seals(seen),
        *check_replicas(seen),
        *check_holders(seen),
    ]
    order = {one: at for at, one in enumerate(Invariant)}
    return tuple(sorted(dict.fromkeys(found), key=lambda one: order[one.invariant]))


def check_plan(topic: TopicMapping) -> tuple[MappingFinding, ...]:
    """Return the findings about a mapping and the copies that follow from it."""
    copies = copies_of(topic)
    return check_topic(Observation(topic.topic_name, topic, copies))


def check_copies(topic_name: str, copies: Mapping[str, TopicCopy]) -> Findings:
    """Give what breaks INV-1 to INV-4 in the copies."""
    for name, copy in sorted(copies.items()):
        where = f"broker group {name}"
        if copy.mapping is None:
            yield MappingFinding(Invariant.MAPPING_EXISTS, where, "the topic has no mapping", name)
            continue
        info = copy.mapping.info
        if info.broker_group_name != name:
            what = f"the mapping names {info.broker_group_name!r}"
            yield MappingFinding(Invariant.OWN_BROKER_GROUP, where, what, name)
        if info.is_dirty:
            yield MappingFinding(Invariant.NOT_DIRTY, where, "the mapping is dirty", name)
        names = {info.topic_name, copy.configured_name or topic_name}
        if names != {topic_name}:
            what = f"the names are {', '.join(sorted(map(repr, names)))}"
            yield MappingFinding(Invariant.SAME_TOPIC, where, what, name)


def check_agreement(seen: Observation) -> Findings:
    """Give what breaks INV-5 to INV-7: truth, copies and routes that differ."""
    infos: dict[_Spot, MappingInfo] = {
        _Spot(f"broker group {name}", name): copy.mapping.info
        for name, copy in sorted(seen.copies.items())
        if copy.mapping is not None
    }
    for server, route in sorted(seen.routes.items()):
        infos |= {
            _Spot(f"name server {server}, {name}", name, server): one
            for name, one in sorted(route.items())
        }
    if (truth := seen.truth) is not None:
        own = MappingInfo(truth.topic_name, "", truth.epoch, truth.queue_count, truth.scope)
        infos[_Spot("the control plane")] = own
    fields: dict[Invariant, Mapping[_Spot, object]] = {
        Invariant.SAME_SCOPE: {where: one.scope for where, one in infos.items()},
        Invariant.SAME_EPOCH: {where: one.epoch for where, one in infos.items()},
        Invariant.SAME_QUEUE_COUNT: {where: one.queue_count for where, one in infos.items()},
    }
    for invariant, values in fields.items():
        yield from _check_equal(invariant, values)


def check_queues(
    copies: Mapping[str, TopicCopy], *, reused: Mapping[Place, int] | None = None
) -> Findings:
    """Give what breaks INV-8 to INV-21: the lists, their leaders, and the physical queues.

    `reused` is the start of each reused physical queue. Without it, only 0 is a valid start.
    """
    mappings = {name: one.mapping for name, one in copies.items() if one.mapping is not None}
    for name, mapping in sorted(mappings.items()):
        for global_id, segments in sorted(mapping.hosted.items()):
            for one in check_segments(global_id, segments):
                where = f"broker group {name}, {one.where}"
                yield MappingFinding(one.invariant, where, one.what, name)
    led = _leading_copies(mappings)
    yield from _check_leaders(led, mappings)
    leading = [copies_by_name[min(copies_by_name)] for _, copies_by_name in sorted(led.items())]
    yield from check_places(leading, copies, reused=reused or {})
    for name, copy in sorted(copies.items()):
        if copy.counts.read_count < copy.counts.write_count:
            what = f"{copy.counts.read_count} read and {copy.counts.write_count} write queues"
            where = f"broker group {name}"
            yield MappingFinding(Invariant.READS_COVER_WRITES, where, what, name)


def check_places(
    queues: Iterable[LogicalQueue],
    copies: Mapping[str, TopicCopy],
    *,
    reused: Mapping[Place, int],
) -> Findings:
    """Give what breaks INV-17 and INV-19 to INV-21 in the leading lists."""
    users: dict[Place, str] = {}
    for queue in queues:
        for segment in queue.segments:
            where = f"logical queue {queue.global_id}, generation {segment.generation}"
            group, queue_id = segment.place
            former = users.setdefault(segment.place, where)
            if former != where:
                what = f"{group}:q{queue_id} is also used by {former}"
                yield MappingFinding(Invariant.QUEUES_USED_ONCE, where, what, group)
            if segment.physical_start not in {0, reused.get(segment.place, 0)}:
                what = f"it starts at {segment.physical_start} of {group}:q{queue_id}"
                yield MappingFinding(Invariant.STARTS_AT_ZERO, where, what, group)
            if group not in copies:
                what = f"broker group {group} does not know the topic"
                yield MappingFinding(Invariant.BROKER_GROUPS_KNOWN, where, what, group)
            elif queue_id >= copies[group].counts.write_count:
                what = f"{group} has {copies[group].counts.write_count} queues, not {queue_id}"
                yield MappingFinding(Invariant.QUEUE_EXISTS, where, what, group)


def check_targets(topic: TopicMapping, targets: Collection[str]) -> Findings:
    """Give what breaks INV-22 after a remapping."""
    for queue in topic.queues:
        if queue.leader_name not in targets:
            what = f"{queue.leader_name} leads it and is no target"
            where = f"logical queue {queue.global_id}"
            yield MappingFinding(Invariant.LEADERS_AMONG_TARGETS, where, what)


def check_hosts(topic: TopicMapping, targets: Collection[str]) -> Findings:
    """Give what breaks INV-23 before a creation or an expansion."""
    for name in sorted(topic.counts):
        if topic.led_by(name) and name not in targets:
            what = "it leads logical queues and is no target"
            yield MappingFinding(Invariant.HOSTS_AMONG_TARGETS, f"broker group {name}", what)


def check_growth(topic: TopicMapping, queue_count: int) -> Findings:
    """Give what breaks INV-24: a creation or an expansion to no greater count."""
    if queue_count <= topic.writable_count:
        what = f"{topic.writable_count} queues would become {queue_count}"
        yield MappingFinding(Invariant.COUNT_GROWS, f"topic {topic.topic_name}", what)


def check_truth(topic: TopicMapping) -> Findings:
    """Give what breaks INV-8 to INV-14, INV-16, INV-32 and INV-33 in the truth."""
    for queue in topic.queues:
        yield from check_segments(queue.global_id, queue.segments)
    ids = [queue.global_id for queue in topic.queues]
    if ids != list(range(len(ids))):
        what = f"the ids are {ids[:20]}"
        yield MappingFinding(Invariant.ALL_IDS_LED, f"topic {topic.topic_name}", what)
    yield from _check_ends(topic)
    yield from _check_lives(topic)


def check_routes(seen: Observation) -> Findings:
    """Give what breaks INV-15 and INV-16 in routes: not one leader, or the wrong one."""
    for server, route in sorted(seen.routes.items()):
        yield from _check_led_in_route(seen, server, route)
        leaders: dict[tuple[int, int], set[str]] = defaultdict(set)
        for name, info in route.items():
            for global_id in info.led:
                leaders[global_id, info.epoch].add(name)
        for (global_id, epoch), names in sorted(leaders.items()):
            right = _leader_in_truth(seen.truth, global_id, epoch)
            wrong = len(names) > 1 or (right is not None and names != {right})
            if wrong:
                what = f"{' and '.join(sorted(names))} lead it in epoch {epoch}"
                what += "" if right is None else f", and {right} should"
                where = f"name server {server}, logical queue {global_id}"
                name = right if right is not None else min(names)
                yield MappingFinding(Invariant.ONE_LEADER, where, what, name, server)


def check_seals(seen: Observation) -> Findings:
    """Give what breaks INV-34: a broker takes messages after a newer change sealed the queue."""
    for name, ids in sorted(seen.served.items()):
        copy = seen.copies.get(name)
        epoch = -1 if copy is None or copy.mapping is None else copy.mapping.info.epoch
        for global_id in sorted(ids):
            sealed = seen.seal_epochs.get((name, global_id))
            if sealed is not None and sealed > epoch:
                what = f"it takes messages with epoch {epoch}, and was sealed with {sealed}"
                where = f"broker group {name}, logical queue {global_id}"
                yield MappingFinding(Invariant.SEALS_FENCE, where, what, name)


def check_replicas(seen: Observation) -> Findings:
    """Give what breaks INV-35 (H-4): replicas with another mapping than their master."""
    for one in seen.replicas:
        master = seen.copies.get(one.broker_group_name)
        if master is not None and one.mapping != master.mapping:
            where = f"broker {one.broker_group_name}-{one.own_id}"
            what = "the mapping differs from that of the master"
            yield MappingFinding(
                Invariant.REPLICAS_HOLD_MAPPING, where, what, one.broker_group_name
            )


def check_holders(seen: Observation) -> Findings:
    """Give what breaks INV-36 and INV-37: orphaned mappings, and a topic of two kinds (H-9)."""
    for name in sorted(seen.mapping_holders - seen.topic_holders):
        where = f"broker group {name}"
        yield MappingFinding(Invariant.TOPIC_EXISTS, where, "a mapping has no topic", name)
    for server, route in sorted(seen.routes.items()):
        for name in sorted(route.keys() - seen.copies.keys()):
            where = f"name server {server}, {name}"
            what = "the broker group has no such topic"
            yield MappingFinding(Invariant.TOPIC_EXISTS, where, what, name, server)
    is_static = seen.truth is not None
    for name in sorted(seen.ordinary_holders if is_static else ()):
        what = "the topic is static, and is served as an ordinary one"
        where = f"broker group {name}"
        yield MappingFinding(Invariant.KIND_UNCHANGED, where, what, name)


def check_lock(*, is_held: bool, where: str) -> Findings:
    """Give what breaks INV-31: an update that did not get the lock is no success (H-3)."""
    if not is_held:
        yield MappingFinding(Invariant.ONE_LOCK, where, "another update holds the lock")


@dataclass(frozen=True, slots=True)
class _Spot:
    """Hold a place where the head of a mapping is kept."""

    where: str
    broker_group_name: str | None = None
    name_server: str | None = None


def _check_equal(invariant: Invariant, values: Mapping[_Spot, object]) -> Findings:
    """Give one finding for each place that differs from the most frequent value."""
    by_value: dict[object, list[_Spot]] = defaultdict(list)
    for where, value in values.items():
        by_value[value].append(where)
    if len(by_value) <= 1:
        return
    common = max(by_value, key=lambda value: len(by_value[value]))
    for value, places in by_value.items():
        if value == common:
            continue
        for one in places:
            what = f"it is {value!r} here, and {common!r} at {by_value[common][0].where}"
            yield MappingFinding(invariant, one.where, what, one.broker_group_name, one.name_server)


def _check_led_in_route(
    seen: Observation, server: str, route: Mapping[str, MappingInfo]
) -> Findings:
    """Find the broker groups whose logical queues no client of a name server can reach."""
    led = {global_id for info in route.values() for global_id in info.led}
    missing: dict[str, list[int]] = defaultdict(list)
    for queue in () if seen.truth is None else seen.truth.queues:
        name = queue.leader_name
        if queue.global_id not in led and name is not None and name in seen.copies:
            missing[name].append(queue.global_id)
    for name, ids in sorted(missing.items()):
        where = f"name server {server}, {name}"
        what = f"it leads {len(ids)} logical queues that the route does not have, first {ids[0]}"
        yield MappingFinding(Invariant.ALL_IDS_LED, where, what, name, server)


def _leader_in_truth(truth: TopicMapping | None, global_id: int, epoch: int) -> str | None:
    queue = truth.queue(global_id) if truth is not None and truth.epoch == epoch else None
    return None if queue is None else queue.leader_name


def _leading_copies(
    mappings: Mapping[str, BrokerMapping],
) -> dict[int, dict[str, LogicalQueue]]:
    """Return, by global id, the lists of the broker groups that their own copy calls leader."""
    led: dict[int, dict[str, LogicalQueue]] = defaultdict(dict)
    for name, mapping in mappings.items():
        for global_id in mapping.hosted:
            queue = mapping.queue(global_id)
            if queue is not None and queue.leader_name == name:
                led[global_id][name] = queue
    return led


def _check_leaders(
    led: Mapping[int, Mapping[str, LogicalQueue]], mappings: Mapping[str, BrokerMapping]
) -> Findings:
    for global_id, leaders in sorted(led.items()):
        if len(leaders) > 1:
            what = f"{' and '.join(sorted(leaders))} lead it"
            yield MappingFinding(Invariant.ONE_LEADER, f"logical queue {global_id}", what)
    count = max((one.info.queue_count for one in mappings.values()), default=0)
    # A count of a broken copy may be anything: a list of all its ids would not end.
    missing = count - sum(0 <= one < count for one in led)
    beyond = sorted(one for one in led if not 0 <= one < count)
    if missing or beyond:
        first = next(one for one in range(len(led) + 1) if one not in led)
        what = f"{missing} of {count} ids have no leader, the first one is {first}"
        what = what if missing else f"ids {beyond[:5]} are beyond the count {count}"
        yield MappingFinding(Invariant.ALL_IDS_LED, "all broker groups", what)


def _check_ends(topic: TopicMapping) -> Findings:
    for queue in topic.queues:
        for segment in queue.segments[:-1]:
            is_forced = (queue.global_id, segment.generation) in topic.forced
            if not segment.is_ended and not is_forced:
                where = f"logical queue {queue.global_id}, generation {segment.generation}"
                yield MappingFinding(Invariant.ENDS_DECIDED, where, "its end is not recorded")


def _check_lives(topic: TopicMapping) -> Findings:
    """Find physical queues that serve two logical queues, or are both used and retired."""
    owners: dict[Place, int] = {}
    retired = {one.place for one in topic.retired}
    for queue, segment in topic.places():
        where = f"logical queue {queue.global_id}, generation {segment.generation}"
        place = f"{segment.broker_group_name}:q{segment.queue_id}"
        owner = owners.setdefault(segment.place, queue.global_id)
        if owner != queue.global_id:
            what = f"{place} belongs to logical queue {owner}"
            yield MappingFinding(Invariant.ONE_LIFE, where, what)
        if segment.place in retired:
            yield MappingFinding(Invariant.ONE_LIFE, where, f"{place} is retired, and used")
