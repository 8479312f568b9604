"""Have a broker container run one more broker, after a look at the broker's file."""

from dataclasses import dataclass
from typing import Final

from backend.brokers.errors import BrokerRefused, NoAnswer
from backend.brokers.requests.containers import ExamineBrokerFile, GetContainer
from backend.domain.container import BrokerFile, ContainerReport
from backend.domain.names import check_address, check_broker_group_name, check_cluster_name
from backend.domain.operation_errors import BrokerSilent
from backend.domain.orders.container import AddBroker
from backend.domain.plan import Check, CheckVerdict, Difference, Plan, Precondition, Risk
from backend.operations.actions.containers import (
    AwaitRegistration,
    StartInContainer,
    list_online,
)
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps

FILE: Final = "the file names the broker"


@dataclass(frozen=True, slots=True)
class Present:
    """Hold the container, what it reads in the file, and the online brokers of the group.

    Without a file, `why_unread` says why; a container of stock does not report it.
    """

    report: ContainerReport
    file: BrokerFile | None
    why_unread: str
    online: tuple[tuple[int, str], ...]

    @property
    def is_stock(self) -> bool:
        """Return whether the container is one of stock."""
        return self.report.brokers is None

    @property
    def file_text(self) -> str:
        """Describe what the file says."""
        file = self.file
        if file is None:
            return self.why_unread
        name = f"{file.broker_group_name}-{file.broker_id} of cluster {file.cluster_name}"
        return f"{name} at {file.address}"


async def read_facts(order: AddBroker, context: OperationContext) -> Facts[Present]:
    """Ask the container what it would run, and find the brokers of the group.

    Raises:
        InvalidName: a name is invalid. InvalidAddress: the address of the container is invalid.
        BrokerSilent: the container does not answer.
    """
    check_cluster_name(order.cluster_name)
    check_broker_group_name(order.broker_group_name)
    check_address(order.container_address)
    present = await _look(order, context)
    return Facts(
        present,
        (
            Precondition(
                "files of the container", ":".join(sorted(present.report.paths)) or "none"
            ),
            Precondition("file of the broker", present.file_text),
        ),
        (_check_file(order, present), *_check_start(present), _check_namesake(order, present)),
    )


async def preview(order: AddBroker, facts: Facts[Present], _context: OperationContext) -> Plan:
    """Say which broker runs in which process."""
    present = facts.seen
    file = present.file
    address = None if file is None else file.address
    # The container lists the file by this path, however the order wrote it.
    path = order.config_path if file is None else file.path
    start = StartInContainer(
        order.cluster_name,
        order.container_address,
        path,
        order.broker_group_name,
        order.broker_id,
        address,
    )
    registration = AwaitRegistration(
        order.cluster_name,
        order.container_address,
        path,
        order.broker_group_name,
        address,
        tuple(one for _, one in present.online),
    )
    where = f"container {order.container_address}"
    return Plan(
        summary=f"Broker {order.target} starts in {where}",
        risk=Risk.SERVICE,
        steps=planned_steps([start, registration]),
        changes=(Difference(f"broker {order.target} in {where}", None, present.file_text),),
        impact=(
            "It registers with its topics, and clients use it from their next look at routes on",
            _after_restart(present),
        ),
        checks=facts.checks,
        way_back="Remove it from the container: it stops, and its store and its file stay",
        facts={"address": address, "container_address": order.container_address},
    )


KIND: Final = Kind(
    "add_broker", AddBroker, read_facts, preview, (StartInContainer, AwaitRegistration)
)


async def _look(order: AddBroker, context: OperationContext) -> Present:
    address = order.container_address
    try:
        report = await context.brokers.ask(address, GetContainer())
    except NoAnswer as error:
        raise BrokerSilent(address, error.reason) from error
    file, why = None, "a RocketMQ container does not report it"
    if report.brokers is not None:
        try:
            file = await context.brokers.ask(address, ExamineBrokerFile(order.config_path))
        except BrokerRefused as error:
            why = error.reason
        except NoAnswer as error:
            raise BrokerSilent(address, error.reason) from error
    online = await list_online(order.cluster_name, order.broker_group_name, context)
    return Present(report, file, why, tuple((one.own_id, one.address) for one in online))


def _check_file(order: AddBroker, present: Present) -> Check:
    file = present.file
    if file is None:
        verdict = CheckVerdict.WARN if present.is_stock else CheckVerdict.BLOCK
        return Check(FILE, verdict, f"{order.config_path}: {present.why_unread}")
    named = (file.cluster_name, file.broker_group_name, file.broker_id)
    if named == (order.cluster_name, order.broker_group_name, order.broker_id):
        return Check(FILE, CheckVerdict.PASS, present.file_text)
    why = f"{order.config_path} names {present.file_text}: order that broker"
    return Check(FILE, CheckVerdict.BLOCK, why)


def _check_start(present: Present) -> tuple[Check, ...]:
    name = "the broker can start"
    if present.file is None:
        return ()
    if not present.file.problems:
        return (Check(name, CheckVerdict.PASS, "its ports are free, and its store fits"),)
    return tuple(Check(name, CheckVerdict.BLOCK, one) for one in present.file.problems)


def _check_namesake(order: AddBroker, present: Present) -> Check:
    """Check that no broker of the same name is online; a controller gives each its own id."""
    name = "no other broker has its name"
    if present.file is not None and present.file.is_controlled:
        why = "the controller gives the broker another id"
        return Check(name, CheckVerdict.PASS, why)
    places = [address for own_id, address in present.online if own_id == order.broker_id]
    if places:
        why = f"{order.target} is online at {places[0]}: stop it first, or change the file"
        verdict = CheckVerdict.WARN if present.is_stock else CheckVerdict.BLOCK
        return Check(name, verdict, why)
    return Check(name, CheckVerdict.PASS, f"no {order.target} is online")


def _after_restart(present: Present) -> str:
    if present.is_stock:
        return "A restart of the container does not start it: add its file to brokerConfigPaths"
    return "A restart of the container starts it too: the container writes its file to its list"
