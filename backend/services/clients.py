"""List the producers and consumers that are connected to the brokers of a cluster, asked now.

An agent tells all its clients at once. Stock brokers tell producers at once and consumers group by
group; of one that serves many groups only the clients of a group that is named are asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from backend.clients.client_requests import ToldClient
from backend.clients.clock import Clock
from backend.domain.client import Client, ClientFilter
from backend.domain.message_errors import ClientNotFound
from backend.domain.operation_errors import BrokerSilent
from backend.domain.page import Page, check_page_size, cut_page
from backend.domain.queue_lock import BrokerKey
from backend.services.broker_questions import Questions, UnknownBroker
from backend.services.cluster_census import Censuses, ClientCensus
from backend.services.told_clients import clients_of, connections_at

STOCK_GROUP_COUNT_MAX: Final = 200


class ClientSource(Protocol):
    """Speaks to brokers; each as the method of `Brokers` of that name."""

    async def producers(self, address: str, *, now_ms: int) -> list[ToldClient]:
        """Ask for the clients of producer groups."""
        ...

    async def consumers(self, address: str, groups: Sequence[str]) -> list[ToldClient]:
        """Ask for the clients of consumer groups."""
        ...

    async def group_names(self, address: str) -> frozenset[str]:
        """Ask which groups it serves."""
        ...


@dataclass(frozen=True, slots=True)
class ClientPage:
    """Hold one page of clients by id, whose are not known, and when they were asked."""

    page: Page[Client, str]
    unknown: tuple[UnknownBroker, ...]
    observed_at: datetime


async def list_clients(
    cluster_name: str,
    chosen: ClientFilter,
    *,
    size: int,
    after: str | None,
    censuses: Censuses,
    brokers: ClientSource,
    clock: Clock,
) -> ClientPage:
    """List the clients that are meant, by id.

    Raises:
        InvalidName: no cluster may be called so.
        ClusterNotFound: none is.
        InvalidPageSize: the page is empty or too large.
    """
    check_page_size(size)
    census = await censuses.clients(cluster_name)
    questions = census.questions.follow_up()
    clients = await _collect(census, questions, chosen.group, brokers=brokers, clock=clock)
    meant = [one for one in clients if chosen.takes(one)]
    rest = [one for one in meant if after is None or one.client_id > after]
    page = cut_page(
        rest[: size + 1], size=size, key=lambda one: one.client_id, total_count=len(meant)
    )
    return ClientPage(page, questions.unknown, census.observed_at)


async def describe_client(
    cluster_name: str,
    client_id: str,
    *,
    censuses: Censuses,
    brokers: ClientSource,
    clock: Clock,
) -> tuple[Client, tuple[UnknownBroker, ...]]:
    """Describe one client and name the brokers that did not tell theirs.

    Raises:
        InvalidName: no cluster may be called so.
        ClusterNotFound: none is.
        ClientNotFound: every broker told that it is not connected.
        BrokerSilent: it is connected to no broker that answered, and others did not answer.
    """
    questions = Questions()
    # Who is not in a census that was kept may have come since.
    for is_fresh in (False, True):
        census = await censuses.clients(cluster_name, is_fresh=is_fresh)
        questions = census.questions.follow_up()
        clients = await _collect(census, questions, None, brokers=brokers, clock=clock)
        for one in clients:
            if one.client_id == client_id:
                return one, questions.unknown
    for silent in questions.unknown:
        raise BrokerSilent(silent.broker.address, silent.why)
    raise ClientNotFound(cluster_name, client_id)


async def _collect(
    census: ClientCensus,
    questions: Questions,
    group: str | None,
    *,
    brokers: ClientSource,
    clock: Clock,
) -> Sequence[Client]:
    if not census.stock:
        return census.clients
    told = await questions.ask_each(
        census.stock,
        lambda one: _ask_stock(one, group, brokers, questions, now_ms=clock.now_ms()),
    )
    return clients_of(
        [
            [(one.client_id, each) for one in census.clients for each in one.connections],
            *(connections_at(broker, clients) for broker, clients in told.items()),
        ]
    )


async def _ask_stock(
    broker: BrokerKey,
    group: str | None,
    brokers: ClientSource,
    questions: Questions,
    *,
    now_ms: int,
) -> Sequence[ToldClient]:
    producers = await brokers.producers(broker.address, now_ms=now_ms)
    groups = [group] if group is not None else sorted(await brokers.group_names(broker.address))
    if len(groups) > STOCK_GROUP_COUNT_MAX:
        questions.note(
            broker,
            f"RocketMQ brokers list consumers by group, and it has {len(groups)}: name one",
        )
        return producers
    return [*producers, *await brokers.consumers(broker.address, groups)]
