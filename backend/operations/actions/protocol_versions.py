"""Upgrade the brokers of a group one by one, and raise or lower its protocol version.

The rules are those of queue-ownership.md 4.15.
"""

from dataclasses import dataclass
from typing import ClassVar, Final

from backend.brokers.requests.shares import CompactShareQueues, GetShareQueues
from backend.domain.election import Ballot, ReplicaReport
from backend.domain.errors import (
    BrokerGroupNotControlled,
    ElectionFailed,
    MasterEpochMoved,
    MasterLeaseLive,
)
from backend.domain.operation import Step, StepState, Value
from backend.domain.operation_errors import NotUndoable
from backend.domain.plan import PlannedStep, ReadBack
from backend.domain.replica_group import (
    Change,
    ReplicaGroup,
    limit_protocol_version,
    lower_protocol_version,
)
from backend.operations.actions.replica_groups import GroupAction
from backend.operations.engine.kind import (
    Consequence,
    OperationContext,
    OperationRequest,
    StepRun,
    Unfinished,
    Waiting,
)
from backend.operations.planning import groups
from backend.operations.planning.broker_steps import fence_of
from backend.operations.planning.groups import compare
from backend.services.controller import elections
from backend.services.controller.group_changes import GroupView, change_group, find_group

NO_FORMER_RELEASE: Final = (
    "start an upgraded broker with its former release, while the group has the former version;"
    " afterwards lower the version of the group"
)


class _VersionAction(GroupAction):
    """Read a group under a controller, and the version of the records of its master."""

    __slots__ = ()

    async def read(self, context: OperationContext) -> Value:
        """Read the versions of the group and of its brokers."""
        view = await find_group(self.group, context.controller)
        return None if view is None else versions_of(view.group)

    async def _view(self, context: OperationContext) -> GroupView:
        view = await find_group(self.group, context.controller)
        if view is None:
            raise BrokerGroupNotControlled(self.broker_group_name)
        return view

    async def _written(self, group: ReplicaGroup, context: OperationContext) -> int | None:
        """Ask the master for the version of its next records; None without an answer."""
        if group.master is None:
            return None
        found = await context.brokers.find(group.master.address, GetShareQueues())
        return None if found is None else found.protocol_version

    async def _verify_written(self, wanted: int, context: OperationContext) -> list[ReadBack]:
        group = (await self._view(context)).group
        return [
            compare("protocol version of the group", wanted, group.protocol_version),
            compare("version of new records", wanted, await self._written(group, context)),
        ]


@dataclass(frozen=True, slots=True)
class AwaitUpgrade(_VersionAction):
    """Wait until a broker was restarted with a release of a version, and is in sync again."""

    tag: ClassVar[str] = "await_upgrade"

    broker_id: int
    version: int

    @property
    def step(self) -> PlannedStep:
        """Name the broker, and what its operator does."""
        return PlannedStep(
            f"upgrade broker {self.broker_id}",
            f"Wait until broker {self.broker_id} was restarted with a release of protocol version"
            f" {self.version} and is in the SyncStateSet",
        )

    async def do(self, _run: StepRun, context: OperationContext) -> Value:
        """Wait, and say what to do next."""
        view = await self._view(context)
        reason = self._what_next(view)
        if reason is not None:
            raise Waiting(reason, versions_of(view.group))
        return versions_of(view.group)

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back the version of the broker; one that was forgotten needs none."""
        replica = (await self._view(context)).group.replicas.get(self.broker_id)
        version = None if replica is None else replica.protocol_version
        if replica is not None and version is not None:
            version = min(version, self.version)
        wanted = "gone" if replica is None else self.version
        observed = "gone" if replica is None else version
        return [compare(f"version of broker {self.broker_id}", wanted, observed)]

    def undo(self, _step: Step) -> OperationRequest:
        """Refuse: an operator started the broker.

        Raises:
            NotUndoable: always.
        """
        raise NotUndoable(NO_FORMER_RELEASE)

    def _what_next(self, view: GroupView) -> str | None:
        """Say what is missing; None if the broker has the version and its place, or is gone."""
        replica = view.group.replicas.get(self.broker_id)
        if replica is None:
            return None
        name = f"broker {self.broker_id} ({replica.address})"
        members, alive_ids = view.group.sync_state_set.members, view.liveness.alive_ids
        if (replica.protocol_version or 0) < self.version:
            late = find_late(view, besides=self.broker_id)
            if late and self.broker_id in alive_ids:
                return f"do not stop {name} yet: {groups.ids_text(late)} are not in sync"
            return (
                f"{name} is of protocol version {replica.protocol_version}: stop it, and start it"
                f" with a release of version {self.version} or later"
            )
        if self.broker_id not in alive_ids:
            return f"{name} is upgraded, and the controller receives no heartbeat of it: start it"
        if self.broker_id not in members and _joins(view.liveness.reports[self.broker_id]):
            return f"{name} is upgraded, and copies what it lacks before it is in sync"
        return None


@dataclass(frozen=True, slots=True)
class LeaveMaster(Consequence, _VersionAction):
    """Have a master hand over to an upgraded broker, unless another is master already."""

    tag: ClassVar[str] = "leave_master"

    broker_id: int
    version: int

    @property
    def step(self) -> PlannedStep:
        """Say who hands over."""
        return PlannedStep(
            "hand over", f"Have broker {self.broker_id} hand over to an upgraded broker"
        )

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Elect an upgraded broker; wait while none can take over."""
        if await groups.find_effect(run, self.group, context) is None:
            await self._hand_over(run, await self._view(context), context)
        return versions_of((await self._view(context)).group)

    async def _hand_over(self, run: StepRun, view: GroupView, context: OperationContext) -> None:
        if view.group.master_id is None:
            raise Waiting("the group has no master now", versions_of(view.group))
        if view.group.master_id != self.broker_id:
            return
        upgraded = {
            one.broker_id
            for one in view.group.replicas.values()
            if (one.protocol_version or 0) >= self.version
        }
        heir_id = groups.find_heir(view, among=upgraded)
        if heir_id is None:
            reason = "no upgraded broker in the SyncStateSet is alive to take over: start one"
            raise Waiting(reason, versions_of(view.group))
        command = elections.ElectionRequest(
            self.group,
            Ballot(heir_id, is_designated=True),
            run.cause,
            expected_epoch=view.group.master_epoch,
            is_graceful=True,
        )
        try:
            await elections.elect(command, context.controller, guard=run.guard)
        except (ElectionFailed, MasterEpochMoved, MasterLeaseLive) as error:
            raise Waiting(str(error), versions_of(view.group)) from error

    async def verify(self, _step: Step, _context: OperationContext) -> list[ReadBack]:
        """Read nothing: another election may have come since."""
        return []


@dataclass(frozen=True, slots=True)
class AwaitVersion(Consequence, _VersionAction):
    """End a limit below a version, and wait until the master writes records of that version."""

    tag: ClassVar[str] = "await_version"

    version: int

    @property
    def step(self) -> PlannedStep:
        """Say what the step waits for."""
        return PlannedStep(
            "raise", f"Wait until the master writes records of protocol version {self.version}"
        )

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """End the limit, and wait."""

        def end_limit(group: ReplicaGroup | None, _: object) -> Change | None:
            if group is None:
                raise BrokerGroupNotControlled(self.broker_group_name)
            limit = group.version_limit
            is_in_the_way = limit is not None and limit < self.version
            return limit_protocol_version(group, None) if is_in_the_way else None

        await change_group(
            self.group, end_limit, context.controller, cause=run.cause, guard=run.guard
        )
        group = (await self._view(context)).group
        if group.protocol_version < self.version:
            older = {
                one.broker_id
                for one in group.replicas.values()
                if one.protocol_version is not None and one.protocol_version < self.version
            }
            reason = f"{groups.ids_text(older)} are of an older version: upgrade or forget them"
            raise Waiting(reason, versions_of(group))
        if (await self._written(group, context) or 0) < self.version:
            reason = "the master has not learned the version yet, or does not answer"
            raise Waiting(reason, versions_of(group))
        return versions_of(group)

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back the version of the group and of new records."""
        group = (await self._view(context)).group
        return await self._verify_written(max(self.version, group.protocol_version), context)


@dataclass(frozen=True, slots=True)
class LimitVersion(_VersionAction):
    """Let the version of a group rise to a limit only."""

    tag: ClassVar[str] = "limit_version"

    version: int

    @property
    def step(self) -> PlannedStep:
        """Say what the limit is."""
        return PlannedStep("limit", f"Limit the group to protocol version {self.version}")

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Set the limit, in one change of the group."""

        def limit(group: ReplicaGroup | None, _: object) -> Change | None:
            if group is None:
                raise BrokerGroupNotControlled(self.broker_group_name)
            return limit_protocol_version(group, self.version)

        await change_group(self.group, limit, context.controller, cause=run.cause, guard=run.guard)
        return versions_of((await self._view(context)).group)

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back the limit."""
        limit = (await self._view(context)).group.version_limit
        return [compare("limit of the version", self.version, limit or "none")]

    def undo(self, step: Step) -> OperationRequest:
        """Upgrade the group again, which ends the limit.

        Raises:
            NotUndoable: the step did nothing.
        """
        if step.state is not StepState.DONE or step.before is None:
            raise NotUndoable("the version was not limited")
        return self._request("upgrade_broker_group", version=step.before["version"])


@dataclass(frozen=True, slots=True)
class CompactShares(Consequence, _VersionAction):
    """Have the master write its share queues again, in records of a version."""

    tag: ClassVar[str] = "compact_shares"

    version: int

    @property
    def step(self) -> PlannedStep:
        """Say what is written."""
        return PlannedStep(
            "compact",
            f"Have the master write all share queues again, in records of version {self.version}",
        )

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Order it at the present master."""
        group = (await self._view(context)).group
        if group.master is None:
            raise Waiting("the group has no master now", versions_of(group))
        change = CompactShareQueues(version=self.version, fence=fence_of(run))
        await context.brokers.ask(group.master.address, change)
        if await self._written(group, context) != self.version:
            raise Unfinished("another broker has become master")
        return versions_of(group)

    async def verify(self, _step: Step, _context: OperationContext) -> list[ReadBack]:
        """Read nothing: the next step reads the version of new records back."""
        return []


@dataclass(frozen=True, slots=True)
class LowerVersion(Consequence, _VersionAction):
    """Lower the version of a group to its limit, so that older brokers can register."""

    tag: ClassVar[str] = "lower_version"

    version: int

    @property
    def step(self) -> PlannedStep:
        """Say what the version becomes."""
        return PlannedStep("lower", f"Let brokers of protocol version {self.version} join")

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Lower it, while the master writes no later record."""
        group = (await self._view(context)).group
        if await self._written(group, context) != self.version:
            raise Waiting("the master does not answer, or is another one", versions_of(group))

        def lower(group: ReplicaGroup | None, _: object) -> Change | None:
            if group is None:
                raise BrokerGroupNotControlled(self.broker_group_name)
            return lower_protocol_version(group)

        await change_group(self.group, lower, context.controller, cause=run.cause, guard=run.guard)
        return versions_of((await self._view(context)).group)

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back the version of the group and of new records."""
        return await self._verify_written(self.version, context)


def versions_of(group: ReplicaGroup) -> Value:
    """Return the journal's value of the versions of a group."""
    return {
        "version": group.protocol_version,
        "limit": group.version_limit,
        "brokers": {
            str(one.broker_id): one.protocol_version
            for one in sorted(group.replicas.values(), key=lambda one: one.broker_id)
        },
    }


def find_late(view: GroupView, *, besides: int | None = None) -> frozenset[int]:
    """Find the living replicas that are not in the SyncStateSet, but may become members."""
    reports, members = view.liveness.reports, view.group.sync_state_set.members
    living = view.liveness.alive_ids & view.group.replicas.keys()
    return frozenset(one for one in living - members - {besides} if _joins(reports[one]))


def _joins(report: ReplicaReport) -> bool:
    """Return whether a replica is about to be in sync: at once, or with the older segments."""
    return not report.is_learner or report.may_lack_older
