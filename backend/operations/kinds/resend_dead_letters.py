"""Send the dead letters of a consumer group again, batch by batch.

The copies go to the group's retry topic, which no other group reads, or to the original topic. Dead
letters stay until they expire, so the journals record which ones were sent before.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from backend.brokers.asking import Answers, Brokers, Inquiry
from backend.brokers.requests.consumer_groups import GetGroupSettings, GetOnlineGroup
from backend.brokers.requests.messages import PullMessages
from backend.brokers.requests.topics import GetTopicEnds, GetTopicLayout, QueueEnds
from backend.db import resent_letters
from backend.db.resent_letters import JournaledStep
from backend.domain.consumer_group import GroupSettings
from backend.domain.dead_letter import (
    Offsets,
    Place,
    choose_letters,
    cut_batches,
    origin_topic,
)
from backend.domain.message import StoredMessage
from backend.domain.operation import StepState
from backend.domain.operation_errors import DeadLettersNotFound
from backend.domain.orders.dead_letter import Destination, ResendDeadLetters
from backend.domain.plan import (
    Check,
    CheckVerdict,
    Difference,
    Plan,
    Precondition,
    Risk,
    no_undo,
)
from backend.domain.queue_lock import LockFilter
from backend.operations.actions.dead_letters import ResendBatch
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import masters
from backend.operations.planning.masters import Master, Masters
from backend.remoting.names import dead_letter_topic, retry_topic
from backend.services.consumer_group.queue_locks import Locks, collect_locks
from backend.services.message.messages import get_message

KIND_NAME: Final = "resend_dead_letters"
SAMPLE_SIZE: Final = 5
_CLEAR: Final = frozenset({StepState.DONE, StepState.FAILED})
"""A failed step has sent nothing."""


@dataclass(frozen=True, slots=True)
class Held:
    """Hold a master's data of the group: the ends of its dead letters, settings and members."""

    ends: Mapping[int, QueueEnds]
    settings: GroupSettings | None
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GetHeld(Inquiry[Held]):
    """Ask a master for its data of a consumer group and of its dead letters."""

    consumer_group_name: str

    async def put(self, brokers: Brokers, address: str) -> Held:
        """Ask for the topic, the settings and the members."""
        topic = dead_letter_topic(self.consumer_group_name)
        ends: Mapping[int, QueueEnds] = {}
        if await brokers.ask(address, GetTopicLayout(topic)) is not None:
            ends = await brokers.ask(address, GetTopicEnds(topic))
        settings = await brokers.ask(address, GetGroupSettings(self.consumer_group_name))
        online = await brokers.ask(address, GetOnlineGroup(self.consumer_group_name))
        members = () if online is None else online.members
        return Held(ends, settings, tuple(sorted({one.client_id for one in members})))


@dataclass(frozen=True, slots=True)
class Present:
    """Hold the masters' data of the group, and the dead letters that the journals record."""

    meant: Masters
    answers: Answers[Master, Held]
    locks: Locks | None
    journaled: Sequence[JournaledStep]

    @property
    def held(self) -> dict[Master, Held]:
        """Return the answers of masters that have dead letters."""
        return {
            one: value
            for one, value in self.answers.answers.items()
            if any(ends.count for ends in value.ends.values())
        }

    @property
    def members(self) -> list[str]:
        """Name the connected consumers."""
        return sorted({name for one in self.answers.answers.values() for name in one.members})

    @property
    def resent(self) -> dict[Place, set[int]]:
        """Return the offsets of dead letters whose copies were sent before."""
        found: dict[Place, set[int]] = {}
        for step in self.journaled:
            if step.state is StepState.DONE:
                place = (step.action["broker_group_name"], step.action["queue_id"])
                after = step.after or {}
                left_out = {*after.get("expired", ()), *map(int, after.get("refused", {}))}
                found.setdefault(place, set()).update({*step.action["offsets"]} - left_out)
        return found

    @property
    def open_operation(self) -> str | None:
        """Name the operation that has started a batch with an unknown result."""
        open_steps = [one for one in self.journaled if one.state not in _CLEAR]
        return str(open_steps[-1].operation_id) if open_steps else None


async def read_facts(order: ResendDeadLetters, context: OperationContext) -> Facts[Present]:
    """Read which masters have dead letters of the group, and which were sent before.

    Raises:
        InvalidName: the name is invalid for a cluster, or for a consumer group of a user.
        ClusterNotFound: the cluster does not exist.
    """
    masters.check_consumer_group(order.consumer_group_name)
    meant = await masters.find_masters(order.cluster_name, (), context)
    answers = await context.brokers.ask_all(meant.found, GetHeld(order.consumer_group_name))
    locks = None
    if order.destination is Destination.RETRY:
        chosen = LockFilter(
            cluster_name=order.cluster_name, consumer_group_name=order.consumer_group_name
        )
        locks = await collect_locks(
            chosen, database=context.database, brokers=context.brokers, clock=context.clock
        )
    async with context.database.connect() as connection:
        journaled = await resent_letters.list_begun_steps(
            connection, order.cluster_name, KIND_NAME, order.target
        )
    present = Present(meant, answers, locks, journaled)
    return Facts(
        present,
        (Precondition("dead letters resent before", _digest(present.resent)),),
        (
            meant.check(CheckVerdict.WARN),
            masters.check_answers(answers),
            _check_open(order, present),
            *_check_order_of_consumption(present),
        ),
    )


async def preview(
    order: ResendDeadLetters, facts: Facts[Present], context: OperationContext
) -> Plan:
    """Name the dead letters and their destination, and the possible effects.

    Raises:
        DeadLettersNotFound: the group has none, or all were sent before.
        MessageNotFound: no dead letter has one of the ids.
        BrokerSilent: a broker that may have one does not answer.
    """
    present = facts.seen
    asked = await _find_chosen(order, context) if order.message_ids else _find_all(present)
    resent = {} if order.includes_resent else present.resent
    chosen, left_count = choose_letters(asked, resent, count_max=order.count_max)
    asked_count, count = _count(asked), _count(chosen)
    if not count:
        why = f"all {asked_count} were resent before" if asked_count else "it has none"
        raise DeadLettersNotFound(order.cluster_name, order.consumer_group_name, why)
    sample = await _read_sample(order, present, chosen, context)
    where = _destination(order)
    return Plan(
        summary=(
            f"Send {count} dead letters of consumer group {order.consumer_group_name} to {where}"
        ),
        risk=Risk.SERVICE,
        steps=planned_steps(_actions(order, chosen)),
        changes=tuple(
            Difference(f"copies in {where} on {group}", None, str(len(offsets)))
            for (group, _), offsets in sorted(chosen.items())
        ),
        impact=_impact(order, count, present),
        checks=(
            *facts.checks,
            _check_resent(asked_count - left_count, is_included=order.includes_resent),
            _check_limit(left_count - count),
            _check_consumers(present),
            _check_group(order, present),
            _check_cause(present),
        ),
        way_back=no_undo("consumers may have read the copies; dead letters stay as they are"),
        facts={
            "count": count,
            "left_out": asked_count - left_count,
            "remaining": left_count - count,
            "members": present.members,
            "sample": sample,
        },
    )


KIND: Final = Kind(KIND_NAME, ResendDeadLetters, read_facts, preview, (ResendBatch,))


async def _find_chosen(order: ResendDeadLetters, context: OperationContext) -> Offsets:
    topic = dead_letter_topic(order.consumer_group_name)
    found: dict[Place, set[int]] = {}
    for message_id in order.message_ids:
        letter = await get_message(
            order.cluster_name,
            message_id,
            topic=topic,
            database=context.database,
            brokers=context.brokers,
        )
        if letter.topic != topic:
            why = f"{message_id} is a message of topic {letter.topic}"
            raise DeadLettersNotFound(order.cluster_name, order.consumer_group_name, why)
        found.setdefault((letter.broker_group_name, letter.queue_id), set()).add(
            letter.queue_offset
        )
    return {place: sorted(offsets) for place, offsets in found.items()}


def _find_all(present: Present) -> Offsets:
    return {
        (master.broker_group_name, queue_id): range(ends.low, ends.high)
        for master, group in present.held.items()
        for queue_id, ends in group.ends.items()
    }


def _count(offsets: Offsets) -> int:
    return sum(len(one) for one in offsets.values())


async def _read_sample(
    order: ResendDeadLetters, present: Present, chosen: Offsets, context: OperationContext
) -> list[dict[str, Any]]:
    """Read the first dead letters of the plan, from masters that answer, for the preview."""
    topic = dead_letter_topic(order.consumer_group_name)

    pulls = [(master, place) for master in sorted(present.meant.found) for place in chosen]
    found: list[StoredMessage] = []
    for master, (group, queue_id) in pulls:
        if group != master.broker_group_name or len(found) >= SAMPLE_SIZE:
            continue
        offsets = chosen[group, queue_id]
        request = PullMessages(
            broker_group_name=group,
            topic=topic,
            queue_id=queue_id,
            offset=offsets[0],
            count=SAMPLE_SIZE,
        )
        pulled = await context.brokers.find(master.address, request)
        if pulled is not None:
            found += [one for one in pulled.messages if one.queue_offset in offsets]
    return [
        {
            "message_id": one.message_id,
            "topic": origin_topic(one),
            "attempts": one.reconsume_times,
            "stored_at_ms": str(one.stored_at_ms),
            "keys": list(one.keys),
        }
        for one in found[:SAMPLE_SIZE]
    ]


def _actions(order: ResendDeadLetters, chosen: Offsets) -> list[ResendBatch]:
    return [
        ResendBatch(
            order.cluster_name,
            order.consumer_group_name,
            group,
            queue_id,
            offsets,
            order.destination,
            order.messages_per_second,
        )
        for group, queue_id, offsets in cut_batches(
            chosen, messages_per_second=order.messages_per_second
        )
    ]


def _destination(order: ResendDeadLetters) -> str:
    if order.destination is Destination.RETRY:
        return retry_topic(order.consumer_group_name)
    return "their original topics"


def _digest(resent: Mapping[Place, set[int]]) -> str:
    count = sum(len(one) for one in resent.values())
    listed = sorted((place, sorted(offsets)) for place, offsets in resent.items())
    return f"{count} ({hashlib.sha256(repr(listed).encode()).hexdigest()[:12]})" if count else "0"


def _impact(order: ResendDeadLetters, count: int, present: Present) -> tuple[str, ...]:
    seconds = -(-count // order.messages_per_second)
    group = f"Consumer group {order.consumer_group_name}"
    who = (
        f"{group} alone reads the copies"
        if order.destination is Destination.RETRY
        else f"Every consumer group of the original topics reads the copies, not only {group}"
    )
    return (
        f"{who}, {order.messages_per_second} a second at most, for about {seconds} s",
        f"Consumers that are connected: {masters.shortened(present.members) or 'none'}",
        "A dead letter whose message was handled after all is handled a second time",
    )


def _check_open(order: ResendDeadLetters, present: Present) -> Check:
    name, found = "other resends", present.open_operation
    if found is None:
        return Check(name, CheckVerdict.PASS, "no other operation has begun a batch")
    why = (
        f"operation {found} has begun a batch and does not know yet what it sent: let it end, or"
        f" run `regent operation retry {found}`"
    )
    verdict = CheckVerdict.WARN if order.includes_resent else CheckVerdict.BLOCK
    return Check(name, verdict, why)


def _check_order_of_consumption(present: Present) -> tuple[Check, ...]:
    """Check whether brokers would make the copies dead letters at once (storage-and-ha.md 6.2)."""
    if present.locks is None:
        return ()
    name, held = "ordered consumption", len(present.locks.items)
    if held:
        why = (
            f"the group consumes in order and holds {held} queue locks. Brokers move messages of"
            " its retry topic to the dead letters at once. Send to the original topic instead"
        )
        return (Check(name, CheckVerdict.BLOCK, why),)
    if present.locks.unknown:
        why = "some brokers do not say whether the group holds queue locks, as in ordered use"
        return (Check(name, CheckVerdict.WARN, why),)
    return (Check(name, CheckVerdict.PASS, "the group holds no queue locks"),)


def _check_resent(count: int, *, is_included: bool) -> Check:
    name = "resent before"
    if is_included:
        why = "dead letters that were resent before are sent again, as ordered"
        return Check(name, CheckVerdict.WARN, why)
    if count:
        why = f"{count} dead letters were resent before and are left out"
        return Check(name, CheckVerdict.WARN, why)
    return Check(name, CheckVerdict.PASS, "none of them was resent by an operation that is kept")


def _check_limit(remaining: int) -> Check:
    name = "all dead letters"
    if not remaining:
        return Check(name, CheckVerdict.PASS, "none is left out by the limit")
    why = f"{remaining} more stay for another operation, which leaves these out"
    return Check(name, CheckVerdict.WARN, why)


def _check_consumers(present: Present) -> Check:
    name, members = "consumers", present.members
    if members:
        return Check(name, CheckVerdict.PASS, f"{len(members)} are connected")
    why = "no consumer of the group is connected: the copies wait until one is"
    return Check(name, CheckVerdict.WARN, why)


def _check_group(order: ResendDeadLetters, present: Present) -> Check:
    """Check whether the masters accept the copies, and whether the group may read them."""
    name = "the group reads them"
    unknown = [
        one.broker_group_name for one, group in present.held.items() if group.settings is None
    ]
    if unknown and order.destination is Destination.RETRY:
        why = f"{masters.shortened(unknown)} does not have the consumer group: create it there"
        return Check(name, CheckVerdict.BLOCK, why)
    known = [group.settings for group in present.held.values() if group.settings is not None]
    if any(not one.consume_enabled for one in known):
        why = "the group may not consume: the copies wait until it may"
        return Check(name, CheckVerdict.WARN, why)
    return Check(name, CheckVerdict.PASS, "the group may consume")


def _check_cause(present: Present) -> Check:
    retries = max(
        (group.settings.retry_count_max for group in present.held.values() if group.settings),
        default=16,
    )
    why = (
        f"a copy whose handling fails again is retried up to {retries} times and becomes a dead"
        " letter again: remove the cause first"
    )
    return Check("the cause is removed", CheckVerdict.WARN, why)
