"""Write changes of the route table to Postgres and Redis, after the answer was sent.

The queue holds names of brokers with outdated rows, not events. The present state is read from the
table when a broker's turn comes. So the queue is bounded by the number of brokers, and the order of
events does not matter. A database that was down for an hour misses nothing.
"""

import asyncio
from collections.abc import Collection, Mapping
from typing import Final

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from backend.clients.clock import Clock
from backend.db.brokers import BrokerRegistration
from backend.db.engine import Database
from backend.db.unstorable import UNSTORABLE
from backend.domain.errors import DomainError
from backend.domain.logical_queue.route import StaticCount
from backend.domain.route import TopologyChange
from backend.domain.topic import QueueSettings
from backend.nameserver.members import Departure, GroupKey, Registration
from backend.nameserver.presence import RegisteredBroker
from backend.nameserver.route_table import RouteTable
from backend.rules.group_mode import GroupMode
from backend.services.cluster import topology
from backend.services.controller.heartbeats import (
    BrokerIdentity,
    Observer,
    forget_observer,
    record_heartbeats,
)
from backend.services.controller.registrations import (
    MarkBrokerOffline,
    RegisterBroker,
    mark_broker_offline,
    register_broker,
)
from backend.services.topic.static_counts import record_counts
from backend.services.topic.topics import remove_topic

HEARTBEAT_INTERVAL_S: Final = 0.5
RETRY_DELAY_S: Final = 1.0
REDIS_TIMEOUT_S: Final = 2.0
REMOVED_TOPICS_MAX: Final = 10_000

log = structlog.get_logger(__name__)


class WriteBehind:
    """Keep Postgres and Redis up to date with the route table."""

    def __init__(
        self,
        table: RouteTable,
        *,
        database: Database,
        redis: Redis,
        clock: Clock,
        observer: Observer,
    ) -> None:
        self._table, self.observer = table, observer
        self._database, self._redis, self._clock = database, redis, clock
        self._outdated: dict[BrokerIdentity, None] = {}
        self._topics: dict[GroupKey, dict[str, QueueSettings]] = {}
        self._removed_topics: dict[tuple[str, str | None], None] = {}
        self._counts: dict[tuple[str, str], StaticCount] = {}
        self._heard: dict[BrokerIdentity, int] = {}
        self._work = asyncio.Event()

    def note_registered(
        self, registration: Registration, changed_topics: Mapping[str, QueueSettings]
    ) -> None:
        """Schedule the rows of a broker and of the topics that its registration changed."""
        if changed_topics:
            self._topics.setdefault(registration.group_key, {}).update(changed_topics)
        self._note_outdated(_key(registration))

    def note_counts(self, counts: Collection[StaticCount]) -> None:
        """Schedule the numbers of logical queues that clients see from now on."""
        self._counts |= {(one.topic_name, one.scope): one for one in counts}

    def note_departed(self, departure: Departure) -> None:
        """Schedule the row of a broker that has left."""
        self._note_outdated(
            BrokerIdentity(departure.cluster_name, departure.broker_group_name, departure.broker_id)
        )

    def note_heard(self, broker: RegisteredBroker) -> None:
        """Schedule the heartbeat of a broker."""
        self._heard[_key(broker.report)] = self._clock.now_ms()

    def note_topic_removed(self, topic_name: str, cluster_name: str | None) -> None:
        """Schedule the removal of the rows of a deleted topic."""
        for (topic_cluster, _), topics in self._topics.items():
            if cluster_name in (None, topic_cluster):
                topics.pop(topic_name, None)
        self._counts = {key: one for key, one in self._counts.items() if key[0] != topic_name}
        if len(self._removed_topics) < REMOVED_TOPICS_MAX:
            self._removed_topics[topic_name, cluster_name] = None
        self._work.set()

    def note_placements_removed(
        self, cluster_name: str, topic_name: str, broker_group_names: Collection[str]
    ) -> None:
        """Drop scheduled rows of a topic that groups no longer hold."""
        for broker_group_name in broker_group_names:
            self._topics.get((cluster_name, broker_group_name), {}).pop(topic_name, None)

    def _note_outdated(self, key: BrokerIdentity) -> None:
        self._outdated[key] = None
        self._work.set()

    async def drain(self) -> None:
        """Write all scheduled rows once, for a clean stop."""
        try:
            await self._flush_rows()
            await self._flush_heartbeats()
            await forget_observer(self._redis, self.observer.name)
        except (SQLAlchemyError, RedisError, OSError, TimeoutError) as error:
            log.warning("write_behind_undrained", error=str(error))

    async def write_rows(self) -> None:
        """Write rows until cancelled."""
        while True:
            await self._work.wait()
            self._work.clear()
            try:
                await self._flush_rows()
            except (SQLAlchemyError, OSError, TimeoutError) as error:
                log.warning("write_behind_delayed", outdated=len(self._outdated), error=str(error))
                self._work.set()
                await asyncio.sleep(RETRY_DELAY_S)

    async def _flush_rows(self) -> None:
        for topic_name, cluster_name in list(self._removed_topics):
            await remove_topic(
                topic_name, cluster_name=cluster_name, database=self._database, clock=self._clock
            )
            self._removed_topics.pop((topic_name, cluster_name), None)
        for key in list(self._outdated):
            self._outdated.pop(key, None)
            try:
                change = await self._bring_up_to_date(key)
            except (DomainError, *UNSTORABLE) as error:
                log.warning("registration_unwritable", broker=key.field, error=str(error))
                continue
            except BaseException:
                self._outdated[key] = None
                raise
            if change is not None:
                await self._announce(change)
        await self._flush_counts()

    async def _flush_counts(self) -> None:
        counts, self._counts = self._counts, {}
        if not counts:
            return
        try:
            await record_counts(counts.values(), database=self._database)
        except UNSTORABLE as error:
            log.warning("static_counts_unwritable", error=str(error))
        except BaseException:
            self._counts = counts | self._counts
            raise

    async def _bring_up_to_date(self, key: BrokerIdentity) -> TopologyChange | None:
        group_key = (key.cluster_name, key.broker_group_name)
        live = self._table.find_live(group_key, key.broker_id)
        if live is None:
            command = MarkBrokerOffline(key.cluster_name, key.broker_group_name, key.broker_id)
            return await mark_broker_offline(command, database=self._database, clock=self._clock)
        topics = self._topics.pop(group_key, {})
        try:
            return await register_broker(
                _command(live.report, topics), database=self._database, clock=self._clock
            )
        except (DomainError, *UNSTORABLE):
            raise
        except BaseException:
            # Changes that arrived meanwhile are newer, and replace these.
            self._topics[group_key] = topics | self._topics.get(group_key, {})
            raise

    async def _announce(self, change: TopologyChange) -> None:
        try:
            # Rows are still written while Redis does not answer.
            async with asyncio.timeout(REDIS_TIMEOUT_S):
                await topology.announce(self._redis, change)
        except (RedisError, OSError, TimeoutError) as error:
            log.warning("topology_unannounced", error=str(error))

    async def write_heartbeats(self) -> None:
        """Write heartbeats until cancelled."""
        while True:
            await asyncio.sleep(HEARTBEAT_INTERVAL_S)
            try:
                await self._flush_heartbeats()
            except (RedisError, OSError, TimeoutError) as error:
                log.warning("heartbeats_delayed", error=str(error))
                await asyncio.sleep(RETRY_DELAY_S)

    async def _flush_heartbeats(self) -> None:
        heard, self._heard = self._heard, {}
        try:
            async with asyncio.timeout(REDIS_TIMEOUT_S):
                await record_heartbeats(self._redis, heard, observer=self.observer)
        except BaseException:
            self._heard = heard | self._heard
            raise


def _key(registration: Registration) -> BrokerIdentity:
    return BrokerIdentity(
        registration.cluster_name, registration.broker_group_name, registration.broker_id
    )


def _command(registration: Registration, topics: Mapping[str, QueueSettings]) -> RegisterBroker:
    is_acting = bool(registration.acting_master_enabled)
    return RegisterBroker(
        cluster_name=registration.cluster_name,
        broker_group_name=registration.broker_group_name,
        broker=BrokerRegistration(
            broker_id=registration.broker_id,
            address=registration.address,
            ha_address=registration.ha_address,
            heartbeat_timeout_ms=registration.timeout_ms,
            data_version=registration.data_version,
            left_out=registration.left_out,
        ),
        mode=GroupMode.ACTING_MASTER if is_acting else GroupMode.STATIC,
        topics=topics,
    )
