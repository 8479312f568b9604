"""Load the state files of a broker at its start and save them as they change.

A restart uses the log (D14, D29). So the files, which hold whole tables, are saved periodically;
longer tables less often.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

import structlog
from regent_engine import StoreError

from backend.remoting.sifting import LeftOut
from workers.broker.commit_log.delay_delivery import (
    DelayDelivery,
    DelayOffsetFile,
    decode_delay_file,
)
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.requests.fences import Fences
from workers.broker.tables.consumer_offsets import ConsumerOffsets, decode_offset_file
from workers.broker.tables.escaped import EscapedFile, EscapedMessages
from workers.broker.tables.logged_table import LoggedTable
from workers.broker.tables.request_modes import RequestModes, decode_request_mode_file
from workers.broker.tables.state_file import StateFile, StateSaver
from workers.broker.tables.static_topics import (
    StaticTopicListener,
    StaticTopics,
    decode_static_topic_file,
)
from workers.broker.tables.subscription_groups import SubscriptionGroups, decode_group_file
from workers.broker.tables.topics import TopicListener, TopicTable, decode_topic_file, system_topics

REST_INTERVAL_MS: Final = 1000
"""Interval for topics, groups and fences, which stock saves at once."""

REST_PER_SAVE: Final = 100
"""Minimum ratio of the pause to the duration of the last save: saves take 1 % of the time."""

log = structlog.get_logger()


class BrokerState:
    """The tables that survive a restart; their files are saved periodically and at the stop."""

    def __init__(
        self,
        settings: BrokerSettings,
        *,
        topic_listener: TopicListener,
        static_topic_listener: StaticTopicListener,
        group_listener: Callable[[], None],
        build_delays: Callable[[DelayOffsetFile | None, EscapedMessages], DelayDelivery],
        flush_log: Callable[[], object],
        clock: Callable[[], int],
    ) -> None:
        """Load everything.

        Raises:
            StateFileUnreadable: a file and its backup are both damaged.
        """
        folder = settings.config_dir
        self._settings, self._clock = settings, clock
        self._system_topics = system_topics(settings)
        topic_file = StateFile(folder / "topics.json")
        mapping_file = StateFile(folder / "topicQueueMapping.json")
        group_file = StateFile(folder / "subscriptionGroup.json")
        offset_file = StateFile(folder / "consumerOffset.json")
        delay_file = StateFile(folder / "delayOffset.json")
        topics, topics_left_out = topic_file.load_items(decode_topic_file)
        decode_mappings = partial(decode_static_topic_file, broker_name=settings.broker_name)
        self.static_topics = StaticTopics(
            *mapping_file.load_items(decode_mappings), listener=static_topic_listener, clock=clock
        )
        groups, groups_left_out = group_file.load_items(decode_group_file)
        delays, delays_left_out = delay_file.load_items(decode_delay_file)
        self.topics = TopicTable(
            topics,
            listener=topic_listener,
            permissions=settings.permissions,
            own_names=[topic.name for topic in self._system_topics],
            left_out=topics_left_out,
            clock=clock,
        )
        self.groups = SubscriptionGroups(
            groups,
            auto_create=settings.auto_create_groups,
            listener=group_listener,
            left_out=groups_left_out,
            clock=clock,
        )
        self.offsets = ConsumerOffsets(*offset_file.load_items(decode_offset_file))
        escaped_file = StateFile(folder / "regentEscaped.json")
        self.escaped = EscapedMessages(escaped_file.load(EscapedFile))
        self.delays = build_delays(delays, self.escaped)
        self.delays.keep_aside(delays_left_out)
        mode_file = StateFile(folder / "messageRequestMode.json")
        modes, _ = mode_file.load_items(decode_request_mode_file)
        self.request_modes = RequestModes(modes)
        self.fences = Fences(StateFile(folder / "regentFences.json"))
        self.own_fences = Fences(StateFile(folder / "regentOwnFences.json"))
        self.topic_saver = _saver(topic_file, self.topics, self.topics.as_file)
        self.mapping_saver = _saver(mapping_file, self.static_topics, self.static_topics.as_file)
        self.group_saver = _saver(group_file, self.groups, self.groups.as_file)
        self._mode_saver = _saver(mode_file, self.request_modes, self.request_modes.as_file)
        self._offset_saver = _saver(offset_file, self.offsets, self._offset_snapshot)
        # After a power failure the file must not record a delivery whose copy is lost.
        self._delay_saver = _saver(delay_file, self.delays, self._delay_snapshot, prepare=flush_log)
        self._escaped_saver = _saver(escaped_file, self.escaped, self.escaped.as_file)

    @property
    def shared_tables(
        self,
    ) -> tuple[
        ConsumerOffsets,
        DelayDelivery,
        StaticTopics,
        TopicTable,
        SubscriptionGroups,
        RequestModes,
        Fences,
        EscapedMessages,
    ]:
        """Return the tables that are kept in the log."""
        return (
            self.offsets,
            self.delays,
            self.static_topics,
            self.topics,
            self.groups,
            self.request_modes,
            self.fences,
            self.escaped,
        )

    def left_out(self) -> tuple[LeftOut, ...]:
        """Return the topics, groups and offsets that this broker holds but can't serve."""
        tables = (self.static_topics, self.topics, self.groups, self.offsets, self.delays)
        return tuple(one for table in tables for one in table.left_out)

    def add_system_topics(self) -> None:
        """Create the topics that every broker has, with the number of queues in the settings."""
        for topic in self._system_topics:
            self.topics.put(topic)

    async def save_periodically(self) -> None:
        """Save offsets and delays periodically until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            settings = self._settings
            tasks.create_task(self._repeat(settings.offset_save_interval_ms, self.save_offsets))
            tasks.create_task(self._repeat(settings.delay_save_interval_ms, self.save_delays))
            tasks.create_task(self._repeat(settings.delay_save_interval_ms, self.save_escaped))
            tasks.create_task(self._repeat(REST_INTERVAL_MS, self._save_rest))

    async def save_offsets(self) -> None:
        """Save committed offsets if they have changed."""
        await self._offset_saver.save()

    async def save_delays(self) -> None:
        """Save the progress of the delay levels if it has changed, after the delivered messages.

        Raises:
            OSError, StoreError: the disk refused.
        """
        await self._delay_saver.save()

    async def save_escaped(self) -> None:
        """Save which messages escaped, if that has changed.

        Raises:
            OSError: the disk refused.
        """
        await self._escaped_saver.save()

    async def save_all(self) -> None:
        """Save all unsaved changes; an error of one file does not affect the others."""
        for save in (self.save_offsets, self.save_delays, self.save_escaped, self._save_rest):
            await self._try(save)

    async def try_to_save_topics(self) -> None:
        """Save the topics, or retry later.

        For topics of the system: every start creates them again, so the file is not critical.
        """
        await self._try(self.topic_saver.save)

    async def _save_rest(self) -> None:
        # A file of topics names no static topic whose mapping is not on the disk.
        for saver in (
            self.mapping_saver,
            self.topic_saver,
            self.group_saver,
            self._mode_saver,
            self.fences.saver,
            self.own_fences.saver,
        ):
            await saver.save()

    async def _repeat(self, interval_ms: int, save: Callable[[], Awaitable[None]]) -> None:
        rest_s = 0.0
        while True:
            await asyncio.sleep(max(interval_ms / 1000, rest_s))
            began_at_s = time.monotonic()
            await self._try(save)
            rest_s = REST_PER_SAVE * (time.monotonic() - began_at_s)

    async def _try(self, save: Callable[[], Awaitable[None]]) -> None:
        try:
            await save()
        except (OSError, StoreError) as error:
            log.warning("state_not_saved", reason=str(error))

    def _offset_snapshot(self) -> bytes:
        self.offsets.stamp(self._clock())
        return self.offsets.as_file()

    def _delay_snapshot(self) -> bytes:
        self.delays.stamp(self._clock())
        return self.delays.as_file()


def _saver(
    file: StateFile,
    table: LoggedTable[Any],
    snapshot: Callable[[], bytes],
    *,
    prepare: Callable[[], object] | None = None,
) -> StateSaver:
    return StateSaver(file, snapshot, count=lambda: table.change_count, prepare=prepare)
