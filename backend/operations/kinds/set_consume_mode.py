"""Set how a consumer group receives a topic: queue by queue (PULL), or from share queues (POP)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from backend.brokers.asking import Answers
from backend.domain.errors import TopicNotFound
from backend.domain.operation_errors import ConsumerGroupNotFound, InvalidParameters
from backend.domain.orders.share_queue import SetConsumeMode
from backend.domain.plan import Check, CheckVerdict, Difference, Plan, Precondition, Risk
from backend.domain.share_queue import ConsumeMode, ConsumeSetting
from backend.operations.actions.consume_modes import UNSET, PutMode
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import masters
from backend.operations.planning.consume_modes import (
    Look,
    Seen,
    check_repeated,
    check_stock_members,
)
from backend.operations.planning.masters import Master, Masters
from backend.rules.topic import RETRY_PREFIX

KIND_NAME: Final = "set_consume_mode"
REBALANCE_S: Final = 20
"""Clients ask for their queues so often."""


@dataclass(frozen=True, slots=True)
class Present:
    """Hold the answers of the masters, and the modes that change."""

    meant: Masters
    answers: Answers[Master, Seen]
    wanted: Mapping[Master, ConsumeSetting]

    @property
    def changed(self) -> list[tuple[Master, ConsumeSetting | None, ConsumeSetting]]:
        """Return the masters that change, each with the mode before and after."""
        held = self.answers.answers
        return [
            (one, held[one].setting, wanted)
            for one, wanted in sorted(self.wanted.items())
            if (held[one].setting or UNSET).text != wanted.text
        ]

    @property
    def changed_to_pop(self) -> list[Master]:
        """Return the masters that change to POP."""
        return [one for one, _, after in self.changed if after.mode is ConsumeMode.POP]

    @property
    def repeated(self) -> list[dict[str, Any]]:
        """List the share queues whose group receives messages again."""
        held = self.answers.answers
        return [
            {
                "broker_group_name": one.broker_group_name,
                "queue_id": each.queue.queue_id,
                "position": str(each.queue.start),
                "committed": str(held[one].committed[each.queue.queue_id]),
                "acquired_count": each.queue.acquired_count,
                "repeated_count": str(each.count),
            }
            for one, _, after in self.changed
            for each in held[one].received_again(after.mode)
        ]

    @property
    def members(self) -> list[str]:
        """Name the connected members."""
        held = self.answers.answers
        return sorted({name for one in self.wanted for name in held[one].members})


async def read_facts(order: SetConsumeMode, context: OperationContext) -> Facts[Present]:
    """Read the present mode on each master that has the topic and the group.

    Raises:
        InvalidParameters: no mode is given, or modes beside other parameters; or the topic is a
            retry topic.
        InvalidName: the name is invalid for a cluster, or for a topic or group of a user.
        ClusterNotFound, BrokerGroupNotFound: there is no such cluster or broker group.
        TopicNotFound, ConsumerGroupNotFound: no master that was asked has it.
    """
    exact = _exact(order)
    if order.topic_name.startswith(RETRY_PREFIX):
        raise InvalidParameters(KIND_NAME, "a retry topic has the mode of its topic")
    topic = masters.check_topic(order.topic_name)
    group = masters.check_consumer_group(order.consumer_group_name)
    chosen = tuple(exact) or order.broker_groups
    meant = await masters.find_masters(order.cluster_name, chosen, context)
    answers = await context.brokers.ask_all(meant.found, Look(topic, group))
    held = answers.answers
    if not answers.silent:
        if not any(one.has_topic for one in held.values()):
            raise TopicNotFound(order.cluster_name, topic)
        if not any(one.has_group for one in held.values()):
            raise ConsumerGroupNotFound(order.cluster_name, group)
    given = ConsumeSetting(order.mode or UNSET.mode, order.shared_client_count)
    wanted = {
        one: exact.get(one.broker_group_name, given)
        for one, seen in held.items()
        if seen.has_topic and seen.has_group
    }
    present = Present(meant, answers, wanted)
    return Facts(
        present,
        (
            meant.precondition,
            *(
                Precondition(f"consume mode on {one.broker_group_name}", _text(held[one].setting))
                for one in sorted(wanted)
            ),
        ),
        (
            meant.check(CheckVerdict.BLOCK if chosen else CheckVerdict.WARN),
            masters.check_answers(answers),
            _check_static(present),
            await check_stock_members(order.cluster_name, present.changed_to_pop, context),
            check_repeated(((one, after.mode) for one, _, after in present.changed), held),
            _check_group(present),
            _check_effect(present),
        ),
    )


async def preview(order: SetConsumeMode, facts: Facts[Present], context: OperationContext) -> Plan:
    """Describe the change on each master, and name the members that rebalance."""
    present, group = facts.seen, order.consumer_group_name
    changed = present.changed
    count = masters.count_groups(changed)
    modes = " and ".join(sorted({after.text for _, _, after in changed})) or "its present mode"
    return Plan(
        summary=f"Consumer group {group} receives {order.topic_name} by {modes} on {count}",
        risk=Risk.SERVICE,
        steps=planned_steps(
            [
                PutMode(
                    order.cluster_name,
                    one.broker_group_name,
                    one.address,
                    group,
                    order.topic_name,
                    after,
                )
                for one, _, after in changed
            ]
        ),
        changes=tuple(
            Difference(f"consume mode on {one.broker_group_name}", _text(before), after.text)
            for one, before, after in changed
        ),
        impact=_impact(present),
        checks=(*facts.checks, await masters.check_fencing(present.meant.found, context)),
        way_back="Set the former mode of each broker group; PULL where none was set",
        facts={
            "members": present.members,
            "brokers": [
                {
                    "broker_group_name": one.broker_group_name,
                    "from": None if before is None else before.text,
                    "to": after.text,
                }
                for one, before, after in changed
            ],
            "share_queues": present.repeated,
        },
    )


KIND: Final = Kind(KIND_NAME, SetConsumeMode, read_facts, preview, (PutMode,))


def _exact(order: SetConsumeMode) -> dict[str, ConsumeSetting]:
    exact = {
        one.broker_group_name: ConsumeSetting(one.mode, one.shared_client_count)
        for one in order.modes
    }
    if bool(exact) is (order.mode is not None):
        what = "modes exclude a mode" if exact else "give a mode"
        raise InvalidParameters(KIND_NAME, what)
    if exact and order.broker_groups:
        raise InvalidParameters(KIND_NAME, "modes already name their broker groups")
    return exact


def _text(setting: ConsumeSetting | None) -> str:
    return "PULL, since none is set" if setting is None else setting.text


def _impact(present: Present) -> tuple[str, ...]:
    who = masters.shortened(present.members) or "no member is connected now"
    lines = [
        f"Members whose broker allocates their queues change within {REBALANCE_S} s: {who}",
        "Members that allocate queues by themselves go on as before",
    ]
    modes = {after.mode for _, _, after in present.changed}
    if ConsumeMode.POP in modes:
        lines.append(
            "Share queues that exist go on from their own position; new ones begin at the committed"
            " offsets"
        )
    if ConsumeMode.PULL in modes:
        lines.append(
            "Members pull from the committed offsets: messages in flight are received again"
        )
    return tuple(lines)


def _check_static(present: Present) -> Check:
    name = "POP serves the topic"
    held = present.answers.answers
    without = [
        one.broker_group_name
        for one, wanted in sorted(present.wanted.items())
        if wanted.mode is ConsumeMode.POP and not held[one].has_pop
    ]
    if not without:
        return Check(name, CheckVerdict.PASS, "every broker that changes to POP serves it")
    why = f"RocketMQ has no POP of a static topic: {masters.shortened(without)}"
    return Check(name, CheckVerdict.BLOCK, why)


def _check_group(present: Present) -> Check:
    name = "every master has the topic and the group"
    held = present.answers.answers
    without = sorted(one.broker_group_name for one in held if one not in present.wanted)
    if not without:
        return Check(name, CheckVerdict.PASS, f"{len(held)} of {len(held)}")
    return Check(name, CheckVerdict.WARN, f"nothing changes on {masters.shortened(without)}")


def _check_effect(present: Present) -> Check:
    name = "something changes"
    if present.changed:
        return Check(name, CheckVerdict.PASS, f"on {masters.count_groups(present.changed)}")
    return Check(name, CheckVerdict.BLOCK, "every master has this mode already")
