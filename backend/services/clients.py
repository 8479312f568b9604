"""List the producers and consumers that are connected to the brokers of a cluster, asked now.

An agent tells all its clients at once. Stock brokers tell producers at once and consumers group by
group; of one that serves many groups only the clients of a group that is named are asked for.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Protocol

from backend.clients.client_requests import ToldClient
from backend.clients.clock import Clock
from backend.domain.client import Client, ClientFilter, Connection
from backend.domain.consumer_group import GroupSettings
from backend.domain.message_errors import ClientNotFound
from backend.domain.operation_errors import BrokerSilent
from backend.domain.page import Page, check_page_size, cut_page
from backend.domain.queue_lock import BrokerKey
from backend.services.broker_questions import Questions, UnknownBroker
from backend.services.cluster_census import Censuses, ClientCensus

STOCK_GROUP_COUNT_MAX: Final = 200


class ClientSource(Protocol):
    """Speaks to brokers; each as the method of `Brokers` of that name."""

    async def producers(self, address: str, *, now_ms: int) -> list[ToldClient]:
        """Ask for the clients of producer groups."""
        ...

    async def consumers(self, address: str, groups: Sequence[str]) -> list[ToldClient]:
        """Ask for the clients of consumer groups."""
        ...

    async def all_groups(self, address: str) -> dict[str, GroupSettings]:
        """Ask for every group."""
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
    census = await censuses.clients(cluster_name)
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
) -> list[Client]:
    told = await asyncio.gather(
        *(_told_by(one, census, group, brokers, questions, clock) for one in census.brokers)
    )
    by_id: dict[str, list[Connection]] = {}
    for broker, clients in zip(census.brokers, told, strict=True):
        for one in _merged(clients):
            by_id.setdefault(one.client_id, []).append(_connection(broker, one))
    return [Client(client_id, tuple(found)) for client_id, found in sorted(by_id.items())]


async def _told_by(
    broker: BrokerKey,
    census: ClientCensus,
    group: str | None,
    brokers: ClientSource,
    questions: Questions,
    clock: Clock,
) -> Sequence[ToldClient]:
    if broker not in census.told:
        return ()
    told = census.told[broker]
    if told is None:
        return (
            await questions.ask(
                broker,
                lambda: _ask_stock(broker, group, brokers, questions, now_ms=clock.now_ms()),
            )
            or ()
        )
    if len(told.clients) < told.total_count:
        questions.note(broker, f"it lists {len(told.clients)} of {told.total_count} clients")
    return told.clients


async def _ask_stock(
    broker: BrokerKey,
    group: str | None,
    brokers: ClientSource,
    questions: Questions,
    *,
    now_ms: int,
) -> Sequence[ToldClient]:
    producers = await brokers.producers(broker.address, now_ms=now_ms)
    groups = [group] if group is not None else sorted(await brokers.all_groups(broker.address))
    if len(groups) > STOCK_GROUP_COUNT_MAX:
        questions.note(
            broker,
            f"stock brokers tell consumers group by group, and it has {len(groups)}: name one",
        )
        return producers
    return [*producers, *await brokers.consumers(broker.address, groups)]


def _merged(clients: Iterable[ToldClient]) -> list[ToldClient]:
    """Put together what a broker tells of one connection group by group."""
    found: dict[tuple[str, str], ToldClient] = {}
    for one in clients:
        known = found.setdefault((one.client_id, one.address), one)
        ages = [age for age in (known.heard_ms, one.heard_ms) if age is not None]
        found[one.client_id, one.address] = replace(
            known,
            heard_ms=min(ages, default=None),
            producer_groups=tuple(sorted({*known.producer_groups, *one.producer_groups})),
            consumer_groups=tuple(sorted({*known.consumer_groups, *one.consumer_groups})),
        )
    return list(found.values())


def _connection(broker: BrokerKey, told: ToldClient) -> Connection:
    return Connection(
        group_name=broker.group_name,
        broker_id=broker.broker_id,
        broker_address=broker.address,
        address=told.address,
        language=told.language,
        version=told.version,
        heard_ms=told.heard_ms,
        producer_groups=told.producer_groups,
        consumer_groups=told.consumer_groups,
    )
