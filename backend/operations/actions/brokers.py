"""Change one broker: its write permission, its properties, its record and its locks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from backend.brokers.requests.locks import GetQueueLocks, ReleaseQueueLocks
from backend.brokers.requests.properties import PERMISSION, GetPermission, UpdateBrokerConfig
from backend.db import (
    broker_groups,
    clusters,
    events,
    placements,
    static_counts,
    topic_notices,
)
from backend.db import brokers as broker_rows
from backend.domain.broker_property import BrokerProperty, PropertyEffect
from backend.domain.event import TOPIC_REMOVED, topic_events
from backend.domain.operation import Step, Value
from backend.domain.operation_errors import BrokerStillCounted, NotUndoable
from backend.domain.plan import Agreement, PlannedStep, ReadBack
from backend.domain.queue_lock import BrokerKey, HeldLock, HeldLocks
from backend.domain.replica_group import UNKNOWN_LIFE
from backend.operations.engine.kind import (
    Consequence,
    Effect,
    OperationContext,
    OperationRequest,
    StepRun,
    Waiting,
)
from backend.operations.planning import broker_permissions as permissions
from backend.operations.planning.broker_steps import fence_of
from backend.operations.planning.groups import compare
from backend.operations.planning.masters import shortened
from backend.services.cluster.broker_configs import ask_properties
from backend.services.consumer_group.unread_messages import FindUnreadMessages
from backend.services.controller.group_changes import BrokerGroupName, find_group
from backend.services.logical_queue.leaving import forget_group

UNREAD: Final = "messages that are still to be read"


@dataclass(frozen=True, slots=True)
class _BrokerAction:
    """Identify a broker by its address; its id is its own, or in earlier plans that of its role."""

    cluster_name: str
    broker_group_name: str
    broker_id: int
    address: str

    def _request(self, kind: str, **parameters: Any) -> OperationRequest:
        named = {
            "cluster_name": self.cluster_name,
            "broker_group_name": self.broker_group_name,
            "broker_id": self.broker_id,
            "address": self.address,
        }
        return OperationRequest(kind, {**named, **parameters})


@dataclass(frozen=True, slots=True)
class SetPermission(_BrokerAction):
    """Set the permission of a broker; a second attempt is harmless."""

    tag: ClassVar[str] = "set_permission"

    permission: int | None
    takes_write: bool

    @property
    def step(self) -> PlannedStep:
        """Say whether the write permission is removed or set."""
        if self.takes_write:
            return PlannedStep("permission", f"Take the right to write from {self.address}")
        return PlannedStep("permission", f"Give {self.address} the right to write")

    async def read(self, context: OperationContext) -> Value:
        """Read the permission of the broker."""
        return {"permission": await context.brokers.ask(self.address, GetPermission())}

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Set it."""
        assert self.permission is not None, "a plan without it is blocked"
        changes = {PERMISSION: str(self.permission)}
        change = UpdateBrokerConfig(changes=changes, fence=fence_of(run))
        await context.brokers.ask(self.address, change)
        return await self.read(context)

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back the permission of the broker."""
        assert self.permission is not None, "a plan without it is blocked"
        return [await permissions.read_back(self.address, self.permission, context)]

    def undo(self, step: Step) -> OperationRequest:
        """Set the write permission of the same broker again, whatever its id is now.

        To remove the permission again needs a new order, with a plan that names the producers.

        Raises:
            NotUndoable: the permission was set, or the broker did not have it before.
        """
        if not self.takes_write:
            raise NotUndoable("cordon the broker (regent broker cordon): that affects producers")
        if (step.before or {}).get("permission") == self.permission:
            raise NotUndoable("no right to write was taken from the broker")
        return self._request("uncordon_broker")


@dataclass(frozen=True, slots=True)
class AwaitRoutes(Consequence, _BrokerAction):
    """Wait until routes send no producer to a broker, and the controller elects the broker last.

    Only the master depends on the routes of the group. The controller learns from a heartbeat that
    a replica is cordoned; an election before this heartbeat could leave the group without a writer
    (case A16).
    """

    tag: ClassVar[str] = "await_routes"

    @property
    def step(self) -> PlannedStep:
        """Say what the step waits for."""
        return PlannedStep("routes", "Wait until routes send no producer there")

    async def read(self, context: OperationContext) -> Value:
        """Count the topics whose routes send producers there."""
        return {"writable_topics": await self._count(context)}

    async def do(self, _run: StepRun, context: OperationContext) -> Value:
        """Wait while there are any."""
        count = await self._count(context)
        if count:
            reason = f"routes still send producers to {self.broker_group_name} for {count} topics"
            raise Waiting(reason, {"writable_topics": count})
        if not await self._is_elected_last(context):
            reason = f"the controller has not heard yet that {self.address} is cordoned"
            raise Waiting(reason, {"writable_topics": 0})
        return {"writable_topics": 0}

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back that there are none."""
        count = await self._count(context)
        return [compare("topics that producers are sent there for", 0, count)]

    async def _count(self, context: OperationContext) -> int:
        return await permissions.count_writable(
            self.cluster_name, self.broker_group_name, self.address, context
        )

    async def _is_elected_last(self, context: OperationContext) -> bool:
        """Return whether the newest heartbeat of the broker reports that it is cordoned.

        True if no such heartbeat comes: from a silent broker, a broker without a controller, or a
        RocketMQ broker, which does not report it.
        """
        name = BrokerGroupName(self.broker_group_name, self.cluster_name)
        view = await find_group(name, context.controller)
        if view is None:
            return True
        heartbeats = [
            view.liveness.reports.get(broker_id)
            for broker_id, replica in view.group.replicas.items()
            if replica.address == self.address
        ]
        return all(
            one is None or not one.is_alive or one.life == UNKNOWN_LIFE or one.is_cordoned
            for one in heartbeats
        )


@dataclass(frozen=True, slots=True)
class AwaitReaders(Consequence, _BrokerAction):
    """Wait until all consumer groups except the waived ones have read all messages of a broker."""

    tag: ClassVar[str] = "await_readers"

    waived_groups: tuple[str, ...] = ()

    @property
    def step(self) -> PlannedStep:
        """Say what the step waits for."""
        waived = f", but not for {', '.join(self.waived_groups)}" if self.waived_groups else ""
        return PlannedStep("read", f"Wait until consumer groups have read to the end{waived}")

    async def read(self, context: OperationContext) -> Value:
        """Read the number of unread messages."""
        return (await context.brokers.ask(self.address, FindUnreadMessages())).as_value()

    async def do(self, _run: StepRun, context: OperationContext) -> Value:
        """Wait while there are unread messages."""
        left = (await context.brokers.ask(self.address, FindUnreadMessages())).without(
            self.waived_groups
        )
        if left.count:
            raise Waiting(left.sentence, left.as_value())
        return left.as_value()

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back that no message is unread."""
        found = await context.brokers.find(self.address, FindUnreadMessages())
        left = None if found is None else found.without(self.waived_groups).count
        return [compare(UNREAD, 0, left)]


@dataclass(frozen=True, slots=True)
class PropertySetting:
    """Hold the value of a property as it is sent, its meaning, and when it takes effect."""

    name: str
    value: str
    intended: str
    effect: PropertyEffect


@dataclass(frozen=True, slots=True)
class SetProperties(_BrokerAction):
    """Set properties of a broker, all of them at once."""

    tag: ClassVar[str] = "set_properties"

    settings: tuple[PropertySetting, ...]

    @property
    def step(self) -> PlannedStep:
        """Name the properties."""
        return PlannedStep(
            "set", f"Set {shortened(one.name for one in self.settings) or 'nothing'}"
        )

    async def read(self, context: OperationContext) -> Value:
        """Read the values in the file of the broker."""
        known = await self._read(context)
        return {one.name: known[one.name].configured for one in self.settings if one.name in known}

    async def do(self, run: StepRun, context: OperationContext) -> Value | Effect:
        """Set them."""
        changes = {one.name: one.value for one in self.settings}
        change = UpdateBrokerConfig(changes=changes, fence=fence_of(run))
        result = await context.brokers.ask(self.address, change)
        return await self.read(context) if result is None else Effect(result.before, result.after)

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back the values in force, or those in the file if they need a restart."""
        known = await self._read(context)
        return [_compare(one, known.get(one.name)) for one in self.settings]

    def undo(self, step: Step) -> OperationRequest:
        """Set the former values of the same broker, whatever its id is now.

        Raises:
            NotUndoable: the former values are unknown.
        """
        if not step.before:
            raise NotUndoable("no property was set")
        changes = [
            {"name": name, "value": str(value)} for name, value in sorted(step.before.items())
        ]
        return self._request("change_broker_config", changes=changes)

    async def _read(self, context: OperationContext) -> dict[str, BrokerProperty]:
        properties = await ask_properties(self.address, context.brokers)
        return {one.name: one for one in properties}


def _compare(setting: PropertySetting, found: BrokerProperty | None) -> ReadBack:
    if found is None:
        return compare(setting.name, setting.intended, None)
    if setting.effect is PropertyEffect.LIVE:
        return compare(f"{setting.name} in force", setting.intended, found.value)
    return compare(f"{setting.name} as configured", setting.intended, found.configured)


@dataclass(frozen=True, slots=True)
class RemoveBroker(_BrokerAction):
    """Remove a lost broker from the records, and the group with its last broker."""

    tag: ClassVar[str] = "remove_broker"

    target: str

    @property
    def step(self) -> PlannedStep:
        """Name the broker."""
        broker = f"broker {self.broker_id} of {self.broker_group_name} ({self.address})"
        return PlannedStep("forget", f"Remove {broker} from the records")

    async def read(self, context: OperationContext) -> Value:
        """Read its record."""
        async with context.database.connect() as connection:
            found = await broker_rows.find(
                connection,
                self.cluster_name,
                self.broker_group_name,
                address=self.address,
            )
        if found is None:
            return None
        return {"broker_id": found.broker_id, "address": found.address, "state": found.state}

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Remove it, in one transaction."""
        async with context.database.begin() as connection:
            await run.guard(connection)
            of_group = self.cluster_name, self.broker_group_name
            group_id = await broker_rows.remove(connection, *of_group, address=self.address)
            if group_id is not None:
                if await broker_groups.is_forsaken(connection, group_id):
                    # Name servers keep the mappings of a group that is only down.
                    for topic_name in await static_counts.list_static(connection, *of_group):
                        await topic_notices.announce(
                            connection, self.cluster_name, topic_name, [self.broker_group_name]
                        )
                    held = await placements.remove_of_group(connection, group_id)
                    await static_counts.remove_orphans(connection, held)
                    result = topic_events(TOPIC_REMOVED, *of_group, held, at=context.clock.now())
                    await events.stage(connection, [*result])
                    await forget_group(connection, *of_group, at=context.clock.now())
                    await broker_groups.remove(connection, group_id)
                cluster = await clusters.get(connection, self.cluster_name)
                await clusters.raise_route_version(connection, cluster.id, at=context.clock.now())
        left = await self.read(context)
        if left is not None:
            # It has registered since the plan was made.
            raise BrokerStillCounted(self.broker_group_name, self.broker_id)
        return left

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back that no record of the broker remains."""
        left = await self.read(context)
        return [
            compare(f"record of {self.target}", "none", "none" if left is None else left["state"])
        ]

    def undo(self, _step: Step) -> OperationRequest:
        """Refuse: only the broker itself can register again.

        Raises:
            NotUndoable: always.
        """
        raise NotUndoable("start the broker: it registers, and its record exists again")


@dataclass(frozen=True, slots=True)
class ReleaseLocks:
    """Release the planned locks on a broker, if they are still the same."""

    tag: ClassVar[str] = "release_locks"

    broker: BrokerKey
    locks: tuple[HeldLock, ...]
    number: int

    @property
    def step(self) -> PlannedStep:
        """Say how many locks are released, and where."""
        count = f"{len(self.locks)} lock{'s' if len(self.locks) != 1 else ''}"
        return PlannedStep(
            f"release-{self.number}",
            f"Release {count} on {self.broker.broker_group_name} ({self.broker.address})",
        )

    async def read(self, context: OperationContext) -> Value:
        """Read the present holders of the planned queues, by group and queue."""
        now = _by_queue(await context.brokers.ask(self.broker.address, GetQueueLocks()))
        return {
            "holders": {
                f"{lock.consumer_group_name} {lock.topic}/{lock.queue_id}": (
                    None if (held := now.get(_queue_of(lock))) is None else held.client_id
                )
                for lock in self.locks
            }
        }

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Release them."""
        change = ReleaseQueueLocks(locks=self.locks, fence=fence_of(run))
        await context.brokers.ask(self.broker.address, change)
        return await self.read(context)

    async def verify(self, _step: Step, context: OperationContext) -> Sequence[ReadBack]:
        """Read back that no planned lock remains; the present holders are named."""
        what = f"locks on {self.broker.broker_group_name}"
        intended = f"none of the {len(self.locks)} planned"
        answer = await context.brokers.find(self.broker.address, GetQueueLocks())
        if answer is None:
            return [ReadBack(what, intended, None, Agreement.UNKNOWN)]
        now = _by_queue(answer)
        held = [now[_queue_of(lock)] for lock in self.locks if _queue_of(lock) in now]
        old = {(_queue_of(lock), lock.client_id, lock.locked_at_ms) for lock in self.locks}
        left = [one for one in held if (_queue_of(one), one.client_id, one.locked_at_ms) in old]
        if left:
            return [ReadBack(what, intended, f"{len(left)} left", Agreement.DIFFERS)]
        takers = sorted({lock.client_id for lock in held})
        observed = f"{len(held)} taken by {', '.join(takers)}" if takers else "all free"
        return [ReadBack(what, intended, observed, Agreement.AGREES)]

    def undo(self, _step: Step) -> OperationRequest:
        """Refuse: nothing can make a client hold a lock.

        Raises:
            NotUndoable: always.
        """
        raise NotUndoable(
            "clients take locks when they consume; a connected client locks again"
            " within 20 s (regent lock list)"
        )


def _by_queue(held: HeldLocks) -> Mapping[tuple[str, str, str, int], HeldLock]:
    return {_queue_of(lock): lock for lock in held.locks}


def _queue_of(lock: HeldLock) -> tuple[str, str, str, int]:
    return (lock.consumer_group_name, lock.topic, lock.broker_name, lock.queue_id)
