"""Change a broker group under a controller: elect, prefer, forget and adopt its replicas."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

from backend.domain.adoption import AdoptionOrder
from backend.domain.election import Ballot
from backend.domain.operation import Step, StepState, Value
from backend.domain.operation_errors import NotUndoable
from backend.domain.plan import PlannedStep, ReadBack
from backend.domain.replica_group import UNKNOWN_POSITION, LeasePolicy, prefer_master
from backend.operations.engine.kind import Consequence, OperationContext, OperationRequest, StepRun
from backend.operations.planning import groups
from backend.operations.planning.groups import compare
from backend.services.controller import adoptions, elections, replica_groups
from backend.services.controller.group_changes import (
    BrokerGroupName,
    GroupView,
    change_group,
    find_group,
)

FOLLOW_PATIENCE_S: Final = 15.0
MASTER_PATIENCE_S: Final = 15.0


@dataclass(frozen=True, slots=True)
class GroupAction:
    """Change a broker group, and write its master, epoch and replicas to the journal."""

    cluster_name: str
    broker_group_name: str

    @property
    def group(self) -> BrokerGroupName:
        """Name the broker group."""
        return groups.checked(self.cluster_name, self.broker_group_name)

    async def read(self, context: OperationContext) -> Value:
        """Read the broker group."""
        return await groups.read_value(self.group, context)

    def _request(self, kind: str, **parameters: Any) -> OperationRequest:
        named = {"cluster_name": self.cluster_name, "broker_group_name": self.broker_group_name}
        return OperationRequest(kind, {**named, **parameters})


@dataclass(frozen=True, slots=True)
class Elect(GroupAction):
    """Elect a master by the rules of the plan; without a broker the rules choose.

    `leaves` is the address of a master that must not be master afterwards.
    """

    tag: ClassVar[str] = "elect"

    broker_id: int | None
    is_graceful: bool
    accepts_loss: bool
    allows_unclean: bool
    expected_epoch: int
    winner_id: int | None = None
    leaves: str | None = None

    @property
    def step(self) -> PlannedStep:
        """Say which broker is elected, and whether the current master is asked for a handover."""
        # If no broker would win, the plan is blocked, and its steps name the chosen broker.
        elected_id = self.broker_id if self.winner_id is None else self.winner_id
        winner = "a master" if elected_id is None else f"broker {elected_id}"
        is_asked = self.is_graceful and self.broker_id is not None
        asked = "Ask the present master to hand over, then elect" if is_asked else "Elect"
        return PlannedStep("elect", f"{asked} {winner}")

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Elect, unless an earlier attempt has elected."""
        made = await groups.find_effect(run, self.group, context)
        if made is not None:
            return made
        ballot = Ballot(
            self.broker_id,
            is_designated=self.broker_id is not None,
            accepts_loss=self.accepts_loss,
        )
        command = elections.ElectionRequest(
            self.group,
            ballot,
            run.cause,
            expected_epoch=self.expected_epoch,
            is_graceful=self.is_graceful,
        )
        # The setting of this process may differ from that of the process that made the plan.
        controller = replace(context.controller, allows_unclean=self.allows_unclean)
        view = await elections.elect(command, controller, guard=run.guard)
        return groups.value_of(view.group)

    async def verify(self, step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back the master, its epoch and its followers."""
        view = await find_group(self.group, context.controller)
        if self.leaves is not None:
            master = None if view is None else view.group.master
            master_text = "none" if master is None else "another"
            is_same = master is not None and master.address == self.leaves
            return [compare("master", "another", "it" if is_same else master_text)]
        if view is None:
            return [compare("group", self.broker_group_name, "gone")]
        made, group = step.after or {}, view.group
        return [
            compare("master", made.get("master_id"), group.master_id or "none"),
            compare("master epoch", made.get("master_epoch"), group.master_epoch),
            *(
                compare(f"epoch of broker {broker_id}", group.master_epoch, epoch)
                for broker_id, epoch in _reported_epochs(view).items()
            ),
        ]

    def undo(self, step: Step) -> OperationRequest:
        """Elect the former master.

        Raises:
            NotUndoable: there was no master, or the master has not changed.
        """
        if step.state is not StepState.DONE or step.before is None or step.after is None:
            raise NotUndoable("no master was elected")
        former_id = step.before["master_id"]
        if former_id is None:
            raise NotUndoable("the group had no master before")
        if step.before["master_epoch"] == step.after["master_epoch"]:
            raise NotUndoable("the master stayed")
        return self._request("elect_master", broker_id=former_id)


@dataclass(frozen=True, slots=True)
class AwaitFollowers(Consequence, GroupAction):
    """Wait until every living replica is in the epoch of the master."""

    tag: ClassVar[str] = "await_followers"

    @property
    def step(self) -> PlannedStep:
        """Say what the step waits for."""
        return PlannedStep("follow", "Wait until every living replica is in the new epoch")

    async def do(self, _run: StepRun, context: OperationContext) -> Value:
        """Wait for a while; replicas that are late then are read back as late."""
        view = await groups.await_view(
            self.group, context, lambda seen: not _late(seen), patience_s=FOLLOW_PATIENCE_S
        )
        return groups.value_of(None if view is None else view.group)

    async def verify(self, _step: Step, _context: OperationContext) -> list[ReadBack]:
        """Read nothing: the election reads back the followers."""
        return []


def _reported_epochs(view: GroupView) -> dict[int, int | None]:
    """Return the last reported epoch of each living replica; None if it reported none."""
    epochs: dict[int, int | None] = {}
    for broker_id in sorted(view.liveness.alive_ids & view.group.replicas.keys()):
        epoch = view.liveness.reports[broker_id].epoch
        epochs[broker_id] = None if epoch == UNKNOWN_POSITION else epoch
    return epochs


def _late(view: GroupView | None) -> bool:
    if view is None:
        return False
    if view.group.master_id not in view.liveness.alive_ids:
        return True
    return any(epoch != view.group.master_epoch for epoch in _reported_epochs(view).values())


@dataclass(frozen=True, slots=True)
class PreferMaster(GroupAction):
    """Record the master that operators prefer; None means none."""

    tag: ClassVar[str] = "prefer_master"

    broker_id: int | None
    former_id: int | None

    @property
    def step(self) -> PlannedStep:
        """Say which broker is preferred."""
        return PlannedStep("prefer", f"Note that {preferred_text(self.broker_id)} is preferred")

    async def read(self, context: OperationContext) -> Value:
        """Read the preferred broker."""
        view = await find_group(self.group, context.controller)
        return None if view is None else {"preferred_id": view.group.preferred_id}

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Record the preference, in one change of the group."""
        if await groups.find_effect(run, self.group, context) is None:
            await change_group(
                self.group,
                lambda group, _: prefer_master(
                    group, broker_group_name=self.broker_group_name, broker_id=self.broker_id
                ),
                context.controller,
                cause=run.cause,
                guard=run.guard,
            )
        return {"preferred_id": self.broker_id}

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back the preferred broker."""
        view = await find_group(self.group, context.controller)
        observed = "the group is gone" if view is None else preferred_text(view.group.preferred_id)
        return [compare("preferred master", preferred_text(self.broker_id), observed)]

    def undo(self, step: Step) -> OperationRequest:
        """Restore the former preference.

        Raises:
            NotUndoable: nothing was changed.
        """
        if step.state is not StepState.DONE or self.former_id == self.broker_id:
            raise NotUndoable("the preference was not changed")
        return self._request("prefer_master", broker_id=self.former_id)


def preferred_text(broker_id: int | None) -> str:
    """Write the name of the preferred broker."""
    return "none" if broker_id is None else f"broker {broker_id}"


@dataclass(frozen=True, slots=True)
class RemoveReplicas(GroupAction):
    """Forget replicas; `named_ids` are those of the order, none of which means the whole group."""

    tag: ClassVar[str] = "forget_replicas"

    named_ids: tuple[int, ...]
    forgotten_ids: tuple[int, ...]
    includes_living: bool
    expected_epoch: int
    is_whole: bool

    @property
    def step(self) -> PlannedStep:
        """Say which replicas are forgotten."""
        if self.is_whole:
            return PlannedStep("forget", f"Forget group {self.broker_group_name}")
        return PlannedStep("forget", f"Forget replicas {groups.ids_text(self.forgotten_ids)}")

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Forget, in one change of the group."""
        made = await groups.find_effect(run, self.group, context)
        if made is not None:
            return made
        wish = replica_groups.ReplicaRemoval(
            self.group,
            frozenset(self.named_ids),
            expected_epoch=self.expected_epoch,
            cause=run.cause,
            includes_living=self.includes_living,
        )
        view = await replica_groups.forget(wish, context.controller, guard=run.guard)
        return groups.value_of(None if view is None else view.group)

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back that none of them remains."""
        view = await find_group(self.group, context.controller)
        left = set() if view is None else set(view.group.replicas)
        left_text = groups.ids_text(left & set(self.forgotten_ids))
        return [compare("left of those forgotten", "none", left_text)]

    def undo(self, _step: Step) -> OperationRequest:
        """Refuse: nothing brings an id back.

        Raises:
            NotUndoable: always.
        """
        raise NotUndoable(
            "forgotten ids are never used again; a group that is gone is adopted"
            " from its brokers (regent replica candidates)"
        )


@dataclass(frozen=True, slots=True)
class AdoptBrokers(GroupAction):
    """Adopt brokers with the ids that they claim."""

    tag: ClassVar[str] = "adopt_replicas"

    broker_ids: tuple[int, ...]
    master_id: int | None
    least_epoch: int | None
    accepts_loss: bool
    lease_policy: LeasePolicy
    expected_epoch: int

    @property
    def step(self) -> PlannedStep:
        """Say which brokers are adopted."""
        return PlannedStep(
            "adopt", f"Take in {groups.ids_text(self.broker_ids)} under the ids they claim"
        )

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Adopt, in one change of the group."""
        controller = replace(context.controller, lease_policy=self.lease_policy)
        made = await groups.find_effect(run, self.group, context)
        if made is not None:
            await adoptions.remove_candidates(self.group, self.broker_ids, controller)
            return made
        order = AdoptionOrder(
            frozenset(self.broker_ids), self.master_id, self.least_epoch, self.accepts_loss
        )
        command = adoptions.AdoptionRequest(
            self.group, order, run.cause, expected_epoch=self.expected_epoch
        )
        view = await adoptions.adopt(command, controller, guard=run.guard)
        return groups.value_of(view.group)

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back that all are replicas."""
        view = await find_group(self.group, context.controller)
        held = set() if view is None else set(view.group.replicas)
        wanted = set(self.broker_ids)
        return [compare("adopted", groups.ids_text(wanted), groups.ids_text(wanted & held))]

    def undo(self, _step: Step) -> OperationRequest:
        """Refuse: the group has held an election since then.

        Raises:
            NotUndoable: always.
        """
        raise NotUndoable(
            "the brokers have begun a new epoch; forget the group and adopt it otherwise instead"
        )


@dataclass(frozen=True, slots=True)
class AwaitMaster(Consequence, GroupAction):
    """Wait until a group that was lost has elected its master."""

    tag: ClassVar[str] = "await_master"

    @property
    def step(self) -> PlannedStep:
        """Say what the step waits for."""
        return PlannedStep("elect", "Wait until the group has elected its master")

    async def do(self, _run: StepRun, context: OperationContext) -> Value:
        """Wait for a while."""
        view = await groups.await_view(
            self.group,
            context,
            lambda seen: seen is not None and seen.group.master_id is not None,
            patience_s=MASTER_PATIENCE_S,
        )
        return groups.value_of(None if view is None else view.group)

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back that there is a master."""
        view = await find_group(self.group, context.controller)
        has_master = view is not None and view.group.master_id is not None
        return [compare("master", "elected", "elected" if has_master else "none")]
