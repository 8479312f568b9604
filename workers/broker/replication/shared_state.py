"""Hold the state that is kept in the log with messages: the shared state of a group (D14).

A broker without a group keeps the same state there (D29).

The journal decides which records contain it, and when; this module reads and applies it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, TypeVar

from backend.remoting.sifting import LeftOut
from workers.broker.commit_log.delay_delivery import DelayDelivery
from workers.broker.commit_log.timer_delivery import TimerDelivery
from workers.broker.replication.deleted_topics import DeletedTopics, QueueStore
from workers.broker.replication.state_record import StateContent, StateRecord, merged
from workers.broker.requests.fences import Fences
from workers.broker.tables.consumer_offsets import ConsumerOffsets, OffsetChanges
from workers.broker.tables.escaped import EscapedMessages
from workers.broker.tables.logged_table import LoggedTable
from workers.broker.tables.queue_locks import QueueLocks
from workers.broker.tables.request_modes import RequestModes
from workers.broker.tables.state import BrokerState
from workers.broker.tables.static_topics import StaticTopics
from workers.broker.tables.subscription_groups import SubscriptionGroups
from workers.broker.tables.topics import TopicTable

T = TypeVar("T")
LeftOutItems = list[tuple[LoggedTable[Any], tuple[LeftOut, ...]]]


@dataclass(frozen=True, slots=True)
class SharedState:
    """The tables of one broker; all methods belong to the loop's thread."""

    offsets: ConsumerOffsets
    delays: DelayDelivery
    static_topics: StaticTopics
    topics: TopicTable
    groups: SubscriptionGroups
    request_modes: RequestModes
    fences: Fences
    escaped: EscapedMessages
    deletions: DeletedTopics
    timers: TimerDelivery
    locks: QueueLocks

    @classmethod
    def of(
        cls, state: BrokerState, store: QueueStore, timers: TimerDelivery, locks: QueueLocks
    ) -> Self:
        """Take the shared tables of a broker."""
        return cls(*state.shared_tables, DeletedTopics(store), timers, locks)

    @property
    def is_log_newer(self) -> bool:
        """Return whether every file was written with the log, so that a restart uses the log."""
        return all(table.is_log_newer for table in self._tables)

    @property
    def has_changes(self) -> bool:
        """Return whether there are changes since the last call that took them."""
        others = self.deletions.has_changes or self.timers.has_changes or self.locks.has_changes
        return others or any(table.has_changes for table in self._tables)

    def lead(self) -> None:
        """Accept changes, and collect them for records."""
        for table in self._tables:
            table.lead()
        self.locks.lead()

    def follow(self) -> None:
        """Accept only changes from records."""
        for table in self._tables:
            table.follow()
        self.locks.follow()

    def set_in_log(self, *, is_in_log: bool) -> None:
        """Mark in the files whether the log contains their content."""
        for table in self._tables:
            table.is_in_log = is_in_log

    def set_log_position(self, position: int) -> None:
        """Mark in the files the log position of the last record that they contain."""
        for table in self._tables:
            table.log_position = position

    def take_changes(self) -> StateContent:
        """Return the changes since the last call, for records that are about to be appended."""
        offsets, topics = self.offsets.take_changes(), self.topics.take_changes()
        fences, changes = self.fences.take_changes()
        # What the progress of the timers covers is not kept as escaped any more.
        timers = self.timers.take()
        return StateContent(
            removed_topics=offsets.removed_topics,
            removed_groups=offsets.removed_groups,
            removed_queues=offsets.removed_queues,
            offsets=offsets.offsets,
            delays=self.delays.take_changes(),
            static_topics=self.static_topics.take_changes(),
            topics=topics,
            groups=self.groups.take_changes(),
            request_modes=self.request_modes.take_changes(),
            deletions=self.deletions.take_unsent()
            | self.deletions.add(name for name, one in topics.items() if one is None),
            fences=fences,
            changes=changes,
            timers=timers,
            escaped=self.escaped.take_changes(),
            locks=self.locks.take_changes(),
        )

    def take_all(self) -> StateContent:
        """Return the whole state for the next records; no change is left then."""
        timers = self.take_changes().timers
        return StateContent(
            offsets=self.offsets.table,
            delays=self.delays.progress,
            static_topics=self.static_topics.all,
            topics=self.topics.shared(),
            groups=self.groups.shared(),
            forbidden=self.groups.forbidden_table,
            request_modes=self.request_modes.all,
            deletions=self.deletions.for_snapshot(),
            fences=self.fences.fences,
            changes=self.fences.changes,
            timers=timers,
            escaped=self.escaped.all,
            locks=self.locks.table,
        )

    def copy(self) -> StateContent:
        """Return the whole state for `put_back` and `believe_files`."""
        return StateContent(
            offsets={key: dict(queues) for key, queues in self.offsets.table.items()},
            delays=dict(self.delays.progress),
            static_topics=dict(self.static_topics.all),
            topics=self.topics.shared(),
            groups=self.groups.shared(),
            forbidden=dict(self.groups.forbidden_table),
            request_modes=dict(self.request_modes.all),
            fences=dict(self.fences.fences),
            changes=dict(self.fences.changes),
            escaped=self.escaped.all,
        )

    def copy_left_out(self) -> LeftOutItems:
        """Return, by their tables, the items of the files that can't be served."""
        return [(table, table.left_out) for table in self._tables]

    def believe_files(self, former: StateContent, left_out: LeftOutItems, *, log_end: int) -> bool:
        """Take from the files, whose content is given, the state that is newer than the log.

        That is the whole content of a file that was written without the log, or with a longer log
        than the present one. It is for a broker without a group: a topic that such a file does not
        name was deleted. An item that can't be served is named, and stays in its file (D32). Return
        whether there was one.
        """

        def is_believed(table: LoggedTable[Any]) -> bool:
            return not table.is_log_newer or table.stored_position > log_end

        believed = [table for table in self._tables if is_believed(table)]
        static_topics, modes = _present(former.static_topics), _present(former.request_modes)
        restores: tuple[tuple[LoggedTable[Any], Callable[[], None]], ...] = (
            (self.offsets, partial(self.offsets.replace, former.offsets)),
            (self.delays, partial(self.delays.replace, former.delays)),
            (self.escaped, partial(self.escaped.replace, former.escaped)),
            (self.static_topics, partial(self.static_topics.replace, static_topics)),
            (self.request_modes, partial(self.request_modes.replace, modes)),
        )
        for table, restore in restores:
            if table in believed:
                restore()
        if self.topics in believed:
            topics = _present(former.topics)
            aside = {one.name for table, kept in left_out if table is self.topics for one in kept}
            self.deletions.add(self.topics.shared().keys() - topics.keys() - aside)
            self.topics.replace(topics)
        if self.groups in believed:
            self.groups.replace(_present(former.groups), former.forbidden)
        if self.fences in believed:
            self.fences.replace(former.fences, _present(former.changes))
        for table, kept in left_out:
            table.keep_aside([one for one in kept if not self._serves(table, one)])
        return bool(believed)

    def _serves(self, table: LoggedTable[Any], one: LeftOut) -> bool:
        """Return whether an item of a file was corrected since, as the log shows."""
        if table is self.topics:
            return self.topics.find(one.name) is not None
        return table is self.groups and self.groups.find(one.name) is not None

    def put_back(self, former: StateContent) -> None:
        """Restore the former state, except topics, groups and fences that were not known."""
        self.offsets.replace(former.offsets)
        self.delays.replace(former.delays)
        self.escaped.replace(former.escaped)
        self.static_topics.apply(former.static_topics)
        self.topics.apply(former.topics)
        self.groups.apply(former.groups)
        self.request_modes.apply(former.request_modes)
        self.fences.apply(former.fences, former.changes)

    def apply(self, record: StateRecord) -> None:
        """Apply the changes of a master."""
        self.deletions.apply(record.deletions)
        topics = record.topics or {}
        self.deletions.revive(name for name, topic in topics.items() if topic is not None)
        self.static_topics.apply(record.static_topics or {})
        self.topics.apply(topics)
        self.groups.apply(record.groups)
        self.request_modes.apply(record.request_modes)
        self.offsets.apply(
            OffsetChanges(
                record.removed_topics,
                record.removed_groups,
                record.removed_queues,
                record.offsets,
            )
        )
        self.delays.apply(record.delays)
        self.escaped.apply(record.escaped)
        self.timers.apply(record.timers)
        self.locks.apply(record.locks or {})
        self.fences.apply(record.fences, record.changes)

    def replace(self, parts: list[StateRecord]) -> None:
        """Replace the state with a master's.

        A state with only offsets and delays, as of our earlier versions, leaves the rest unchanged.
        """
        whole = merged(parts)
        if whole.static_topics is not None:
            self.static_topics.replace(_present(whole.static_topics))
        if whole.topics is not None:
            topics = _present(whole.topics)
            self.deletions.replace(whole.deletions, living=topics)
            self.topics.replace(topics)
            self.groups.replace(_present(whole.groups), whole.forbidden)
            self.request_modes.replace(_present(whole.request_modes))
            self.fences.replace(whole.fences, _present(whole.changes))
        self.offsets.replace(whole.offsets)
        self.delays.replace(whole.delays)
        self.escaped.replace(whole.escaped)
        self.timers.apply(whole.timers)
        if whole.locks is not None:
            self.locks.replace(whole.locks)

    @property
    def _tables(
        self,
    ) -> tuple[LoggedTable[Any], ...]:
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


def _present(table: Mapping[str, T | None]) -> dict[str, T]:
    return {key: one for key, one in table.items() if one is not None}
