"""The message engine of Regent: wire codec, commit log and hot path.

Calls that work on bytes free the interpreter lock. A panic inside becomes a `StoreError` with the
code `poisoned`, and what it happened in refuses further work.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Literal, Protocol, final

class ProtocolError(Exception):
    """The peer sent what no reader can make sense of; the connection must be closed.

    `Decoder.receive` adds `commands`, `Connection.receive` adds `received`: what came before the
    break.
    """

    commands: list[Command]
    received: Received
    replies: bytes

class StoreError(Exception):
    """The store refused or failed.

    Codes: `illegal_message`, `properties_too_large`, `blank_properties`, `disk_full`, `corrupt`,
    `queue_sealed`, `locked`, `closed`, `poisoned`, `io`, `invalid_setting`, `unexpected_file`,
    `damaged_file`, `read_only`, `no_boundary`, `epoch_refused`, `search_too_long`,
    `unserved_queues`, `inner_batch`.
    `position` is the log position of the damage that was found (`corrupt`), else None.
    """

    code: str
    position: int | None

@final
class Command:
    """A remoting command, received."""

    @property
    def code(self) -> int: ...
    @property
    def language(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def opaque(self) -> int: ...
    @property
    def flag(self) -> int: ...
    @property
    def remark(self) -> str | None: ...
    @property
    def ext(self) -> dict[str, str]: ...
    @property
    def body(self) -> bytes: ...
    @property
    def encoding(self) -> Literal["json", "rocketmq"]: ...
    @property
    def is_response(self) -> bool: ...
    @property
    def is_oneway(self) -> bool: ...

def encode_command(
    *,
    code: int,
    opaque: int,
    flag: int = 0,
    language: str = "OTHER",
    version: int = 513,
    remark: str | None = None,
    ext: Mapping[str, str] | None = None,
    body: bytes | None = None,
    body_size: int | None = None,
    encoding: str = "json",
) -> bytes:
    """Encode a command as one frame; with `body_size` without its body, which is sent behind it.

    Raises:
        ValueError: the language or encoding has no such name, a length doesn't fit its field, or
            both body and size are given.
    """

def encode_pull_answer(
    command: Command,
    code: int,
    *,
    suggested_broker_id: int,
    next_offset: int,
    min_offset: int,
    max_offset: int,
    body_size: int = 0,
    remark: str | None = None,
    offset_delta: int | None = None,
) -> bytes:
    """Encode the answer of a pull without its body, which is sent behind it.

    Raises:
        ValueError: a length doesn't fit its field.
    """

@final
class Decoder:
    """Turns one connection's bytes into commands."""

    def __new__(
        cls, frame_size_max: int = 16_777_216, *, header_size_max: int = 1_048_576
    ) -> Decoder: ...
    def receive(self, data: bytes) -> list[Command]:
        """Take a chunk and return the commands it completes.

        Raises:
            ProtocolError: the stream is broken, now and at every later call.
        """

@final
class Record:
    """One stored message, decoded."""

    @property
    def topic(self) -> str: ...
    @property
    def queue_id(self) -> int: ...
    @property
    def queue_offset(self) -> int: ...
    @property
    def log_position(self) -> int: ...
    @property
    def flag(self) -> int: ...
    @property
    def sys_flag(self) -> int: ...
    @property
    def born_timestamp_ms(self) -> int: ...
    @property
    def born_host(self) -> tuple[str, int]: ...
    @property
    def store_timestamp_ms(self) -> int: ...
    @property
    def store_host(self) -> tuple[str, int]: ...
    @property
    def reconsume_times(self) -> int: ...
    @property
    def prepared_transaction_offset(self) -> int: ...
    @property
    def body(self) -> bytes: ...
    @property
    def properties(self) -> dict[str, str]:
        """Return the properties; bytes that are not UTF-8 are replaced."""

    @property
    def property_string(self) -> bytes:
        """Return the property string as it is stored."""

    @property
    def size(self) -> int: ...

def decode_records(data: bytes) -> list[Record]:
    """Decode the records of a pull answer's body.

    Raises:
        ProtocolError: the bytes are not whole records back to back.
    """

def encode_properties(properties: Mapping[str, str]) -> bytes:
    """Encode properties as the property string of a message.

    Raises:
        ValueError: a name is empty, a separator stands inside, or the whole exceeds 32 767 bytes.
    """

def parse_properties(data: bytes) -> dict[str, str]:
    """Decode a property string; bytes that are not UTF-8 are replaced."""

def tag_hash(tag: str) -> int:
    """Hash a tag as consume queues hold it: Java's `String.hashCode`."""

def offset_message_id(host: str, port: int, log_position: int) -> str:
    """Write the offset message id of a record.

    Raises:
        ValueError: the host is no numeric address.
    """

def parse_offset_message_id(id: str) -> tuple[str, int, int]:
    """Read host, port and log position of an offset message id.

    Raises:
        ValueError: it is none.
    """

class Draft(Protocol):
    """A message without a position. `prepared_position` is that of the message that it copies."""

    @property
    def topic(self) -> str: ...
    @property
    def queue_id(self) -> int: ...
    @property
    def body(self) -> bytes: ...
    @property
    def flag(self) -> int: ...
    @property
    def sys_flag(self) -> int: ...
    @property
    def born_timestamp_ms(self) -> int: ...
    @property
    def born_host(self) -> tuple[str, int]: ...
    @property
    def store_host(self) -> tuple[str, int] | None: ...
    @property
    def reconsume_times(self) -> int: ...
    @property
    def prepared_position(self) -> int: ...

@final
class Appended:
    """Where an appended message went."""

    @property
    def queue_offset(self) -> int: ...
    @property
    def log_position(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def store_timestamp_ms(self) -> int: ...
    @property
    def message_id(self) -> str: ...

@final
class PropertyFilter:
    """A SQL92 expression over the properties of messages, as stock evaluates it."""

    def __new__(cls, expression: str) -> PropertyFilter:
        """Parse an expression.

        Raises:
            ValueError: stock would refuse it, or it is longer or deeper than the engine takes.
        """
    def matches(self, properties: bytes) -> bool:
        """Return whether a message with this property string passes."""

@final
class ReadResult:
    """What a queue read found."""

    @property
    def status(self) -> str: ...
    @property
    def next_offset(self) -> int: ...
    @property
    def min_offset(self) -> int: ...
    @property
    def max_offset(self) -> int: ...
    @property
    def count(self) -> int: ...
    @property
    def body(self) -> bytes: ...

@final
class Counters:
    """Messages and record bytes appended since the store was opened.

    `topics` holds the same two counts for each topic.
    """

    @property
    def messages(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def topics(self) -> dict[str, tuple[int, int]]: ...

@final
class Damage:
    """The first damage in a log, which makes its store read-only.

    `next_valid_position` is None when no valid record follows, yet the log was flushed further.
    `reason` says it all in one sentence, with the file and what to do.
    """

    @property
    def position(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def next_valid_position(self) -> int | None: ...
    @property
    def reason(self) -> str: ...

@final
class IndexStatus:
    """How far the key index is.

    Every record before `position` is indexed. Time and position of the end are those of the newest
    entry; `damaged_count` counts the files that were set aside since the store was opened.
    """

    @property
    def position(self) -> int: ...
    @property
    def file_count(self) -> int: ...
    @property
    def end_timestamp_ms(self) -> int: ...
    @property
    def end_position(self) -> int: ...
    @property
    def damaged_count(self) -> int: ...

@final
class Expired:
    """What was deleted for its age, or for want of room."""

    @property
    def segment_count(self) -> int: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def queue_file_count(self) -> int: ...

@final
class DueTimers:
    """Messages that are due, read from the log."""

    @property
    def positions(self) -> list[int]:
        """List the log positions of all messages."""

    @property
    def messages(self) -> list[tuple[int, str, int]]:
        """List the messages that are for a queue: log position, topic, and id."""

    @property
    def queues(self) -> list[tuple[str, int, int]]:
        """List the queues that they are for: topic, id, and the first log position of a message."""

@final
class DeliveredTimers:
    """The outcome of one call."""

    @property
    def gone(self) -> list[int]:
        """List the log positions of messages that were passed over, since they are elsewhere."""

    @property
    def arrivals(self) -> list[tuple[str, int, int]]:
        """List each delivery: topic, queue id, and the offset of the next message."""
    @property
    def discarded(self) -> list[tuple[int, str]]:
        """List messages that can never be delivered: log position and reason."""
    @property
    def failure(self) -> str | None:
        """Why the rest was not delivered; it is due again."""
    @property
    def is_stuck(self) -> bool:
        """Whether the rest waits for a queue."""
    @property
    def held_count(self) -> int:
        """Count the messages that are held for their queues now, of this batch and others."""

@final
class TimerStatus:
    """How timers stand."""

    @property
    def progress(self) -> tuple[int, int, int]: ...
    @property
    def waiting_count(self) -> int:
        """Messages that wait, less those that are cancelled."""
    @property
    def next_offset(self) -> int:
        """Offset of the next message of the timer topic that the wheel takes."""
    @property
    def by_hour(self) -> list[tuple[int, int]]:
        """Waiting messages by the hour in which they are due, which is given by its start."""
    @property
    def by_minute(self) -> list[tuple[int, int]]:
        """Waiting messages by minute, for the present minute and those of one hour after it."""
    @property
    def overdue_count(self) -> int:
        """Waiting messages whose slot is over."""
    @property
    def due_ms(self) -> tuple[int, int] | None:
        """When the first and the last slot with a waiting message are over; None without one."""

@final
class Store:
    """One message store: commit log, consume queues and key index in a directory.

    Every method raises `StoreError`. Dropping a store without `close` is an unclean stop.
    """

    def __new__(
        cls,
        path: str,
        *,
        commit_log_path: str | None = None,
        segment_size_bytes: int = 1 << 30,
        queue_file_size_bytes: int = 6_000_000,
        flush_mode: str = "async",
        message_body_size_max: int = 4 << 20,
        delay_levels_ms: Sequence[int] | None = None,
        crc_property: str = "off",
        index_enabled: bool = True,
        index_slot_count: int = 5_000_000,
        index_entry_count: int = 20_000_000,
        populate_ahead_bytes: int = 32 << 20,
        hot_size_bytes: int = 2**64 - 1,
        cold_cache_bytes: int = 256 << 20,
        timer_precision_ms: int = 1000,
        timer_window_steps: int = 172_800,
        timer_log_file_size_bytes: int = 100 << 20,
        store_host: tuple[str, int] | None = None,
        cut_damage_at: int | None = None,
    ) -> Store:
        """Open a store; `store_host` is 127.0.0.1:10911 when none is given.

        A store whose log is damaged in the middle can only be read, see `damage`. To give the
        position of that damage as `cut_damage_at` is to consent to losing all from there on.

        With the `crc_property` "verified" every record ends in a checksum of all of it, and those
        checksums are verified: a wrong bit in a header is found, too. With "required" a record
        without one counts as damaged, besides.
        With the `flush_mode` "sync" blocks of the log are written before records are. So no flush
        waits for a commit of the file system's journal.
        Reads from more than `hot_size_bytes` behind the end of the log are smaller: 8 messages and
        64 KiB. All such reads together leave at most `cold_cache_bytes` of the log in memory.
        """

    def append(
        self,
        topic: str,
        queue_id: int,
        body: bytes,
        properties: bytes,
        *,
        flag: int = 0,
        sys_flag: int = 0,
        born_timestamp_ms: int = 0,
        born_host: tuple[str, int] | None = None,
        reconsume_times: int = 0,
        prepared_transaction_offset: int = 0,
        store_host: tuple[str, int] | None = None,
    ) -> Appended: ...
    def append_unit(self, drafts: Sequence[tuple[Draft, bytes]]) -> list[Appended]:
        """Append messages of any queues, each with its properties: all of them, or none.

        After a crash a unit may end with any of its whole records, as a batch may.
        """
    def read(
        self,
        topic: str,
        queue_id: int,
        offset: int,
        count_max: int = 32,
        bytes_max: int = 262_144,
        tag_hashes: Sequence[int] | None = None,
        property_filter: PropertyFilter | None = None,
    ) -> ReadResult:
        """Read messages, those that pass: `property_filter` stands in the place of tags."""

    def read_resident(
        self,
        topic: str,
        queue_id: int,
        offset: int,
        count_max: int = 32,
        bytes_max: int = 262_144,
        tag_hashes: Sequence[int] | None = None,
        property_filter: PropertyFilter | None = None,
    ) -> ReadResult | None:
        """Read only what is in memory; None when already the first message is not."""
    @property
    def confirmed_position(self) -> int:
        """The position up to which readers see the log: its end where nothing limits them."""
    def set_confirmed_position(self, position: int | None) -> list[tuple[str, int, int]]:
        """Show readers the records that end at or before a position, with None all of them.

        The first limit may be anywhere; from then on it only rises, until None lifts it, and a
        lower one changes nothing. Truncation alone lowers it. It is not kept on the disk. Returned
        is what became readable since the last call, perhaps with other queues, as (topic, queue
        id, max offset).
        """
    def entries(
        self, topic: str, queue_id: int, offset: int, count: int
    ) -> list[tuple[int, int, int]]:
        """List queue entries as (log position, size, tags code)."""
    def record(self, log_position: int) -> bytes | None: ...
    def offsets(self, topic: str, queue_id: int) -> tuple[int, int] | None: ...
    def queues(self) -> list[tuple[str, int, int, int]]:
        """List queues as (topic, queue id, min offset, max offset)."""
    def held_offsets(self, topic: str, queue_id: int) -> tuple[int, int] | None:
        """Give `offsets` with the messages that readers do not see."""
    def held_entries(
        self, topic: str, queue_id: int, offset: int, count: int
    ) -> list[tuple[int, int, int]]:
        """List `entries` with those that readers do not see."""
    def held_record(self, log_position: int) -> bytes | None:
        """Give `record`, whether or not readers see it."""
    def copied_ends(self, topic: str, log_position: int) -> list[tuple[int, int]]:
        """List how far the records from a position on copied a topic's queues to another topic.

        Readers may see them or not. A copy has its message's log position as its
        `prepared_transaction_offset`. Each item is a queue id, and the offset behind the last
        message that a copy names. A record must begin at the position.
        """
    def copied_positions(self, topic: str, log_position: int) -> list[int]:
        """List the log positions of a topic's messages that the records from a position on copy."""
    def follow_timers(self, count_max: int) -> tuple[int, int]:
        """Take messages of the timer topic onto the wheel; return their count, and what is left."""
    def set_timer_progress(self, progress: tuple[int, int, int]) -> None:
        """Take over the progress of a master: for a broker that does not deliver.

        A progress has three parts. The first is the time in milliseconds of the slot that is
        delivered next. The second is the log position before which its messages are delivered. The
        third is a queue offset: messages from there on are not covered.
        """
    def lead_timers(
        self, progress: tuple[int, int, int] | None, delivered: Sequence[int], now_ms: int
    ) -> None:
        """Begin to deliver, from a progress on or from that of the files.

        Given are also the log positions of messages that were delivered since.
        """
    def stop_timers(self) -> None:
        """Deliver nothing more, not even what was read already."""
    def due_timers(self, now_ms: int, count_max: int, bytes_max: int) -> DueTimers | None:
        """Read messages that are due; None where none is, or this broker does not deliver."""
    def deliver_timers(
        self,
        due: DueTimers,
        targets: Mapping[tuple[str, int], tuple[int, int]] | None,
        *,
        may_hold: bool,
        gone: AbstractSet[int],
    ) -> DeliveredTimers:
        """Copy messages that are due to their topics, as far as the store takes them.

        A target belongs to the topic and queue of a message. It is the queue that takes the
        message, and the log position before which messages of the topic are void. Messages without
        a target are held, and others pass them; or else they hold up all that follow. Messages at
        the positions that are gone need no copy. Without targets nothing is appended.
        """
    def flush_timers(self, now_ms: int) -> None:
        """Write wheel, timer log and checkpoint to the disk, if they have changed."""
    def timer_progress(self) -> tuple[tuple[int, int, int], bool] | None:
        """Return the progress of the deliveries, and whether it covers all of them.

        While messages are held there is no other progress than the last one: None.
        """
    def timer_status(self, now_ms: int) -> TimerStatus: ...
    def timers_by_topic(self) -> list[tuple[str, int, int]]:
        """List topics with waiting messages: name, their number, and how many are rolled.

        Topics whose names have the same Java hash are one.
        """
    def timers_at(self, time_ms: int) -> int:
        """Count the messages in the slot of a time."""
    @property
    def has_timers_of_stock(self) -> bool:
        """Whether stock wrote the files of timers: no record of the log has their progress."""
    def timer_checkpoint(self) -> bytes | None:
        """Give the seven integers of `config/timercheck`, if there is one."""
    def offset_by_time(
        self, topic: str, queue_id: int, timestamp_ms: int, boundary: str = "LOWER"
    ) -> int: ...
    def store_timestamp(self, topic: str, queue_id: int, offset: int) -> int:
        """Find the store time of a message, -1 when it is not there."""
    def earliest_store_timestamp(self, topic: str, queue_id: int) -> int:
        """Find the store time of a queue's first message, -1 when there is none."""
    def find_by_key(
        self,
        topic: str,
        key: str,
        *,
        kind: Literal["key", "unique_key", "tags"] = "key",
        count_max: int = 32,
        size_max: int = 2**64 - 1,
        begin_ms: int = 0,
        end_ms: int = 2**63 - 1,
        timeout_ms: int = 30_000,
        with_tail: bool = False,
    ) -> list[tuple[int, bytes]]:
        """List records with their log positions, the newest first; `key` finds either kind.

        With the tail, what the index does not hold yet is looked through as well, up to 256 MiB.

        They are 64 at most, and of `size_max` bytes unless the first alone is larger. It goes in
        short turns, and between them others may change the index, cut the log or close the store:
        what they remove may be missing.

        Raises:
            ValueError: there is no such kind of key.
            StoreError: it took too long (`search_too_long`): a shorter range of times takes less;
                nothing was found, and the tail is too long to be looked through
                (`index_behind`); or a record is damaged.
        """
    def advance_followers(self, now_ms: int, utc_offset_s: int) -> int:
        """Index the next piece of the log and return how many bytes are left.

        New files are named by the local time, which is `utc_offset_s` ahead of UTC.
        """
    def index_status(self) -> IndexStatus: ...
    def seal_queue(self, topic: str, queue_id: int) -> int:
        """Have a queue refuse messages with `queue_sealed`, and return the offset of its end.

        The seal covers each way to append, is in memory only, and does not concern the records of a
        master.
        """
    def unseal_queue(self, topic: str, queue_id: int) -> int:
        """Have a sealed queue take messages again; return the offset of its end."""
    def flush(self) -> int:
        """Make everything appended durable and return the position up to which it is."""
    def start_write_back(self) -> int:
        """Start to write what was appended to the disk, from 8 MiB on, without waiting for it.

        Return how many bytes were started. Nothing is durable by it; the next flush is shorter.
        """
    @property
    def failure(self) -> str | None:
        """Why all work but reads is refused until the store is opened again, if it is."""
    def tick(self, now_ms: int) -> None:
        """Flush queues and write the checkpoint as they fall due.

        Without a `failure` afterwards an error did no harm: the next call tries again.
        """
    def expire(
        self,
        now_ms: int,
        *,
        age_ms: int | None = None,
        log_bytes_max: int | None = None,
        needed_from: int | None = None,
        is_forced: bool = False,
        segment_count_max: int = 10,
    ) -> Expired:
        """Delete the oldest segments: those so old, those beyond a size of the log, or any.

        Never the newest one, and never one that is not on the disk yet. What a replica needs, from
        `needed_from` on, goes unforced only when it is twice as old, or beyond twice that size.
        What was derived from them goes too.
        """
    @property
    def flushed_position(self) -> int: ...
    @property
    def populated_position(self) -> int:
        """The position up to which pages were touched ahead of the writer."""
    @property
    def min_position(self) -> int: ...
    @property
    def max_position(self) -> int: ...
    def counters(self) -> Counters: ...
    def delete_topic(self, topic: str, *, before: int | None = None) -> None:
        """Remove the queues of a topic, or those of which all messages lie before a position.

        Their files are removed by the next `expire`.
        """
    @property
    def damage(self) -> Damage | None:
        """The damage found when the store was opened; appends are refused if there is any."""
    @property
    def lost_unflushed(self) -> tuple[int, int | None] | None:
        """Where the log was cut because the system went down before all of it was flushed.

        And where records went on that were cut with what is gone.
        """
    @property
    def was_converted(self) -> bool:
        """Whether a former version wrote the store, which reused expired segments of the log."""
    @property
    def had_failed_flush(self) -> bool:
        """Whether a flush failed when it was open last, so that only what the disk has is left."""
    @property
    def are_epochs_from_backup(self) -> bool:
        """Whether the epoch file was not readable when the store was opened."""
    def begin_epoch(self, number: int) -> None:
        """Begin an epoch at the end of the log; it is on the disk when this returns.

        Beginning the newest epoch again changes nothing; an older one is refused.
        """
    def epochs(self) -> list[tuple[int, int]]:
        """List epochs as (number, log position of the first byte), oldest first."""
    def note_reign(self, epoch: int) -> None:
        """Note that this broker leads an epoch, before it does; 0 without a controller.

        The second log, for the topics that are not replicated, is given up if another broker may
        have led since it was used.
        """
    def begin_local(self, generation: int, epoch: int, topics: list[str]) -> bool:
        """Open the second log, which has the messages of these topics; other ones are removed.

        False if the log is new, and so of a generation, which is higher than those before.
        """
    def give_up_local(self, epoch: int) -> None:
        """Give up a closed second log, since another broker leads an epoch later than its last."""
    def first_offset(self, topic: str) -> int:
        """Return where the queues of a topic begin: 0 unless the topic is not replicated."""
    def end_local(self) -> None:
        """Close the second log, which keeps its messages until `begin_local`."""
    def set_local(self, topic: str, is_local: bool) -> None:
        """Say whether the second log holds the messages of a topic; it must be open.

        The messages of a topic that is no more are removed.
        """
    def truncate_to(self, position: int) -> None:
        """Cut the log where a record begins, and all that is derived from it, durably.

        Waits for the calls that are in the store. A crash cannot leave it half done: the next
        opening finishes it.
        """
    def log_bytes(self, position: int, size: int) -> bytes | None:
        """Return so many bytes of the log; None if one segment does not hold all of them."""

    def begin_front(self, base: int) -> FrontSegment:
        """Begin with the segment that ends where the log begins; drop what was begun before."""

    def restart_followers(self) -> None:
        """Derive key index and timers again, and drop a segment that was not put in front."""

    def empty(self) -> None:
        """Give up all that is held, durably; a copied log may then begin at any segment.

        Waits for the calls that are in the store. A crash cannot leave it half done: the next
        opening finishes it.
        """
    def close(self) -> None:
        """Flush all, write the checkpoint and release the directory; a second call does nothing.

        Waits for the calls that are in the store. Everything after it fails with `closed`.
        """

@final
class Finding:
    """One thing that is wrong with a store.

    `severity` is `lost` for messages that cannot be read, and `blocked` for what keeps a broker
    from starting. It is `derived` for what a rebuild from the log mends, `weakened` for a safeguard
    that is gone, and `note` for what is no fault. `queue` is `topic/queue id`, or empty for all
    else; `position` is a queue offset with a queue, else the log position it is about. `byte` is
    where in `file` it is, 0 for all of it.
    """

    @property
    def kind(self) -> str: ...
    @property
    def severity(self) -> Literal["lost", "blocked", "derived", "weakened", "note"]: ...
    @property
    def queue(self) -> str: ...
    @property
    def position(self) -> int: ...
    @property
    def file(self) -> Path: ...
    @property
    def byte(self) -> int: ...
    @property
    def text(self) -> str: ...

def finding_kinds() -> list[tuple[str, str]]:
    """Name every kind of finding, with its severity."""

@final
class IndexSurvey:
    """The key index: its files, their keys, the log position of the newest.

    A comparison with the log also counts keys that records before that position miss, and those
    that wait behind it to be indexed.
    """

    @property
    def file_count(self) -> int: ...
    @property
    def key_count(self) -> int: ...
    @property
    def end_position(self) -> int: ...
    @property
    def missing_count(self) -> int: ...
    @property
    def waiting_count(self) -> int: ...

@final
class CheckpointSurvey:
    """What the checkpoint says: store times and log positions up to which all is on the disk."""

    @property
    def log_timestamp_ms(self) -> int: ...
    @property
    def queue_timestamp_ms(self) -> int: ...
    @property
    def index_timestamp_ms(self) -> int: ...
    @property
    def flushed_position(self) -> int: ...
    @property
    def confirmed_position(self) -> int: ...

@final
class IndexedKey:
    """One entry of the key index; `previous` is the number of the one before in its chain."""

    @property
    def file(self) -> str: ...
    @property
    def number(self) -> int: ...
    @property
    def hash(self) -> int: ...
    @property
    def log_position(self) -> int: ...
    @property
    def store_timestamp_ms(self) -> int: ...
    @property
    def previous(self) -> int: ...

@final
class QueueSurvey:
    """What the log holds of one queue; `max_offset` is the one after the highest."""

    @property
    def topic(self) -> str: ...
    @property
    def queue_id(self) -> int: ...
    @property
    def record_count(self) -> int: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def min_offset(self) -> int: ...
    @property
    def max_offset(self) -> int: ...
    @property
    def first_store_timestamp_ms(self) -> int: ...
    @property
    def last_store_timestamp_ms(self) -> int: ...

@final
class Survey:
    """A walk over a store's files from outside: it writes, locks and repairs nothing."""

    def __new__(
        cls,
        path: str,
        *,
        commit_log_path: str | None = None,
        compares: bool = True,
        is_in_use: bool = False,
        delay_levels_ms: Sequence[int] | None = None,
        index_slot_count: int = 5_000_000,
        index_entry_count: int = 20_000_000,
        crc_property: str = "off",
    ) -> Survey:
        """Begin a survey that counts or, by default, also compares everything with the log.

        Of a store that is in use it does not report what every such store has. With the
        `crc_property` of a store that has one, a record with a wrong one is damage; without, it
        counts as a record, and a note says so.

        Raises:
            StoreError: the directory cannot be read.
        """
    def advance(self, size: int) -> bool:
        """Walk on over about `size` bytes; false once the survey is over.

        Raises:
            StoreError: a file cannot be read.
        """
    @property
    def total_bytes(self) -> int: ...
    @property
    def done_bytes(self) -> int: ...
    @property
    def min_position(self) -> int: ...
    @property
    def end_position(self) -> int: ...
    @property
    def finding_count(self) -> int: ...
    def findings(self) -> list[Finding]:
        """List what was found, the first thousand; at first what needs no look into the log."""
    def queues(self) -> list[QueueSurvey]: ...
    def index(self) -> IndexSurvey: ...
    def epochs(self) -> list[tuple[int, int]]:
        """List number and first log position of the epochs that a store would go by."""
    def checkpoint(self) -> CheckpointSurvey | None: ...
    @property
    def truncation_position(self) -> int | None:
        """Where the next start will cut the log, if a truncation is under way."""

@final
class Rebuilt:
    """The rebuilt parts: queues as (topic, queue id, min and max offset), and the index.

    The checkpoint is written after a clean stop only; recovery from an unclean one goes by it.
    Records whose CRC property is wrong are used unless the option is on, and counted, with the log
    position of the first. Records that no queue can hold are counted; they have no entry.
    """

    @property
    def queues(self) -> list[tuple[str, int, int, int]]: ...
    @property
    def index_file_count(self) -> int: ...
    @property
    def key_count(self) -> int: ...
    @property
    def unqueued_count(self) -> int: ...
    @property
    def has_checkpoint(self) -> bool: ...
    @property
    def wrong_crc_count(self) -> int: ...
    @property
    def first_wrong_crc(self) -> int | None: ...

@final
class Rebuild:
    """Queues and key index of a closed store, built from its log beside those in use.

    Until `finish` nothing that is in use changes; the store is locked until then, or `abandon`.
    """

    def __new__(
        cls,
        path: str,
        *,
        commit_log_path: str | None = None,
        queues: bool = True,
        index: bool = True,
        delay_levels_ms: Sequence[int] | None = None,
        queue_file_size_bytes: int = 6_000_000,
        index_slot_count: int = 5_000_000,
        index_entry_count: int = 20_000_000,
        utc_offset_s: int = 0,
        crc_property: str = "off",
    ) -> Rebuild:
        """Lock the store and begin; a `crc_property` other than "off" judges by it.

        Raises:
            StoreError: it is in use, to be truncated first, or cannot be read.
        """
    def advance(self, size: int) -> bool:
        """Read on over about `size` bytes of the log; false once all of it is read.

        Raises:
            StoreError: the log is damaged, or the disk is full.
        """
    @property
    def total_bytes(self) -> int: ...
    @property
    def done_bytes(self) -> int: ...
    def finish(self, *, old_suffix: str | None = None) -> Rebuilt:
        """Put what was made into its place; keep the old as `<name>.<old_suffix>`, or remove it.

        Raises:
            StoreError: the system refused; each part is then the old or the new one, and whole.
        """
    def abandon(self) -> None:
        """Leave the store as it was; nothing after `finish`."""

def read_index(
    path: str,
    *,
    min_position: int = 0,
    count: int = 100,
    index_slot_count: int = 5_000_000,
    index_entry_count: int = 20_000_000,
) -> list[IndexedKey]:
    """Read entries of a store's key index, the oldest first, of records from a position on.

    Raises:
        StoreError: a file cannot be read, or is no index file of this shape.
    """

@final
class LogRemark:
    """What is to be said of the log from `position` to `next_position` beside its records.

    A gap holds no record that can be read; else it is about the one record that is there.
    """

    @property
    def position(self) -> int: ...
    @property
    def next_position(self) -> int: ...
    @property
    def is_gap(self) -> bool: ...
    @property
    def text(self) -> str: ...

@final
class LogReader:
    """Valid records of a store's log, the oldest first or from a position on."""

    def __new__(
        cls, path: str, *, commit_log_path: str | None = None, position: int | None = None
    ) -> LogReader:
        """Stand before the first record.

        Raises:
            StoreError: no record begins at the position, or a file cannot be read.
        """
    def read(self, count: int) -> tuple[list[Record], list[LogRemark]]:
        """Read on; fewer records than `count` are the last ones.

        A record whose body has the right checksum is read even if its own does not fit.

        Raises:
            StoreError: a file cannot be read.
        """

def parse_pop_handle(text: str) -> tuple[int, int, int, int, str] | None:
    """Read the handle of a delivered message; None if it is malformed.

    The values are the time and the tag of the delivery, the hidden time, the topic's name in
    handles, and the broker group.
    """

def special_properties() -> list[str]:
    """Name the properties that make a message a special one, which the hot path leaves cold."""

def turn_time_limits_ms() -> list[int]:
    """Give the ends of the ranges by which turns are counted; the last range has no end."""

EXT_COUNT_MAX: int
"""The most fields of a request that a broker reads."""

FRAME_PREFIX_SIZE: int
"""The bytes of a frame before its header."""

HEADER_SIZE_MAX: int
"""The largest header of a request that a broker reads, in bytes."""

IN_MEMORY_BYTES: int
"""A record so near the end of the log is most likely in memory, and is read at once."""
LOCAL_DIR: str
"""Where the log of the topics that are not replicated is, below the directory of the store."""

LOCAL_OFFSET_BITS: int
"""An offset in a log of generation g is g << this, or somewhat higher."""

LOCAL_START: int
"""The log positions of topics that are not replicated begin here."""

PARKED_COUNT_MAX: int
"""Most parked pulls of a broker."""

PARKED_MS_MAX: int
"""Longest wait of a parked pull, in milliseconds."""

PROPERTIES_SIZE_MAX: int
"""Maximum size of a property string, in bytes."""

SHARE_VERSION_MAX: int
"""The newest version of the records of share queues that this engine reads and writes."""

SHARE_WINDOW: int
"""Maximum number of offsets in the window of a share queue."""

@final
class HotPath:
    """What one broker's connections share: the store, the topic table and the broker's names."""

    def __new__(
        cls,
        store: Store,
        *,
        broker_name: str,
        cluster_name: str,
        store_host: tuple[str, int],
        region: str = "DefaultRegion",
        trace_on: bool = True,
        frame_size_max: int = 16_777_216,
    ) -> HotPath: ...
    def set_topic(
        self,
        name: str,
        *,
        perm: int,
        read_queue_count: int,
        write_queue_count: int,
        leading: LeadingQueues | None = None,
    ) -> None:
        """Add or change a topic; of a static topic with the logical queues that are led."""

    def remove_topic(self, name: str) -> None: ...
    def set_writable(self, writable: bool, reason: str | None = None) -> None:
        """Take sends, or refuse them with code 14 and a reason."""

    def set_handing_up(self, handing_up: bool) -> None:
        """Leave every send cold, whatever else holds: another broker takes them."""

    def append(self, command: Command, peer: tuple[str, int], now_ms: int) -> Received | None:
        """Append and answer a send that was decoded and checked, as a connection does.

        None leaves it: it is neither an ordinary message nor a half message, or clients cannot
        simply send to its topic.

        Raises:
            StoreError: the store looked at nothing.
        """

    def make_queue_file(self, command: Command) -> None:
        """Make the file that the queue of a send lacks, while others append; `append` it then.

        It waits for the disk. Where the file cannot be made, the append says why.

        Raises:
            StoreError: the store is closed, or has panicked.
        """

    @property
    def transactions(self) -> PendingTransactions:
        """The pending transactions of this broker: half messages that it stores are added."""

    def take_transactions(self, timeout_ms: int | None) -> None:
        """Take half messages and ends of transactions once their topics exist; None: leave them.

        A producer may be asked after `timeout_ms`, unless its message names another age. What is
        not ordinary stays cold: delays, times, static topics, and half messages that this master
        did not store since it has read its log, or that were stored again.
        """

    def set_setting_aside(self, setting_aside: bool) -> None:
        """Have connections set aside a send whose queue lacks a file for it."""

    def lead_shares(
        self,
        topic: str,
        *,
        epoch: int,
        member: int,
        segment_size_bytes: int,
        is_acting: bool = False,
        life: int = 0,
        shared_topics: Sequence[str] = (),
        version_max: int = ...,
    ) -> int:
        """Own the share queues of the broker group, with the state that the lane `topic` holds.

        Those of shared topics are owned by lease, see `serve_share`.

        The epoch is that of the master, 0 without a controller. A replica that acts for its master
        appends nothing: the caller keeps what is finished, before it answers. The version of the
        lane is returned. If it is above `version_max`, records can't be read, and nothing is owned.

        Raises:
            StoreError: the log is damaged there.
        """

    @property
    def shares_version(self) -> int | None:
        """The version of the next records of the lane; None if no share queue is owned."""

    def raise_shares_version(self, version: int) -> bool:
        """Write records of a later version from now on; return whether the lane got a record.

        A lane without a share queue gets the VERSION record before its first record.

        Raises:
            StoreError: the store refused the record, which comes before the next one.
        """

    def compact_shares(self, version: int) -> bool:
        """Write the lane again, in records of a former version; False if none is owned.

        Raises:
            StoreError: the store refused the records; repeat it.
        """

    @property
    def shares_end(self) -> int:
        """The log position behind the last record of the lane; 0 before the first one."""

    def stand_down_shares(self) -> None:
        """Own no share queue any more."""

    def missing_shares(
        self,
        topic: str,
        group: str,
        queue_count: int,
        *,
        attempts: int,
        discards: bool,
        leading: LeadingQueues | None = None,
    ) -> list[int]:
        """Return the queues of a topic without a share queue of a group, in this reign and so.

        With the queues that are led here the topic is static, and its queues are those.
        """

    def begin_shares(
        self,
        topic: str,
        group: str,
        starts: Sequence[tuple[int, int]],
        *,
        attempts: int,
        discards: bool,
        is_ordered: bool,
        leading: LeadingQueues | None = None,
        states: Mapping[int, bytes] | None = None,
        elapsed_ms: int = 0,
    ) -> None:
        """Name and own share queues; a new one begins at the offset that follows its queue id.

        In a static topic it begins with the state of its last owner, if that is later than the
        known one (queue-ownership.md 4.19).

        Raises:
            ValueError: a state is malformed.
            StoreError: the store refused the records.
        """

    def share_ownership(self, topic: str, queue_id: int, group: str) -> tuple[int, bool] | None:
        """Return the lease epoch of a share queue, and whether its last owner has it still."""

    def give_shares_away(self, topic: str, queue_ids: Sequence[int]) -> bool:
        """End the ownership of the share queues of logical queues (UNOWN); False without any.

        Raises:
            StoreError: the store refused the records; the share queues are not used here anyway.
        """

    def shares_given_away(
        self, topic: str, queue_id: int, elapsed_ms: int
    ) -> list[tuple[str, int, bytes]]:
        """Return the group, lease epoch and SNAP record of each share queue that was given away."""

    def older_wish(self, topic: str, queue_id: int, group: str, elapsed_ms: int) -> int | None:
        """Return the next offset of a share queue that lies in an older segment and is not read."""

    def put_older(
        self,
        topic: str,
        queue_id: int,
        group: str,
        offset: int,
        next_offset: int,
        records: bytes,
    ) -> None:
        """Keep the messages of an older segment between two offsets, with logical places."""

    def accept_shares(
        self,
        topic: str,
        queue_id: int,
        group: str,
        *,
        pop_time_ms: int,
        tag: int,
        offsets: Sequence[int],
    ) -> Finished | None:
        """Finish messages of one delivery (ACCEPT); None if the share queue is unknown.

        Raises:
            StoreError: the store refused the record, and nothing is finished.
        """

    def finished_share(
        self, topic: str, queue_id: int, group: str
    ) -> tuple[int, int, list[tuple[int, int]]] | None:
        """Return the number of a share queue, the epoch of its last reset, and what is finished.

        Each range is a first offset and the offset behind the last one. None if it is unknown.
        """

    def take_over_share(
        self,
        topic: str,
        queue_id: int,
        group: str,
        *,
        number: int,
        reset_epoch: int,
        ranges: Sequence[tuple[int, int]],
    ) -> Finished | None:
        """Finish what another member has finished of a share queue, as `finished_share` returns it.

        None if the share queue is another one here, or was reset since: then nothing changes.

        Raises:
            ValueError: the ranges don't rise.
            StoreError: the store refused the record, and nothing is finished.
        """

    def change_share(
        self,
        topic: str,
        queue_id: int,
        group: str,
        *,
        pop_time_ms: int,
        tag: int,
        offset: int,
        hidden_ms: int,
        gives_back: bool,
        elapsed_ms: int,
    ) -> tuple[int, int, int | None] | None:
        """Keep a message so much longer (RENEW), or give it back after that time (RELEASE).

        Return the time in ms since 1970 and the tag of the delivery as of now. In SHARED mode the
        third value is the log position whose confirmation the answer waits for.

        Return time and tag of its delivery as of now; None if the handle is void.
        """

    def is_share_full(self, topic: str, queue_id: int, group: str) -> bool:
        """Whether nothing new can be delivered of a share queue until its front is finished."""

    def next_of_share(self, topic: str, queue_id: int, group: str, elapsed_ms: int) -> int | None:
        """Return where the next messages of a group begin; None if the share queue is unknown."""

    def client_left_shares(self, client: int, group: str) -> list[tuple[str, int]]:
        """Let the messages of a gone connection be delivered again; return their queues."""

    def undo_deliveries(self, deliveries: list[tuple[int, int, int]]) -> list[tuple[str, int]]:
        """Undo deliveries whose answer was never given; return the queues of their messages.

        The messages can be delivered at once, and the deliveries do not count. A delivery is the
        number of a share queue, a time in ms since 1970 and a tag. Messages that were finished or
        delivered again since stay as they are.
        """

    def follow_shares(
        self,
        topic: str,
        *,
        member: int,
        life: int,
        shared_topics: Sequence[str],
        version_max: int = ...,
    ) -> None:
        """Follow the lane `topic` of the master, up to the position that readers see.

        Life is a random number of the process, of 32 bits.

        Raises:
            StoreError: the log is damaged there.
        """

    def advance_shares(self) -> list[tuple[str, int]]:
        """Apply what readers see of the lane by now; return queues with messages for consumers.

        Raises:
            StoreError: the log is damaged there.
        """

    def set_shared(self, topic: str, is_shared: bool) -> bool:
        """Serve a topic in SHARED mode or in PRIMARY mode; return whether records say so.

        Raises:
            StoreError: the store refused the records.
        """

    def left_out_shares(self) -> list[int]:
        """Return the log positions of damaged records of share queues that all members leave out.

        Those before the last snapshot of the lane are not named.
        """

    def seen_shares(self) -> list[tuple[str, int, str, int, int | None, bool]]:
        """Return the share queues of shared topics in this lane.

        Each is topic, queue, group, lease epoch, the id of the owner, and whether a message can be
        delivered now.
        """

    def seen_shares_of(
        self, topic: str, group: str
    ) -> list[tuple[str, int, str, int, int | None, bool]]:
        """Return those of `seen_shares` that a group has in a topic."""

    def is_any_share_owned(self) -> bool:
        """Return whether any share queue of a shared topic has an owner by this lane."""

    def share_owner(self, topic: str, queue_id: int, group: str) -> int | None:
        """Return the broker id of the owner by this lane; None without one."""

    def serve_share(
        self, topic: str, queue_id: int, group: str, epoch: int, ends_ms: int | None
    ) -> bool:
        """Hand out messages of a share queue; False if the lane says that others own it.

        The lease ends at a time of CLOCK_BOOTTIME in milliseconds; None if it has no end.
        """

    def prolong_share(self, topic: str, queue_id: int, group: str, ends_ms: int | None) -> None:
        """Let the lease of a share queue that is served here end at another time."""

    def lock_share(self, topic: str, queue_id: int, group: str) -> bool:
        """Hand out no message any more; return whether deliveries are proposed still."""

    def serves_any_share(
        self, topic: str, queue_id: int | None, group: str, elapsed_ms: int | None
    ) -> bool:
        """Return whether messages of a queue, or of any queue, are handed out here.

        That is at a time of CLOCK_BOOTTIME in milliseconds; None disregards the ends of leases.
        """

    def own_record(self, topic: str, queue_id: int, group: str, epoch: int) -> bytes | None:
        """Return the record by which this member owns a share queue; None if it is unknown."""

    def unown_record(
        self, topic: str, queue_id: int, group: str, wants_again: bool
    ) -> bytes | None:
        """Return the record by which this member gives a share queue back."""

    def own_share_as_sequencer(
        self, topic: str, queue_id: int, group: str
    ) -> tuple[int, Appending] | None:
        """Own a share queue with the next lease epoch; None unless this broker is master.

        Raises:
            StoreError: the store refused the record.
        """

    def append_share_records(self, member: int, records: bytes) -> Appending:
        """Append records of a member to the lane, all of them or none (4101).

        Raises:
            StoreError: the store refused them.
        """

    def expire_served_shares(self) -> list[tuple[str, int]]:
        """End the deliveries whose deadline has passed; return queues with messages to deliver.

        A replica proposes it instead.

        Raises:
            StoreError: the store refused the records.
        """

    def take_share_proposal(self) -> tuple[list[int], bytes] | None:
        """Return the numbers and the records of what this replica has to propose."""

    def settle_shares(self, numbers: list[int]) -> list[tuple[str, int]]:
        """Hear that proposals are in this lane, or never will be.

        Return the queues whose messages they held back: what was not handed out is ready now.
        """

    def withdraw_shares(self, records: bytes) -> tuple[list[int], bytes] | None:
        """Return the records that give back what other records hand out, as a proposal.

        The outcome of the other records is unknown. None if they hand out nothing.
        """

    def share_state(self, topic: str, queue_id: int, group: str) -> tuple[int, bytes] | None:
        """Return the state of a share queue as a SNAP record, and the end of its lane."""

    def list_shares(
        self,
        elapsed_ms: int,
        count_max: int,
        *,
        topic: str | None = None,
        group: str | None = None,
    ) -> tuple[list[HeldShare], int]:
        """Return the share queues of a topic, of a group or of both, and the number of all of them.

        Consumers get their turn between the parts of a long list.
        """

    def share_delivered_count(self, topic: str, queue_id: int, group: str) -> int:
        """Return how many deliveries a share queue had since this broker has its lane."""

    def share_messages(
        self, topic: str, queue_id: int, group: str, elapsed_ms: int
    ) -> list[HeldShareMessage]:
        """Return the messages that were delivered and are not finished, by offset."""

    def release_share(
        self, topic: str, queue_id: int, group: str, holds: Sequence[tuple[int, int, int]]
    ) -> int:
        """Let messages be delivered again that consumers have by the named deliveries still.

        Each hold is an offset, with the time and the tag of its delivery. Return how many messages
        were released.
        """

    def reset_share(self, topic: str, queue_id: int, group: str, start: int) -> bool:
        """Let a group begin at an offset: what its consumers have of the queue is void.

        False if the group has no share queue there, or if this broker only acts for its master.

        All share queues are missing until `begin_shares` owns them again.

        Raises:
            StoreError: the store refused the record, and nothing changes.
        """

    def pop_count(self, topic: str, queue_id: int, group: str) -> int:
        """Count the POPs of a group that wait at a queue, or with -1 at any queue of a topic."""

    def dead_shares(self, elapsed_ms: int, count_max: int) -> list[tuple[str, int, str, int, int]]:
        """Return messages that were delivered as often as they may be, and that no consumer has.

        Each is a topic, queue, group, offset and number of deliveries.
        """

    def reject_share(
        self,
        topic: str,
        queue_id: int,
        group: str,
        offset: int,
        *,
        disposition: Literal["DISCARD", "DLQ", "RETRY"],
        copy: tuple[Draft, bytes] | None = None,
        given_back: tuple[int, int] | None = None,
        count: int | None = None,
    ) -> Finished | None:
        """Give a message up (REJECT), in one unit of the log with its copy and its properties.

        With `given_back`, the time and the tag of a delivery, no consumer may have the message
        since. With `count` no consumer may have it, after so many deliveries. Without success that
        is not so, or the message is finished already, and nothing is written. None if its share
        queue is unknown.

        Raises:
            StoreError: the store refused the unit.
        """

    def keep_shares(self) -> bool:
        """Write a snapshot of all share queues if one is due; return whether one was written.

        Raises:
            StoreError: the store refused it.
        """

    def remove_shares(self, *, topic: str | None = None, group: str | None = None) -> None:
        """Forget the share queues of a topic, of a group, or of a group in a topic.

        Raises:
            StoreError: the store refused the records.
        """

    def wake_pops(self, topic: str, queue_id: int) -> bool:
        """Have POPs look that wait for messages of a queue; return whether there are any."""

    def grant_pulls(self, grant: PullGrant) -> None:
        """Answer pulls of the kind of a grant without a check, as long as it holds.

        Those that find no messages wait for them, where they ask for it. Oneway ones stay cold.
        """

    @property
    def wake_count(self) -> int:
        """How often readers were to look for messages, which is after each append."""

    @property
    def facts_version(self) -> int:
        """The version of everything that checks of pulls look at; it rises with each change."""

    def facts_changed(self) -> None:
        """Hear that something changes that checks of pulls look at."""

    @property
    def parked_count(self) -> int:
        """How many pulls wait for messages, or for the turn in which they are answered."""

    @property
    def next_deadline_ms(self) -> int | None:
        """When the next deadline of a parked pull passes; None while none waits."""

    def wake(self, topic: str, queue_id: int, max_offset: int) -> bool:
        """Wake the pulls at a queue that ends at `max_offset` now; whether there are any."""

    def confirm(self, position: int | None, delay_topic: str) -> tuple[bool, list[int]]:
        """Show readers the log up to a position, as `Store.set_confirmed_position`, and wake pulls.

        Return whether pulls wait at queues that became longer, and the grown queues of one topic.
        """

    def expire_pulls(self, elapsed_ms: int) -> bool:
        """End the wait of some pulls whose deadline has passed; whether there were any."""

    def release_pulls(self, topic: str, group: str | None = None) -> bool:
        """End the wait of the pulls of a topic, or of one group; whether there were any."""

    def release_all_pulls(self) -> bool:
        """End the wait of every pull; whether there were any."""

    def next_turn(self) -> int | None:
        """The id of the next connection with pulls that are ready: call its `answer_parked`."""

    def wait_for_turn(self, connection_id: int) -> bool:
        """Let a connection take a turn again if parked pulls of it are ready; whether they are."""

    def drop_parked(self, connection_id: int) -> None:
        """Forget the parked pulls of a connection, because its client has gone."""

    @property
    def put_times(self) -> tuple[int, list[int]]:
        """The longest turn that stored messages, in milliseconds, and the count of each range."""

    @property
    def pull_times(self) -> tuple[int, list[int]]:
        """The same of turns that answered pulls."""

    def set_deferring(self, deferring: bool) -> None:
        """Defer the answers to stored sends, as a store that flushes for each of them does."""

@final
class Clients:
    """The clients of one broker, which a thread of the engine serves (ADR 24).

    The thread answers the requests of the hot path. It reports the rest: `take` all that happened
    whenever the descriptor is readable.
    """

    def __new__(cls, hot: HotPath) -> Clients:
        """Start the thread, a panic of which ends the process.

        Raises:
            OSError: the system gives no descriptor, or no thread.
        """

    @property
    def descriptor(self) -> int:
        """Readable while there is something to take."""

    def listen(self, listener: int, *, is_fast: bool) -> None:
        """Accept clients of a listening socket; those of the fast port get no pulls answered.

        Raises:
            OSError: the descriptor is not open, or the process has none left.
        """

    def stop_listening(self) -> None:
        """Accept no more clients."""

    def take(self) -> ClientBatch:
        """Take all that happened, in order."""

    def take_progress(self) -> ClientBatch:
        """Take the commits and the figures of all pulls that were answered until now.

        Of the events the batch has those of the clients that came until now.
        """

    def open_gate(self, is_open: bool) -> None:
        """Serve requests, or none of those that are not served yet; parked pulls are answered."""

    def pause(self) -> None:
        """Serve no client until `resume`, which follows soon."""

    def resume(self) -> None:
        """Go on after as many calls as of `pause`."""

    def hear_appends(self, hears: bool) -> None:
        """Say whether appended messages are reported at once, or some milliseconds later."""

    def use_link(self, member: int, socket: int) -> None:
        """Forward requests to a member of the broker group over a connected socket (ADR 27).

        The member is a broker id, or 0 as the sequencer. The engine uses a copy of the descriptor.

        Raises:
            OSError: the descriptor is not open, or the process has none left.
        """

    def retire_link(self, member: int) -> None:
        """Forward no more requests to a member; its connection ends with the last answer."""

    @property
    def forwarded_count(self) -> int:
        """How many requests other members have not answered."""

    def take_turns(self) -> None:
        """Look after parked pulls: some became ready, or another deadline is the next."""

    def close_idle(self, idle_ms: int) -> None:
        """Close the clients that neither sent nor got anything for longer."""

    def stop(self) -> None:
        """Close all clients, and end the thread."""

@final
class Client:
    """One client that a thread of the engine serves."""

    @property
    def id(self) -> int:
        """The number of the client at this broker."""

    @property
    def peer(self) -> tuple[str, int]:
        """The numeric address and the port."""

    @property
    def is_fast(self) -> bool:
        """Whether it came by the fast port."""

    @property
    def is_gone(self) -> bool:
        """Whether it gets no more answers."""

    @property
    def is_congested(self) -> bool:
        """Whether it reads its answers too slowly, or too many of them wait for replicas."""

    @property
    def unwritten_bytes(self) -> int:
        """The answers that the system has not taken yet."""

    def connection(self) -> Connection:
        """Return a connection of this client for requests that are served here."""

    def send(self, frame: bytes, body: bytes) -> None:
        """Write a frame and its body, behind all other bytes; neither is copied."""

    def hold(self, size: int) -> None:
        """Note that answers of so many bytes wait for the disk or for replicas."""

    def settled(self, size: int) -> None:
        """Note that answers of so many bytes were given, or given up."""

    def taken(self, count: int) -> None:
        """Note that so many of its reported requests are being served."""

    def go_on(self) -> None:
        """Serve what follows a send that was set aside."""

    def checked(self) -> None:
        """Answer further parked pulls: the reported one was checked."""

    def await_room(self) -> None:
        """Report once it has read its answers."""

    def close(self) -> None:
        """Close it once it has all bytes."""

    def abort(self) -> None:
        """Close it at once."""

@final
class ClientBatch:
    """What happened to clients."""

    @property
    def commits(self) -> list[tuple[int, str, str, int, int]]:
        """What pulls commit: client, group, topic, queue and offset. They precede the events."""

    @property
    def pulled(self) -> list[tuple[int, bool, tuple[str, str, int, int, int, int, int, int]]]:
        """What pulls were answered, by client, as `Received.pulled`.

        The flag says whether the client asked just now, not before it waited.
        """

    @property
    def has_appended(self) -> bool:
        """Whether messages were appended."""

    @property
    def passed_on_count(self) -> int:
        """How many requests the sequencer has answered (ADR 27)."""

    @property
    def events(self) -> list[ClientEvent]:
        """The rest, in order."""

@final
class ClientEvent:
    """What happened to one client: one of the other fields is set."""

    @property
    def client_id(self) -> int:
        """The number of the client at this broker."""

    @property
    def opened(self) -> Client | None:
        """It connected."""

    @property
    def requests(self) -> list[Command] | None:
        """The requests that the hot path leaves."""

    @property
    def set_aside(self) -> list[Command] | None:
        """A send whose queue lacks a file, and requests behind it.

        The client waits for `Client.go_on`.
        """

    @property
    def unchecked(self) -> ParkedPull | None:
        """A parked pull whose grant has changed; the client waits for `Client.checked`."""

    @property
    def deferred(
        self,
    ) -> tuple[bytes, int, list[tuple[int, int, int]], tuple[list[int], bytes] | None] | None:
        """Answers, the log position that must be safe before, and their deliveries.

        A replica sends the numbers and records of the last part to its master first.
        """

    @property
    def store_failure(self) -> str | None:
        """Why the store did not take a message, or does no work any more."""

    @property
    def broken_protocol(self) -> str | None:
        """Why the stream of the client means nothing; it is being closed."""

    @property
    def has_room(self) -> bool:
        """It has read its answers, which was to be reported."""

    @property
    def lacks_link(self) -> int | None:
        """A member to which requests would go over a connection, which is to be made once."""

    @property
    def lost_link(self) -> tuple[int, str] | None:
        """A member whose connection is lost, and why."""

    @property
    def unclaimed(self) -> tuple[int, Command, Command] | None:
        """A member, a POP whose client has left, and the answer of the member with messages."""

    @property
    def is_closed(self) -> bool:
        """Its connection is closed; no more events of it follow."""

    @property
    def reason(self) -> str | None:
        """The error that closed it, if there was one."""

@final
class Connection:
    """One client connection: bytes in, answers and cold requests out."""

    def __new__(cls, hot: HotPath, peer: tuple[str, int]) -> Connection: ...
    def receive(
        self,
        data: bytes,
        now_ms: int,
        *,
        start: int = 0,
        size: int | None = None,
        pull_bytes_max: int = 0,
        socket: int | None = None,
        elapsed_ms: int = 0,
    ) -> Received:
        """Take a chunk, append the sends it completes and answer them, and granted pulls too.

        `start` and `size` in bytes take a slice of it without a copy; they may reach beyond it.
        Once answers of pulls have `pull_bytes_max` bytes, the rest of the slice is `left`; with 0
        all pulls stay cold. Answers are written to the `socket`: the descriptor of one that does
        not wait and that nothing waits to be written to (ADR 16). What it does not take is in
        `pull_answers`. Without it all are, but those of more than 64 KiB, which stay cold. The
        deadlines of parked pulls are after `elapsed_ms`, by a clock that is never set.

        Raises:
            ProtocolError: the stream is broken; `received` holds what came before the break.
            StoreError: the store looked at nothing, or the socket has an answer whose end is lost.
        """

    @property
    def id(self) -> int:
        """The number of the connection, which `HotPath.next_turn` gives too."""

    def park(
        self,
        command: Command,
        grant: PullGrant,
        queue_id: int,
        offset: int,
        count_max: int,
        deadline_ms: int,
        *,
        wake_count: int,
        global_id: int | None = None,
        adds_delta: bool = True,
    ) -> bool:
        """Have a checked pull wait for messages from an offset on; False when there is no room.

        The `wake_count` is that of the hot path before the pull looked for messages: after another
        one it looks again.

        Queue id and offset are physical, also of a static topic, whose pull has a `global_id`. A
        client that does not add `offsetDelta` pulls again once there are messages.
        """

    def pop(
        self,
        command: Command,
        grant: PullGrant,
        *,
        now_ms: int,
        elapsed_ms: int,
        may_wait: bool,
        socket: int | None = None,
    ) -> tuple[bool, Received]:
        """Answer a checked POP, or have it wait; False if it is left.

        It is left if its share queues have no names in this reign. It is also left if its messages
        are on the disk alone and it must not wait for them. The `socket` is as of `receive`.

        Raises:
            StoreError: as of `receive`.
        """

    def answer_parked(
        self, *, bytes_max: int, now_ms: int, elapsed_ms: int, socket: int | None = None
    ) -> Received:
        """Answer parked pulls that are ready, up to about `bytes_max` bytes and some dozens.

        The `socket` is as of `receive`. With `is_turn_due` some are left, and the connection waits
        for another turn.

        Raises:
            StoreError: as of `receive`.
        """

    def resume(
        self,
        pull: ParkedPull,
        grant: PullGrant,
        *,
        now_ms: int,
        elapsed_ms: int,
        socket: int | None = None,
    ) -> Received:
        """Answer an `unchecked` pull by its new grant, or have it wait again.

        Raises:
            StoreError: as of `receive`.
            ValueError: the pull was resumed before.
        """

@final
class Pending:
    """The newest record of a half message, and when its producer may be asked."""

    def __new__(
        cls, offset: int, log_position: int, due_ms: int, transaction_id: str
    ) -> Pending: ...
    @property
    def offset(self) -> int: ...
    @property
    def log_position(self) -> int: ...
    @property
    def due_ms(self) -> int: ...
    @property
    def transaction_id(self) -> str: ...

@final
class PendingTransactions:
    """The pending half messages by the queue offset of their first record."""

    def __new__(cls) -> PendingTransactions: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[tuple[int, Pending]]:
        """Iterate over the half messages that are pending now, the oldest records first.

        It reads some at a time: what is decided meanwhile may be left out.
        """

    def find(self, first_offset: int) -> Pending | None:
        """The newest record of a half message, if it is pending."""

    def put(self, first_offset: int, pending: Pending) -> None:
        """Add a half message, or the copy that replaces its record."""

    def decide(self, first_offset: int) -> None:
        """Remove a half message that is committed, rolled back or given up."""

    def note_operation(self, operation_offset: int, half_offset: int) -> None:
        """Note that an op record names a half message."""

    def progress(self, half_end: int, operation_end: int) -> tuple[int, int]:
        """Return the queue offsets before which no half message and no op record is needed.

        The ends are those of the two queues.
        """

    def load(
        self, pending: Sequence[tuple[int, Pending]], operations: Sequence[tuple[int, int]]
    ) -> None:
        """Take what the log says, besides the half messages that were added meanwhile.

        The op records have their own queue offset, and that of the half message that each names.
        """

    def clear(self) -> None:
        """Forget everything: this broker is not the master any more."""

    @property
    def is_known(self) -> bool:
        """Whether all that is pending is here: what the log says was loaded."""

@final
class LeadingQueues:
    """The logical queues of a static topic that a broker group leads, by global id.

    Of each the last segment: the queue id, its first physical and logical offset, and whether it
    takes messages.
    """

    def __new__(cls, segments: Mapping[int, tuple[int, int, int, bool]]) -> LeadingQueues: ...

@final
class PullGrant:
    """What pulls of one kind may read, after a check of one of them.

    It holds until `facts_version` is another. Those pulls want the `version` of what their group
    subscribed to, or without one carry this very expression. They wait for messages for
    `parked_ms`, or for as long as they ask.
    """

    def __new__(
        cls,
        code: int,
        group: str,
        topic: str,
        *,
        read_queue_count: int,
        tag_hashes: Sequence[int] | None,
        count_max: int,
        bytes_max: int,
        suggested_broker_id: int,
        parked_ms: int | None,
        moves_consumers: bool,
        facts_version: int,
        property_filter: PropertyFilter | None = None,
        version: int | None = None,
        expression: str | None = None,
        expression_type: str | None = None,
        leading: LeadingQueues | None = None,
        retry_topics: Sequence[tuple[str, int, int]] | None = None,
        may_forward: bool = False,
        priority_percent: int = 0,
    ) -> PullGrant:
        """Grant pulls; with `retry_topics` POPs, which get the messages of those topics too.

        A retry topic is its name, what handles call it (1 or 2), and its number of queues. With
        `may_forward` POPs go to another member that owns all of their share queues. Of a hundred
        POPs of any queue, `priority_percent` look at the last queue first.
        """

@final
class ParkedPull:
    """A pull that waited, and whose grant no longer holds."""

    @property
    def command(self) -> Command:
        """The request, as it came."""

@final
class Appending:
    """What came of the wish to append records to the lane of share queues."""

    @property
    def verdict(self) -> str:
        """DONE, FENCED if another member owns a share queue, or REFUSED."""

    @property
    def position(self) -> int:
        """The records are in the log once it is confirmed up to here."""

    @property
    def commits(self) -> list[tuple[str, str, int, int]]:
        """How far groups are: group, topic, queue and offset."""

    @property
    def ready(self) -> list[tuple[str, int]]:
        """Queues whose consumers may get messages now: topic and queue."""

@final
class Finished:
    """What came of a wish to finish messages."""

    @property
    def successes(self) -> list[bool]:
        """Whether each is finished; where it is not, the handle is void."""

    @property
    def position(self) -> int:
        """Successes are answered once the log is confirmed up to here."""

    @property
    def commits(self) -> list[tuple[str, str, int, int]]:
        """How far groups are: group, topic, queue and offset."""

@final
class HeldShare:
    """A share queue as its owner has it; counts are since this broker began to lead."""

    @property
    def topic(self) -> str: ...
    @property
    def queue_id(self) -> int: ...
    @property
    def group(self) -> str: ...
    @property
    def attempts(self) -> int:
        """How often a message is delivered at most."""

    @property
    def discards(self) -> bool:
        """Whether messages that are given up have no dead letter."""

    @property
    def is_ordered(self) -> bool: ...
    @property
    def window(self) -> int:
        """The most offsets from the start on with a state."""

    @property
    def epoch(self) -> int:
        """The lease epoch of the last owner."""

    @property
    def reset_epoch(self) -> int:
        """The lease epoch of the last reset; 0 before the first one."""

    @property
    def is_used(self) -> bool:
        """Whether a consumer has asked since this broker began to lead, or since a reset."""

    @property
    def start(self) -> int:
        """Each offset before it is finished."""

    @property
    def end(self) -> int:
        """The first offset that was never delivered."""

    @property
    def acquired_count(self) -> int:
        """Messages that consumers have."""

    @property
    def returned_count(self) -> int:
        """Messages that were delivered, and that no consumer has or has finished."""

    @property
    def finished_count(self) -> int:
        """Finished messages behind the start."""

    @property
    def oldest_acquired_at_ms(self) -> int | None:
        """When the oldest of the present deliveries began, in ms since 1970."""

    @property
    def oldest_delivered_at_ms(self) -> int | None:
        """When the oldest message that is not finished was delivered first, in ms since 1970."""

    @property
    def delivered_count(self) -> int: ...
    @property
    def redelivered_count(self) -> int: ...
    @property
    def accepted_count(self) -> int: ...
    @property
    def dead_lettered_count(self) -> int: ...
    @property
    def discarded_count(self) -> int: ...
    @property
    def retried_count(self) -> int: ...

@final
class HeldShareMessage:
    """A message that was delivered, and is not finished."""

    @property
    def offset(self) -> int: ...
    @property
    def connection_id(self) -> int | None:
        """The connection of the consumer that has it; None if no consumer has it."""

    @property
    def pop_time_ms(self) -> int:
        """When its present or last delivery began, in ms since 1970."""

    @property
    def tag(self) -> int: ...
    @property
    def first_pop_ms(self) -> int: ...
    @property
    def due_ms(self) -> int:
        """It can be delivered again from then on, by the clock that is never set."""

    @property
    def count(self) -> int:
        """How often it was delivered."""

@final
class Received:
    """What one chunk came to."""

    @property
    def replies(self) -> bytes: ...
    @property
    def deferred(self) -> bytes: ...
    @property
    def deferred_position(self) -> int: ...
    @property
    def deferred_deliveries(self) -> list[tuple[int, int, int]]:
        """What `deferred` delivers, for `HotPath.undo_deliveries` if it is never written."""

    @property
    def proposal(self) -> tuple[list[int], bytes] | None:
        """Numbers and records for the sequencer; `deferred` waits until they are in the lane."""

    @property
    def cold(self) -> list[Command]: ...
    @property
    def set_aside(self) -> Command | None:
        """A send whose queue lacks a file for it: the slice is left behind it."""

    @property
    def has_appended(self) -> bool:
        """Whether the store took messages; `arrivals` has their queues."""

    @property
    def arrivals(self) -> list[tuple[str, int, int]]: ...
    @property
    def store_failure(self) -> str | None:
        """Why the store did not take a message that it should have taken."""

    @property
    def pull_answers(self) -> bytes | None:
        """What is left to write of answers to pulls."""

    @property
    def left(self) -> int:
        """How many bytes at the slice's end are for the next call."""

    @property
    def pulled(self) -> list[tuple[str, str, int, int, int, int, int, int]]:
        """Group, topic, queue; pulls with messages and without; messages, bytes; the next offset.

        With zero of both, pulls were parked.
        """

    @property
    def is_turn_due(self) -> bool:
        """Whether parked pulls are ready: serve the connections of `HotPath.next_turn`."""

    @property
    def is_parked(self) -> bool:
        """Whether a POP waits from now on, which may be the first with a deadline."""

    @property
    def unchecked(self) -> ParkedPull | None:
        """A parked pull that is ready and needs a check: `resume` it."""

    @property
    def commits(self) -> list[tuple[str, str, int, int]]:
        """Group, topic, queue and offset that answered pulls commit."""

@final
class MasterLink:
    """A master's end of the connection to one replica (storage-and-ha.md 9.3).

    It writes to the socket itself. The turn of its caller sends what was just appended. A separate
    thread sends what is more than one transfer, or what the socket has no room for. Nothing here
    waits for the socket or the disk. Methods raise ProtocolError when the replica breaks the
    protocol or needs what the log does not hold, ConnectionError when the connection is broken, and
    StoreError; the connection must then be closed.
    """

    def __new__(
        cls, store: Store, descriptor: int, size_max: int, *, plain_number: int | None = None
    ) -> MasterLink:
        """Serve the replica at a connected socket, with transfers of up to `size_max` log bytes.

        The descriptor is duplicated: the caller goes on reading from its own, and closes it. With a
        number, the connection uses the default protocol (storage-and-ha.md 9.2). No replica says
        who it is there: the number is its `broker_id`.
        """

    def receive(self, data: bytes) -> tuple[bool, int | None]:
        """Take bytes and answer a handshake; return whether there was one among them.

        The second value is the position up to which the replica holds the log, if it reported.
        """

    def pump(self, confirmed: int) -> None:
        """Send what the log has grown by, and up to where it is confirmed."""

    def send_confirmed(self, confirmed: int, *, is_due: bool) -> None:
        """Send up to where the log is confirmed if that is news, or `is_due` to show life."""

    def set_rate(self, rate: int) -> None:
        """Limit how fast a backlog is sent, in bytes a second beyond the growth; 0 is no limit."""

    def close(self) -> None:
        """End the connection; the thread ends after the write that it is at."""

    def check(self) -> None:
        """Raise why the thread has ended the connection, if it has, once."""

    @property
    def broker_id(self) -> int | None:
        """Id of the replica, once it has said who it is."""

    @property
    def is_learner(self) -> bool:
        """Whether it never joins the SyncStateSet."""

    @property
    def sent_bytes(self) -> int:
        """How many bytes have left."""

    @property
    def acknowledged(self) -> int:
        """Position up to which the replica holds the log, as it last said."""

    @property
    def next_position(self) -> int | None:
        """Position at which the next transfer begins; None until the first report."""

@final
class ReplicaLink:
    """A replica's end of the connection to its master (storage-and-ha.md 9.3)."""

    def __new__(
        cls,
        store: Store,
        *,
        broker_id: int,
        known_epoch: int,
        is_learner: bool = False,
        is_from_last_segment: bool = False,
    ) -> ReplicaLink: ...
    @staticmethod
    def plain(store: Store) -> ReplicaLink:
        """Use the default protocol (storage-and-ha.md 9.2), without handshake or greeting.

        `begin` comes at once. Everything that the master has sent is confirmed.
        """

    def handshake(self) -> bytes:
        """Return the first bytes to send."""

    def receive(self, data: bytes) -> bool:
        """Take bytes up to the master's greeting; return whether it has greeted.

        Raises:
            ProtocolError: the master breaks the protocol, or is of an epoch older than
                `known_epoch`.
            ValueError: the log was asked for already.
        """

    def common_end(self) -> int | None:
        """Return up to where this log is the master's; None if that is unknown.

        Raises:
            ValueError: the master has not greeted.
        """

    def is_known(self) -> bool:
        """Return whether the master knows the epoch that wrote the end of this log.

        Raises:
            ValueError: the master has not greeted.
        """

    @property
    def greeted_end(self) -> int | None:
        """Where the master's log ended when it greeted; None until then."""

    def begin(self, descriptor: int, *, wake: int, reports_appended: bool) -> LogCopy:
        """Ask for what follows the end of the log, over the socket that the master greeted on.

        Socket and event descriptor are duplicated. With `reports_appended` the master gets a
        report of appended bytes at once; otherwise `LogCopy.report` sends it.

        Raises:
            ConnectionError: the connection is broken, or the system gives no more descriptors.
            ValueError: the master has not greeted, or the log was asked for already.
        """

@final
class FrontSegment:
    """A segment on its way to the front of a log (FORMAT.md 1)."""

    def write(self, at: int, data: bytes) -> None:
        """Write a part of it, so many bytes behind its beginning; parts come in any order."""

    def insert(self) -> None:
        """Check all of it, and make it the first segment of the log, durably."""

@final
class LogCopy:
    """The master's log on its way into the store, on a thread that needs no interpreter."""

    def look(self) -> int | None:
        """Return up to where the master has confirmed what this log holds, None before it said so.

        The next news counts up the event descriptor again.
        """

    def report(self, held: int, *, is_due: bool = False) -> bool:
        """Report up to where the log is held, if it has grown or `is_due`; never wait.

        Return whether a report was due. Raises ConnectionError for a broken connection.
        """

    def check(self) -> None:
        """Raise why the thread has ended, if it failed, once.

        Raises:
            ProtocolError: the master breaks the protocol, or its log does not continue this one.
            StoreError: the store refuses the records, damaged ones with the code `corrupt`.
            ConnectionError: the connection is broken, or the master hung up.
        """

    @property
    def is_over(self) -> bool:
        """Whether the thread has ended."""

    @property
    def received_bytes(self) -> int:
        """How many bytes have come."""

    def stop(self) -> None:
        """End the connection and wait for the thread: nothing is appended afterwards."""

def system_run(*dirs: str) -> str | None:
    """Name this boot of the system, and the mounted file system of each directory.

    None if the system does not give its boot id. For the store directory and that of its log, it is
    the second line of the mark of an unclean stop (FORMAT.md 1).
    """

def is_same_run(noted: str, now: str) -> bool:
    """Return whether a noted run is this one; former versions noted the boot only."""
