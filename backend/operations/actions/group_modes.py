"""Switch the mode of a broker group, broker by broker (D16)."""

from dataclasses import dataclass
from typing import ClassVar, Final

from backend.brokers.requests.group_modes import ModeReport, Place, SwitchMode, TrySwitch
from backend.db import broker_groups, clusters, events
from backend.db import brokers as broker_rows
from backend.domain.broker import MASTER_ID
from backend.domain.event import acting_events
from backend.domain.operation import Step, Value
from backend.domain.operation_errors import MasterReplaced, NotUndoable
from backend.domain.plan import PlannedStep, ReadBack
from backend.operations.actions.replica_groups import GroupAction
from backend.operations.engine.kind import (
    Consequence,
    OperationContext,
    OperationRequest,
    StepRun,
    Waiting,
)
from backend.operations.planning import groups
from backend.operations.planning.broker_steps import fence_of
from backend.operations.planning.groups import compare
from backend.rules.group_mode import GroupMode
from backend.services.controller import replica_groups
from backend.services.controller.group_changes import find_group

NO_FORMER_MODE: Final = (
    "before, no broker of the group served for an absent master: to go back, set"
    " enableSlaveActingMaster=false at each broker, and start it again"
)


@dataclass(frozen=True, slots=True)
class _PlaceAction(GroupAction):
    """Mean a broker by its name and its address, with its place in the other mode."""

    name: str
    address: str
    place: Place

    async def read(self, context: OperationContext) -> Value:
        """Read the mode of the broker; None while it does not answer."""
        found = await self._find(context)
        return None if found is None else {"mode": found.mode}

    async def _find(self, context: OperationContext) -> ModeReport | None:
        return await context.brokers.find(self.address, TrySwitch(self.place))


@dataclass(frozen=True, slots=True)
class SwitchBroker(_PlaceAction):
    """Have a broker start again in the other mode."""

    tag: ClassVar[str] = "switch_broker"

    @property
    def step(self) -> PlannedStep:
        """Name the broker and its mode."""
        mode = mode_text(self.place.mode)
        return PlannedStep(f"switch {self.name}", f"Start {self.name} again in {mode} mode")

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Order it, unless the broker is in that mode."""
        found = await self._find(context)
        if found is None or found.mode is not self.place.mode:
            if found is not None and found.obstacle_passes:
                raise Waiting(f"{self.name}: {found.obstacle}", {"mode": found.mode})
            await self._check_master(context)
            await context.brokers.ask(
                self.address, SwitchMode(place=self.place, fence=fence_of(run))
            )
        return {"mode": self.place.mode}

    async def _check_master(self, context: OperationContext) -> None:
        """Check that the controller has elected no other master since the plan.

        Raises:
            MasterReplaced: it has. The replicas would copy the log of the former master.
            Waiting: an election is under way.
        """
        view = await find_group(self.group, context.controller)
        if self.place.mode is not GroupMode.ACTING_MASTER or view is None:
            return
        master_id = view.group.master_id
        if master_id is None:
            raise Waiting("the group has no master now", groups.value_of(view.group))
        present = view.group.replicas[master_id].address
        planned = self.place.master_address or self.address
        if present != planned:
            raise MasterReplaced(self.broker_group_name, planned, present=present)

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back the mode in force."""
        found = await self._find(context)
        mode = None if found is None else found.mode.value
        return [compare(f"mode of {self.name}", self.place.mode.value, mode)]

    def undo(self, step: Step) -> OperationRequest:
        """Switch the group to its former mode.

        Raises:
            NotUndoable: no replica could serve for the master in the former mode.
        """
        former = (step.before or {}).get("mode")
        if former not in {GroupMode.CONTROLLER, GroupMode.ACTING_MASTER}:
            raise NotUndoable(NO_FORMER_MODE)
        return self._request("switch_group_mode", mode=former)


@dataclass(frozen=True, slots=True)
class AwaitPlace(Consequence, _PlaceAction):
    """Wait until a broker has its place in the group in the other mode."""

    tag: ClassVar[str] = "await_place"

    @property
    def step(self) -> PlannedStep:
        """Say what the step waits for."""
        return PlannedStep(f"await {self.name}", f"Wait until {self.name} {self._wanted}")

    async def do(self, _run: StepRun, context: OperationContext) -> Value:
        """Wait while it has not."""
        found = await self._find(context)
        reason = await self._why_not_there(found, context)
        if reason is not None:
            raise Waiting(reason, {"mode": None if found is None else found.mode})
        return {"mode": self.place.mode}

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back that nothing is missing: the broker is registered, or in the SyncStateSet."""
        lack = await self._find_lack(context)
        return [compare(f"place of {self.name}", "taken", "taken" if lack is None else lack)]

    @property
    def _is_master(self) -> bool:
        return self.place.master_address is None

    @property
    def _wanted(self) -> str:
        if self.place.mode is GroupMode.CONTROLLER:
            return "is elected" if self._is_master else "is in the SyncStateSet"
        return "serves with its replicas" if self._is_master else "is registered as a replica"

    async def _why_not_there(
        self, found: ModeReport | None, context: OperationContext
    ) -> str | None:
        if found is None:
            return f"{self.name} ({self.address}) does not answer: it starts again"
        if found.mode is not self.place.mode:
            # It writes its settings before it ends, so an operator has changed them back.
            return f"{self.name} is in {mode_text(found.mode)} mode: undo the operation"
        return await self._find_lack(context)

    async def _find_lack(self, context: OperationContext) -> str | None:
        if self.place.mode is GroupMode.CONTROLLER:
            return await self._find_lack_at_controller(context)
        async with context.database.connect() as connection:
            group = await broker_groups.get(connection, self.cluster_name, self.broker_group_name)
            known = (await broker_rows.list_of_groups(connection, [group.id]))[group.id]
        online = {one.address: one.broker_id for one in known if one.is_online}
        if not self._is_master:
            # Only a registered replica asks the master for what it took last (I9).
            return None if self.address in online else f"{self.name} is not registered yet"
        if online.get(self.address) != MASTER_ID:
            return f"{self.name} is not registered as the master yet"
        missing = sorted(set(self.place.others) - online.keys())
        return f"not registered yet: {', '.join(missing)}" if missing else None

    async def _find_lack_at_controller(self, context: OperationContext) -> str | None:
        view = await find_group(self.group, context.controller)
        replicas = {} if view is None else view.group.replicas
        own = [one.broker_id for one in replicas.values() if one.address == self.address]
        if view is None or not own:
            return f"the controller does not know {self.name} yet: see its controllerAddr"
        [own_id] = own
        if own_id not in view.liveness.alive_ids:
            return f"the controller receives no heartbeat of {self.name} yet"
        if self._is_master:
            is_master = view.group.master_id == own_id
            return None if is_master else f"{self.name} is not elected yet"
        is_member = own_id in view.group.sync_state_set.members
        return None if is_member else f"{self.name} is not in the SyncStateSet yet"


@dataclass(frozen=True, slots=True)
class LeaveController(Consequence, GroupAction):
    """Have the controller forget a group whose brokers have left it."""

    tag: ClassVar[str] = "leave_controller"

    @property
    def step(self) -> PlannedStep:
        """Say what is forgotten."""
        return PlannedStep("leave", f"Have the controller forget {self.broker_group_name}")

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Forget it, once the controller hears none of its brokers, and record the mode."""
        view = await find_group(self.group, context.controller)
        if view is not None:
            if view.liveness.alive_ids & view.group.replicas.keys():
                reason = "brokers of the group are still alive at the controller"
                raise Waiting(reason, groups.value_of(view.group))
            removal = replica_groups.ReplicaRemoval(
                self.group, frozenset(), expected_epoch=view.group.master_epoch, cause=run.cause
            )
            await replica_groups.forget(removal, context.controller, guard=run.guard)
        await self._note_mode(run, context)
        return groups.value_of(None)

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back that the controller knows no such group, and the recorded mode."""
        view = await find_group(self.group, context.controller)
        async with context.database.connect() as connection:
            group = await broker_groups.get(connection, self.cluster_name, self.broker_group_name)
        wanted = GroupMode.ACTING_MASTER.value
        return [
            compare("group at the controller", "gone", "gone" if view is None else "known"),
            compare("recorded mode", wanted, group.mode.value),
        ]

    async def _note_mode(self, run: StepRun, context: OperationContext) -> None:
        at = context.clock.now()
        async with context.database.begin() as connection:
            await run.guard(connection)
            cluster = await clusters.get(connection, self.cluster_name)
            group_id = await broker_groups.find_or_add(
                connection,
                cluster.id,
                self.broker_group_name,
                mode=GroupMode.ACTING_MASTER,
                at=at,
            )
            changed = await broker_groups.note_acting(connection, group_id, at=at)
            if changed is not None:
                await events.stage(connection, acting_events(*changed, at=at))


def mode_text(mode: GroupMode) -> str:
    """Write a mode in words."""
    return mode.value.replace("_", "-")
