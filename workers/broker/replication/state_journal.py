"""Keep the state that survives a failover in the log (D14): the content of `SharedState`.

A master appends changes to a topic that no client sees, every tick and before it answers an order.
It appends a snapshot when its epoch begins, and again when changes would take long to read, or its
last snapshot could expire. Replicas apply confirmed records. A broker that becomes master, or has
lost the end of its log, applies all records of its log. So the state is a function of the log, and
equal logs give equal states.

A new member begins with the snapshot in its first segment. It applies the later changes after it,
in the order of the log (Q54, Q55).

A broker without a controller does the same as a master without an epoch (D29). It appends its first
record with its first change, and a snapshot at once only if its files were newer than its log.

A delivered message names the delayed message that it copies, so a failover can't separate a
delivery from its progress. Deliveries after the last record are read from the copies.
"""

from collections.abc import Callable, Iterable
from typing import Final

import structlog
from regent_engine import Store, StoreError, decode_records

from backend.remoting.names import SCHEDULE_TOPIC, STATE_TOPIC
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.replication.shared_state import SharedState
from workers.broker.replication.state_record import (
    SIZE_MAX,
    SNAPSHOT_TAGS_CODE,
    StateRecord,
    UnreadableStateRecord,
    change_records,
    decode_state,
    snapshot_records,
)

QUEUE_ID: Final = 0
SILENCE_BYTES_MAX: Final = 4 << 20
"""Maximum distance of records in the log: a new master searches for deliveries there."""

CHANGES_BYTES_MIN: Final = 256 << 10
CHANGES_PER_SNAPSHOT: Final = 4
"""A snapshot follows once the changes take more than the first number, and this multiple of the
last snapshot."""

REPLAY_COUNT_MAX: Final = 1024
"""Beyond this number of records the last snapshot is searched, instead of applying all."""

ALONE: Final = -1
"""The epoch of a broker without a controller."""

_ENTRY_COUNT: Final = 512

log = structlog.get_logger()


class StateJournal:
    """Writes and reads the records of one broker; all methods belong to the loop's thread."""

    def __init__(
        self,
        store: Store,
        settings: BrokerSettings,
        state: SharedState,
        *,
        arrived: Callable[[Iterable[tuple[str, int, int]]], None],
    ) -> None:
        self._store, self._state = store, state
        self._arrived = arrived
        self._store_host = (settings.advertised_ip, settings.listen_port)
        self._segment_size = settings.commit_log_file_size_bytes
        self._size_max = min(SIZE_MAX, settings.message_size_max_bytes // 2)
        # The read state: the next record, None when a snapshot must come first, and the log
        # position after the last one. Records before the floor are older than the known state.
        self._next: int | None = 0
        self._read_end: int | None = None
        self._floor = 0
        self._seen_end = -1
        self._parts: list[StateRecord] = []
        self._followed_epoch: int | None = None
        # The written state, in the epoch that this broker leads.
        self._led_epoch: int | None = None
        self._needs_snapshot = self._waits_for_change = False
        self.has_believed_files = False
        self._snapshot_position = self._written_end = 0
        self._snapshot_bytes = self._changes_bytes = 0
        self._refusal: str | None = None

    def load(self) -> None:
        """Start with the state of the log; files that were written without it are newer.

        Topics and groups that these files don't name stay nevertheless: absence is no deletion
        (I16). Called before readers of the store are limited, and before this broker has a role.
        """
        self._state.follow()
        if self._state.is_log_newer:
            self._recover()
            self._state.set_in_log(is_in_log=True)
        else:
            written = self._state.copy()
            self._recover()
            self._state.put_back(written)
            self.overrule()

    def load_alone(self) -> None:
        """Start with the state of the log, except where the files are newer; without a controller.

        A damaged log accepts no record, so the files are also used at the next start.
        """
        self._state.follow()
        written, left_out = self._state.copy(), self._state.copy_left_out()
        self._recover()
        end = self._store.max_position
        self.has_believed_files = self._state.believe_files(written, left_out, log_end=end)
        is_in_log = not self.has_believed_files and self._store.damage is None
        self._state.set_in_log(is_in_log=is_in_log)
        self._waits_for_change = is_in_log

    def lead_alone(self, *, is_changed: bool = False) -> None:
        """Accept changes, and record them unless the log is damaged.

        Changes since the state was loaded are recorded at once.
        """
        self._state.lead()
        if is_changed:
            self._waits_for_change = False
        if self._store.damage is None:
            self._led_epoch, self._needs_snapshot = ALONE, True
            self._written_end = self._store.max_position
            self.write()

    @property
    def has_read(self) -> bool:
        """Return whether the log held any record."""
        return self._read_end is not None

    @property
    def is_refused(self) -> bool:
        """Return whether the store refused the last record."""
        return self._refusal is not None

    @property
    def has_changes(self) -> bool:
        """Return whether any change is not recorded yet."""
        return self._led_epoch is not None and self._state.has_changes

    def follow(self, epoch: int) -> None:
        """Follow the master of an epoch."""
        self._followed_epoch, self._seen_end = epoch, -1
        self._state.timers.follow()

    def catch_up(self) -> None:
        """Apply the confirmed records of the current master, if they are newer than the tables."""
        low, end = self._store.offsets(STATE_TOPIC, QUEUE_ID) or (0, 0)
        if self._led_epoch is not None or end == self._seen_end or end <= self._floor:
            return
        self._seen_end = end
        # Its first snapshot contains the records of its predecessors.
        if self._is_word_of_master(end):
            self._try_to_read(lambda: self._replay(low, end))

    def overrule(self) -> None:
        """Note that the tables are from elsewhere, and newer than the records so far."""
        _, self._floor = self._store.held_offsets(STATE_TOPIC, QUEUE_ID) or (0, 0)
        self._forget()
        self._state.set_in_log(is_in_log=False)

    def cut(self) -> None:
        """After the log lost its end, return to the state of the rest."""
        _, end = self._store.held_offsets(STATE_TOPIC, QUEUE_ID) or (0, 0)
        self._floor = min(self._floor, end)
        self._forget()
        self._recover()

    def stand_in(self) -> None:
        """Apply the remaining records of the log of a master that is gone."""
        self._recover()
        self._seen_end = -1

    def lead(self, epoch: int) -> None:
        """Apply the remaining records of the log, accept commits, and append a snapshot."""
        self._recover()
        self._led_epoch, self._needs_snapshot = epoch, True
        self._state.lead()
        self.write()

    def write(self) -> None:
        """Append the changes since the last call, if this broker leads; later after a failure."""
        try:
            self.record()
        except StoreError as error:
            if self._refusal != error.code:
                log.warning("state_not_written", code=error.code, reason=str(error))
            self._refusal = error.code
        else:
            self._refusal = None

    def record(self) -> int | None:
        """Append the changes since the last call, and return the log position after all of them.

        None on a broker that does not lead.

        Raises:
            StoreError: the store refused; they are appended as soon as possible.
        """
        if self._led_epoch is None:
            return None
        if self._waits_for_change and not self._state.has_changes:
            return self._written_end
        try:
            if self._is_snapshot_due():
                self._write_snapshot(self._led_epoch)
            else:
                self._write_changes(self._led_epoch)
        except StoreError:
            # It is unknown which changes were appended.
            self._needs_snapshot, self._waits_for_change = True, False
            raise
        return self._written_end

    def stand_down(self) -> None:
        """Write nothing and accept no changes any more."""
        self._led_epoch = None
        self._state.follow()

    # Reading.

    def _recover(self) -> None:
        """Apply all records of the log, whether or not readers see them yet."""
        low, end = self._store.held_offsets(STATE_TOPIC, QUEUE_ID) or (0, 0)
        if end > self._floor:
            self._try_to_read(lambda: self._replay(low, end))
            self._try_to_read(self._count_deliveries)

    def _try_to_read(self, read: Callable[[], None]) -> None:
        """If the log is damaged, continue with the known state; the log reports that (D13)."""
        try:
            read()
        except StoreError as error:
            log.error("state_not_read", reason=str(error))  # noqa: TRY400 - the reason is complete

    def _count_deliveries(self) -> None:
        """Find the deliveries since the last record."""
        if self._read_end is not None:
            for queue_id, offset in self._store.copied_ends(SCHEDULE_TOPIC, self._read_end):
                self._state.delays.delivered(queue_id + 1, offset)

    def _replay(self, low: int, end: int) -> None:
        """Apply the records before a queue offset that were not applied yet."""
        start = self._next
        if start is None or not low <= start <= end or end - start > REPLAY_COUNT_MAX:
            start = self._last_snapshot(low, end)
            if start is None:
                log.warning("state_without_snapshot", first=low, end=end)
                return
            self._parts.clear()
        for offset in range(start, end):
            read = self._record(offset)
            if read is not None:
                record, self._read_end = read
                self._apply(record)
        self._next = end
        self._state.set_in_log(is_in_log=True)
        self._state.set_log_position(self._read_end or 0)

    def _apply(self, record: StateRecord) -> None:
        if not record.is_snapshot:
            self._parts.clear()
            self._state.apply(record)
            return
        if record.part != len(self._parts):
            self._parts.clear()
        self._parts.append(record)
        if self._parts[0].part == 0 and len(self._parts) == record.part_count:
            self._state.replace(self._parts)
            self._parts.clear()

    def _last_snapshot(self, low: int, end: int) -> int | None:
        """Find the beginning of the last snapshot that is complete before a queue offset."""
        behind = end
        while behind > low:
            start = max(low, behind - _ENTRY_COUNT)
            entries = self._store.held_entries(STATE_TOPIC, QUEUE_ID, start, behind - start)
            for at, (_, _, tags_code) in reversed(list(enumerate(entries, start))):
                if tags_code == SNAPSHOT_TAGS_CODE and self._is_whole(at, end):
                    return at
            behind = start
        return None

    def _is_whole(self, start: int, end: int) -> bool:
        """Return whether all parts of a snapshot follow one another before a queue offset."""
        first = self._record(start)
        if first is None or not 0 < first[0].part_count <= end - start:
            return False
        last = self._record(start + first[0].part_count - 1)
        return last is not None and last[0].part == first[0].part_count - 1

    def _is_word_of_master(self, end: int) -> bool:
        """Return whether the last record before a queue offset is from the current master."""
        try:
            read = self._record(end - 1) if end > 0 else None
        except StoreError:
            return False
        return read is not None and read[0].epoch == self._followed_epoch

    def _record(self, offset: int) -> tuple[StateRecord, int] | None:
        """Read a record, and return the log position after it; None if it has no effect here."""
        for position, size, _ in self._store.held_entries(STATE_TOPIC, QUEUE_ID, offset, 1):
            content = self._store.held_record(position)
            if content is None:
                break
            try:
                return decode_state(decode_records(content)[0].body), position + size
            except UnreadableStateRecord as error:
                log.warning("state_record_unreadable", log_position=position, reason=str(error))
        return None

    def _forget(self) -> None:
        """Apply nothing before the next snapshot."""
        self._next = self._read_end = None
        self._seen_end = -1
        self._parts.clear()
        self._state.deletions.forget()
        self._state.timers.forget()

    # Writing.

    def _is_snapshot_due(self) -> bool:
        """Return whether a snapshot is due.

        Each segment of the log contains one, since the newest segment is never deleted.
        """
        changes_max = max(CHANGES_BYTES_MIN, CHANGES_PER_SNAPSHOT * self._snapshot_bytes)
        end, last = self._store.max_position, self._snapshot_position
        return (
            self._needs_snapshot
            or self._segment_of(end) != self._segment_of(last)
            or self._changes_bytes > changes_max
        )

    def _segment_of(self, position: int) -> int:
        return position // self._segment_size

    def _write_snapshot(self, epoch: int) -> None:
        records = snapshot_records(epoch, self._state.take_all(), size_max=self._size_max)
        # A snapshot across two segments would expire in parts; a second one fits, if any does.
        for _ in range(2):
            first, self._snapshot_position, self._snapshot_bytes = self._append(records)
            if self._segment_of(first) == self._segment_of(self._snapshot_position):
                break
        self._changes_bytes = 0
        self._needs_snapshot = False
        self._state.set_in_log(is_in_log=True)

    def _write_changes(self, epoch: int) -> None:
        is_silent = self._store.max_position - self._written_end > SILENCE_BYTES_MAX
        if self._state.has_changes or is_silent:
            records = change_records(epoch, self._state.take_changes(), size_max=self._size_max)
            self._changes_bytes += self._append(records)[2]

    def _append(self, records: list[StateRecord]) -> tuple[int, int, int]:
        """Append records; return the positions of the first and the last, and the size of all.

        Raises:
            StoreError: the store refused; some of them may be stored.
        """
        positions, size = [], 0
        for record in records:
            appended = self._store.append(
                STATE_TOPIC,
                QUEUE_ID,
                record.encode(),
                record.properties,
                store_host=self._store_host,
            )
            positions.append(appended.log_position)
            size += appended.size
            self._next = appended.queue_offset + 1
            self._read_end = self._written_end = appended.log_position + appended.size
        self._waits_for_change = False
        self._state.set_log_position(self._written_end)
        self._arrived([(STATE_TOPIC, QUEUE_ID, self._next or 0)])
        return positions[0], positions[-1], size
