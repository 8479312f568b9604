"""Have a broker container run one more broker, or stop one, and wait for the name servers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from backend.brokers.errors import AnswerLate, BrokerRefused
from backend.brokers.requests.containers import AddBroker, GetContainer, RemoveBroker
from backend.db import brokers as broker_rows
from backend.domain.broker import Broker
from backend.domain.container import ContainerReport
from backend.domain.operation import Step, Value
from backend.domain.operation_errors import NotUndoable
from backend.domain.plan import Agreement, PlannedStep, ReadBack
from backend.operations.engine.kind import (
    Consequence,
    OperationContext,
    OperationRequest,
    StepRun,
    Waiting,
)
from backend.operations.planning.broker_steps import fence_of
from backend.operations.planning.groups import compare

ALREADY_THERE: Final = "has already been added"
"""What a container says of a broker that it has, in the words of stock."""


@dataclass(frozen=True, slots=True)
class StartInContainer:
    """Have a container run the broker of a file.

    `address` is where the broker is to listen, None if a container of stock does not report it.
    """

    tag: ClassVar[str] = "start_in_container"

    cluster_name: str
    container_address: str
    config_path: str
    broker_group_name: str
    broker_id: int
    address: str | None

    @property
    def step(self) -> PlannedStep:
        """Name the container and the file."""
        return PlannedStep("add", f"Run {self.config_path} in container {self.container_address}")

    async def read(self, context: OperationContext) -> Value:
        """Read whether the container has the file in its list."""
        report = await context.brokers.ask(self.container_address, GetContainer())
        return {"is_listed": self.config_path in report.paths}

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Add the broker, unless an earlier attempt did.

        The recovery of its store may take longer than any answer. The next step waits for that.
        """
        change = AddBroker(config_path=self.config_path, fence=fence_of(run))
        try:
            await context.brokers.ask(self.container_address, change)
        except AnswerLate:
            return {"is_listed": None}
        except BrokerRefused as error:
            if not (run.is_repeated and ALREADY_THERE in error.reason):
                raise
        return {"is_listed": True}

    async def verify(self, _step: Step, context: OperationContext) -> Sequence[ReadBack]:
        """Read back that the container runs the broker."""
        what, intended = f"{self.config_path} in container {self.container_address}", "runs"
        report = await context.brokers.find(self.container_address, GetContainer())
        if report is None or report.brokers is None:
            return [ReadBack(what, intended, None, Agreement.UNKNOWN)]
        found = [one for one in report.brokers if one.path == self.config_path]
        return [compare(what, intended, _state_of(found[0].failure) if found else "not there")]

    def undo(self, step: Step) -> OperationRequest:
        """Remove the broker again.

        Raises:
            NotUndoable: the container had the broker before.
        """
        if (step.before or {}).get("is_listed"):
            raise NotUndoable("the container had the broker before")
        broker = {
            "cluster_name": self.cluster_name,
            "broker_group_name": self.broker_group_name,
            "broker_id": self.broker_id,
            "address": self.address,
            "container_address": self.container_address,
            # The broker may never have registered.
            "config_path": self.config_path,
            # The plan warns of what the group loses.
            "interrupts_group": True,
        }
        return OperationRequest("remove_broker", broker)


@dataclass(frozen=True, slots=True)
class AwaitRegistration(Consequence):
    """Wait until the name servers list a broker that a container runs.

    Without a known address, it is the one of the group that was not online before.
    """

    tag: ClassVar[str] = "await_registration"

    cluster_name: str
    container_address: str
    config_path: str
    broker_group_name: str
    address: str | None
    former_addresses: tuple[str, ...]

    @property
    def step(self) -> PlannedStep:
        """Say what the step waits for."""
        title = f"Wait until the broker registers as a member of {self.broker_group_name}"
        return PlannedStep("registration", title)

    async def read(self, context: OperationContext) -> Value:
        """Read where the broker is registered."""
        return {"address": await self._find(context)}

    async def do(self, _run: StepRun, context: OperationContext) -> Value:
        """Wait while it is not."""
        address = await self._find(context)
        if address is None:
            report = await context.brokers.find(self.container_address, GetContainer())
            raise Waiting(self._why(report), {"address": None})
        return {"address": address}

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back that it is registered."""
        found = await self._find(context)
        what = f"registration of the broker in {self.broker_group_name}"
        return [compare(what, self.address or found or "online", found or "none")]

    async def _find(self, context: OperationContext) -> str | None:
        online = await list_online(self.cluster_name, self.broker_group_name, context)
        found = [one.address for one in online]
        if self.address is not None:
            return self.address if self.address in found else None
        return next((one for one in found if one not in self.former_addresses), None)

    def _why(self, report: ContainerReport | None) -> str:
        if report is not None and self.config_path not in report.paths:
            return (
                f"the container does not list {self.config_path} yet: the broker recovers its"
                " store, or its start has failed, which the log of the container says"
            )
        failures = [
            one.failure
            for one in (report and report.brokers) or ()
            if one.path == self.config_path and one.failure
        ]
        cause = f": {failures[0]}" if failures else ""
        return f"no name server lists the broker yet{cause}"


@dataclass(frozen=True, slots=True)
class StopInContainer:
    """Have a container stop a broker, and take it off its list.

    `broker_id` is the own id of the broker, None if no one knows it. `id_in_container` is the id
    that the container knows.
    """

    tag: ClassVar[str] = "stop_in_container"

    cluster_name: str
    container_address: str
    broker_group_name: str
    broker_id: int | None
    id_in_file: int
    id_in_container: int
    config_path: str | None

    @property
    def step(self) -> PlannedStep:
        """Name the broker and the container."""
        return PlannedStep("remove", f"Stop {self._name} in container {self.container_address}")

    async def read(self, context: OperationContext) -> Value:
        """Read whether the container has the broker."""
        report = await context.brokers.ask(self.container_address, GetContainer())
        return {"is_listed": self._is_in(report)}

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Remove it; a second attempt finds nothing to do."""
        change = RemoveBroker(
            cluster_name=self.cluster_name,
            broker_name=self.broker_group_name,
            broker_id=self.id_in_container,
            fence=fence_of(run),
        )
        try:
            await context.brokers.ask(self.container_address, change)
        except AnswerLate:
            # The container takes the broker off its list before it closes the store.
            report = await context.brokers.ask(self.container_address, GetContainer())
            if self._is_in(report) is not False:
                raise
        return {"is_listed": False}

    async def verify(self, _step: Step, context: OperationContext) -> Sequence[ReadBack]:
        """Read back that the container does not have it."""
        what = f"{self._name} in container {self.container_address}"
        report = await context.brokers.find(self.container_address, GetContainer())
        is_listed = None if report is None else self._is_in(report)
        if is_listed is None:
            return [ReadBack(what, "none", None, Agreement.UNKNOWN)]
        return [compare(what, "none", "there" if is_listed else "none")]

    def undo(self, step: Step) -> OperationRequest:
        """Add the broker again.

        Raises:
            NotUndoable: a container of stock does not report the file of the broker.
        """
        if self.config_path is None or (step.before or {}).get("is_listed") is False:
            raise NotUndoable("add the broker with its file: regent container add-broker")
        broker = {
            "cluster_name": self.cluster_name,
            "container_address": self.container_address,
            "config_path": self.config_path,
            "broker_group_name": self.broker_group_name,
            "broker_id": self.id_in_file,
        }
        return OperationRequest("add_broker", broker)

    @property
    def _name(self) -> str:
        if self.broker_id is None:
            return f"the broker of {self.config_path}"
        return f"{self.broker_group_name}-{self.broker_id}"

    def _is_in(self, report: ContainerReport) -> bool | None:
        if report.brokers is None or self.config_path is None:
            return None
        of_group = self.cluster_name, self.broker_group_name
        return report.find_file(*of_group, self.config_path) is not None


@dataclass(frozen=True, slots=True)
class AwaitDeparture(Consequence):
    """Wait until the name servers do not list a broker any more."""

    tag: ClassVar[str] = "await_departure"

    cluster_name: str
    broker_group_name: str
    address: str

    @property
    def step(self) -> PlannedStep:
        """Say what the step waits for."""
        return PlannedStep("departure", f"Wait until no name server lists {self.address}")

    async def read(self, context: OperationContext) -> Value:
        """Read whether the broker is online."""
        return {"is_online": await self._is_online(context)}

    async def do(self, _run: StepRun, context: OperationContext) -> Value:
        """Wait while it is."""
        if await self._is_online(context):
            raise Waiting(f"a name server still lists {self.address}", {"is_online": True})
        return {"is_online": False}

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back that it is not."""
        is_online = await self._is_online(context)
        return [compare(f"registration of {self.address}", "none", _presence(is_online=is_online))]

    async def _is_online(self, context: OperationContext) -> bool:
        online = await list_online(self.cluster_name, self.broker_group_name, context)
        return self.address in {one.address for one in online}


async def list_online(
    cluster_name: str, broker_group_name: str, context: OperationContext
) -> list[Broker]:
    """List the online brokers of a broker group."""
    async with context.database.connect() as connection:
        known = await broker_rows.list_of_name(connection, cluster_name)
    return [one for one in known if one.broker_group_name == broker_group_name and one.is_online]


def _state_of(failure: str) -> str:
    return f"does not run: {failure}" if failure else "runs"


def _presence(*, is_online: bool) -> str:
    return "online" if is_online else "none"
