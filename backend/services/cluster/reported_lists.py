"""List what only brokers know, as they report it now; nothing of it is stored here (D21)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar

from backend.brokers.asking import Brokers, Inquiry
from backend.clients.clock import Clock
from backend.db import brokers as broker_rows
from backend.db.engine import Database
from backend.domain.broker import Broker
from backend.domain.cluster_scope import ClusterScope
from backend.domain.names import check_cluster_name
from backend.domain.page import Page, cut_page
from backend.domain.queue_lock import BrokerKey
from backend.services.cluster.broker_questions import UnknownBroker, key_of, unknown_brokers


class Item(Protocol):
    """One entry of a list; its key orders the list, and identifies the entry."""

    @property
    def key(self) -> Any:
        """Return the key."""


ItemT = TypeVar("ItemT", bound=Item)
ItemT_contra = TypeVar("ItemT_contra", bound=Item, contravariant=True)
AnswerT = TypeVar("AnswerT")


class Choice(Protocol[ItemT_contra]):
    """The conditions of a list; None means all."""

    @property
    def cluster_name(self) -> str | None:
        """Return the cluster."""

    @property
    def broker_group_name(self) -> str | None:
        """Return the broker group."""

    @property
    def within(self) -> ClusterScope:
        """Return the clusters that the caller may see."""

    def takes(self, item: ItemT_contra, /) -> bool:
        """Return whether an entry fulfils the conditions."""


class Asked(StrEnum):
    """The brokers of a group that are asked for a list."""

    MASTERS = "masters"
    SERVING = "serving"
    """The master, or the replica that acts for it: the online broker with the least id (S83)."""

    ALL = "all"


@dataclass(frozen=True, slots=True)
class ReportedPage(Generic[ItemT]):
    """Hold one page of a list, and the brokers that did not report all."""

    page: Page[ItemT, Any]
    unknown: tuple[UnknownBroker, ...]
    observed_at: datetime

    def map(self, convert: Callable[[ItemT], ItemT]) -> "ReportedPage[ItemT]":
        """Return the same page with other entries."""
        return ReportedPage(self.page.map(convert), self.unknown, self.observed_at)


@dataclass(frozen=True, slots=True)
class Reported(Generic[ItemT]):
    """Hold the entries that brokers reported, in order, and the brokers that did not report all."""

    items: tuple[ItemT, ...]
    unknown: tuple[UnknownBroker, ...]
    observed_at: datetime

    def page(self, *, size: int, after: Any) -> ReportedPage[ItemT]:
        """Return one page, from the entry behind a key on."""
        rest = [one for one in self.items if after is None or one.key > after]
        count = len(self.items)
        page = cut_page(rest[: size + 1], size=size, key=lambda one: one.key, total_count=count)
        return ReportedPage(page, self.unknown, self.observed_at)


async def collect(
    chosen: Choice[ItemT],
    inquiry: Inquiry[AnswerT],
    *,
    items_of: Callable[[BrokerKey, AnswerT], Iterable[ItemT]],
    why_incomplete: Callable[[AnswerT], str | None],
    asked: Asked = Asked.MASTERS,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> Reported[ItemT]:
    """Ask all brokers that may have such entries, many at once.

    Raises:
        InvalidName: the name of the cluster is invalid.
    """
    if chosen.cluster_name is not None:
        check_cluster_name(chosen.cluster_name)
    async with database.connect() as connection:
        online = await broker_rows.list_online(connection)
    meant = [key_of(broker) for broker in _choose(online, asked) if _is_meant(broker, chosen)]
    answers = await brokers.ask_all(meant, inquiry)
    found = [item for one, answer in answers.answers.items() for item in items_of(one, answer)]
    return Reported(
        tuple(sorted(filter(chosen.takes, found), key=lambda one: one.key)),
        unknown_brokers(meant, answers, why_incomplete),
        clock.now(),
    )


def _choose(online: Sequence[Broker], asked: Asked) -> Iterable[Broker]:
    if asked is Asked.ALL:
        return online
    if asked is Asked.MASTERS:
        return [one for one in online if one.is_master]
    serving: dict[int, Broker] = {}
    for broker in online:
        serving.setdefault(broker.broker_group_id, broker)
    return serving.values()


def _is_meant(broker: Broker, chosen: Choice[ItemT]) -> bool:
    return (
        chosen.cluster_name in (None, broker.cluster_name)
        and chosen.broker_group_name in (None, broker.broker_group_name)
        and chosen.within.includes(broker.cluster_name)
    )
