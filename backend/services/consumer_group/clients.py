"""List the producers and consumers that are connected to the brokers of a cluster now.

An agent reports all its clients in one answer. RocketMQ brokers report producers in one answer, and
consumers group by group. If such a broker serves many groups, only the clients of a named group are
asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from backend.brokers.asking import Brokers, Inquiry
from backend.brokers.requests.clients import GetConsumers, GetProducers, ReportedClient
from backend.brokers.requests.consumer_groups import GetConsumerGroupNames
from backend.clients.clock import Clock
from backend.domain.client import Client, ClientFilter
from backend.domain.message_errors import ClientNotFound
from backend.domain.operation_errors import BrokerSilent
from backend.domain.page import Page, check_page_size, cut_page
from backend.services.cluster.broker_questions import Questions, UnknownBroker
from backend.services.consumer_group.client_snapshots import ClientSnapshot, ClientSnapshots
from backend.services.consumer_group.reported_clients import clients_of, connections_at

STOCK_GROUP_COUNT_MAX: Final = 200


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
    client_snapshots: ClientSnapshots,
    brokers: Brokers,
    clock: Clock,
) -> ClientPage:
    """List the clients that are meant, by id.

    Raises:
        InvalidName: the name of the cluster is invalid. ClusterNotFound: there is no such cluster.
        InvalidPageSize: the page is empty or too large.
    """
    check_page_size(size)
    snapshot = await client_snapshots.clients(cluster_name)
    questions = snapshot.questions.follow_up(brokers)
    clients = await _collect(snapshot, questions, chosen.group, clock)
    meant = [one for one in clients if chosen.takes(one)]
    rest = [one for one in meant if after is None or one.client_id > after]
    page = cut_page(
        rest[: size + 1], size=size, key=lambda one: one.client_id, total_count=len(meant)
    )
    return ClientPage(page, questions.unknown, snapshot.observed_at)


async def describe_client(
    cluster_name: str,
    client_id: str,
    *,
    client_snapshots: ClientSnapshots,
    brokers: Brokers,
    clock: Clock,
) -> tuple[Client, tuple[UnknownBroker, ...]]:
    """Describe one client and name the brokers that did not answer.

    Raises:
        InvalidName: the name of the cluster is invalid. ClusterNotFound: there is no such cluster.
        ClientNotFound: every broker answered that it is not connected. BrokerSilent: it is
        connected to no broker that answered, and others did not answer.
    """
    questions = Questions(brokers)
    # A client that is not in a kept snapshot may have connected since.
    for is_fresh in (False, True):
        snapshot = await client_snapshots.clients(cluster_name, is_fresh=is_fresh)
        questions = snapshot.questions.follow_up(brokers)
        clients = await _collect(snapshot, questions, None, clock)
        for one in clients:
            if one.client_id == client_id:
                return one, questions.unknown
    for silent in questions.unknown:
        raise BrokerSilent(silent.broker.address, silent.why)
    raise ClientNotFound(cluster_name, client_id)


async def _collect(
    snapshot: ClientSnapshot, questions: Questions, group: str | None, clock: Clock
) -> Sequence[Client]:
    if not snapshot.stock:
        return snapshot.clients
    answers = await questions.ask_all(snapshot.stock, GetStockClients(group, clock))
    for broker, found in answers.items():
        if found.group_count > STOCK_GROUP_COUNT_MAX:
            questions.note(
                broker,
                "RocketMQ brokers list consumers by group, and it has"
                f" {found.group_count}: name one",
            )
    return clients_of(
        [
            [(one.client_id, each) for one in snapshot.clients for each in one.connections],
            *(connections_at(broker, found.clients) for broker, found in answers.items()),
        ]
    )


@dataclass(frozen=True, slots=True)
class StockClients:
    """Hold the clients of a stock broker; of too many groups the consumers are left out."""

    clients: Sequence[ReportedClient]
    group_count: int


@dataclass(frozen=True, slots=True)
class GetStockClients(Inquiry[StockClients]):
    """Ask a stock broker for its producers, and for the consumers of a group or of all."""

    consumer_group_name: str | None
    clock: Clock

    async def put(self, brokers: Brokers, address: str) -> StockClients:
        """Ask for the producers, then group by group."""
        producers = await brokers.ask(address, GetProducers(now_ms=self.clock.now_ms()))
        if self.consumer_group_name is None:
            names = sorted(await brokers.ask(address, GetConsumerGroupNames()))
        else:
            names = [self.consumer_group_name]
        if len(names) > STOCK_GROUP_COUNT_MAX:
            return StockClients(producers, len(names))
        consumers = await brokers.ask(address, GetConsumers(names))
        return StockClients([*producers, *consumers], len(names))
