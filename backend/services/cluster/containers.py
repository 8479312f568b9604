"""Find broker containers: brokers report the address of their container, and it lists its brokers.

Brokers of stock report no container, so a container of stock is not listed. Requests to it name its
address.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from backend.brokers.asking import Answers, Brokers
from backend.brokers.requests.containers import GetContainer, GetContainerAddress
from backend.clients.clock import Clock
from backend.db import brokers as broker_rows
from backend.db.engine import Database
from backend.domain.broker import MASTER_ID, Broker
from backend.domain.container import Container, ContainerFilter, ContainerReport, InnerBroker
from backend.domain.names import check_address, check_cluster_name
from backend.domain.page import Page, check_page_size, cut_page
from backend.domain.queue_lock import BrokerKey
from backend.services.cluster.broker_questions import UnknownBroker, key_of, unknown_brokers


@dataclass(frozen=True, slots=True)
class ContainerAddress:
    """Hold the address of a container to ask."""

    address: str


@dataclass(frozen=True, slots=True)
class ContainerPage:
    """Hold one page of containers by address, and the brokers that did not answer."""

    page: Page[Container, str]
    unknown: tuple[UnknownBroker, ...]
    observed_at: datetime


async def list_containers(
    chosen: ContainerFilter,
    *,
    size: int,
    after: str | None,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> ContainerPage:
    """List the containers that online brokers report, with the brokers in their lists.

    Raises:
        InvalidName: the name of the cluster is invalid. InvalidAddress: the address is invalid.
        InvalidPageSize: the page is empty or too large.
    """
    check_page_size(size)
    if chosen.cluster_name is not None:
        check_cluster_name(chosen.cluster_name)
    if chosen.address is not None:
        check_address(chosen.address)
    async with database.connect() as connection:
        online = await broker_rows.list_online(connection)
    asked = [key_of(broker) for broker in online if _is_meant(broker, chosen)]
    answers = await brokers.ask_all(asked, GetContainerAddress())
    members: defaultdict[str, list[BrokerKey]] = defaultdict(list)
    for key, address in answers.answers.items():
        if address and chosen.address in (None, address):
            members[address].append(key)
    wanted = sorted(one for one in members if after is None or one > after)
    page = cut_page(wanted[: size + 1], size=size, key=lambda one: one, total_count=len(members))
    found = await brokers.ask_all(map(ContainerAddress, page.items), GetContainer())
    shown = page.map(lambda address: _container(address, members[address], found, chosen))
    return ContainerPage(shown, unknown_brokers(asked, answers, lambda _: None), clock.now())


def _is_meant(broker: Broker, chosen: ContainerFilter) -> bool:
    return chosen.cluster_name in (None, broker.cluster_name) and chosen.within.includes(
        broker.cluster_name
    )


def _container(
    address: str,
    members: Sequence[BrokerKey],
    found: Answers[ContainerAddress, ContainerReport],
    chosen: ContainerFilter,
) -> Container:
    """Show a container; if it does not answer, the brokers that report it are known."""
    key = ContainerAddress(address)
    report = found.answers.get(key)
    if report is not None and report.brokers is not None:
        shown = (one for one in report.brokers if chosen.within.includes(one.cluster_name))
        return Container(address, tuple(shown), "")
    reporting = tuple(
        InnerBroker(
            path="",
            cluster_name=one.cluster_name,
            broker_group_name=one.broker_group_name,
            own_id=one.name.own_id,
            id_in_file=None,
            address=one.address,
            is_master=one.broker_id == MASTER_ID,
            failure="",
        )
        for one in members
    )
    silent = found.silent.get(key)
    return Container(address, reporting, "no list of brokers" if silent is None else silent.reason)
