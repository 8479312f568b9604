"""The stock message store, run by a Java program (`StoreMain`)."""

import ipaddress
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.interop.java import OPENED_PACKAGES, STORE, Program, class_path, jvm_options

READ_COUNT_MAX = 4
"""As many messages a pull of `StoreMain read` asks for."""
READ_FIELDS = ("status", "next_offset", "min_offset", "max_offset", "count")

Event = dict[str, Any]
QueueKey = tuple[str, int]
"""Topic and queue id."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """File sizes of a store, small enough to roll often; and whether it has the CRC property."""

    segment: int = 65_536
    queue_file: int = 400
    batch_queue_file: int = 920
    slots: int = 50
    indexes: int = 300
    has_crc: bool = False

    def options(self) -> dict[str, Any]:
        return {
            "segment_size": self.segment,
            "queue_file_size": self.queue_file,
            "batch_queue_file_size": self.batch_queue_file,
            "light_queues": "true",
            "slot_count": self.slots,
            "index_count": self.indexes,
            "crc": str(self.has_crc).lower(),
        }


@dataclass(frozen=True, slots=True)
class Queue:
    """One queue: its readable range and its entries as they lie in its files."""

    min_offset: int
    max_offset: int
    entries: bytes


@dataclass(frozen=True, slots=True)
class Contents:
    """All that can be read from a store.

    Attributes:
        records: Every record of the log by its position.
        queues: The queues.
        messages: The fields of every record, by queue and the first offset of its entry.
        offsets_by_time: By queue and time: the offset at the lower and at the upper boundary.
        reads: What a pull of a few messages is answered, by queue and offset.
        positions: Where the log begins and ends.
        look_ups: The log positions that the index gives, by kind of key, topic and key.
    """

    records: dict[int, bytes]
    queues: dict[QueueKey, Queue]
    messages: dict[tuple[str, int, int], dict[str, Any]]
    offsets_by_time: dict[tuple[str, int, int], tuple[int, int]]
    reads: dict[tuple[str, int, int], dict[str, Any]]
    positions: tuple[int, int]
    look_ups: dict[tuple[str, str, str], list[int]] = field(default_factory=dict)


class StockStore:
    """Runs commands of the stock store, in one process until a command ends it."""

    def __init__(self, home: Path, jvm_options: Sequence[str] = jvm_options(STORE)) -> None:
        """Prepare to run commands; `home` takes logs, errors and the native library."""
        self._program = Program(
            [
                *("java", *jvm_options, *OPENED_PACKAGES, f"-Duser.home={home}"),
                *("-cp", class_path(STORE), "regent.interop.StoreMain"),
            ],
            {"ROCKSDB_SHAREDLIB_DIR": str(home)},
            home / "errors",
        )

    def write(
        self, directory: Path, *, sizes: Sizes, seed: int, count: int, **options: Any
    ) -> list[Event]:
        """Append the script of a seed and return where each unit of it went.

        A kill may leave a queue file without an entry. It is deleted, as if the kill had come
        before the file was made: with such a file the stock store finds no offset by time.
        """
        events = self.run("write", directory, seed=seed, count=count, **sizes.options(), **options)
        for name, content in list(queue_files(directory)):
            if not any(content):
                (directory / name).unlink()
        return events["appended"]

    def read(self, directory: Path, *, sizes: Sizes) -> Contents:
        """Open a store as its next broker would, read all of it and stop cleanly."""
        return contents_of(self.run("read", directory, **sizes.options()))

    def dump_index(self, directory: Path, *, sizes: Sizes) -> list[Event]:
        """Return the index files of a closed store."""
        return self.run("dump-index", directory, **sizes.options())["index_file"]

    def run(self, command: str, directory: Path, **options: Any) -> dict[str, list[Event]]:
        """Run a command to its end and return its events by their names."""
        return by_name(self.output(command, directory, **options).splitlines())

    def output(self, command: str, directory: Path, **options: Any) -> str:
        """Run a command to its end and return what it printed, one event a line."""
        words = [command, "--directory", str(directory)]
        for name, value in options.items():
            words += [f"--{name.replace('_', '-')}", str(value)]
        return self._program.run(words)


def by_name(lines: list[str]) -> dict[str, list[Event]]:
    """Sort the events of an output by their names."""
    events: dict[str, list[Event]] = defaultdict(list)
    for line in lines:
        if line.startswith('{"event"'):
            event = json.loads(line)
            events[event.pop("event")].append(event)
    return events


def contents_of(events: dict[str, list[Event]]) -> Contents:
    """Put what `read` printed into the form that both stores are compared in."""
    (result,) = events["result"]
    return Contents(
        records={one["log_position"]: bytes.fromhex(one["bytes"]) for one in events["record"]},
        queues={
            (one["topic"], one["queue_id"]): Queue(
                one["min_offset"], one["max_offset"], bytes.fromhex(one["entries"])
            )
            for one in events["queue"]
        },
        messages=dict(map(message_of, events["message"])),
        offsets_by_time={
            (one["topic"], one["queue_id"], int(time)): (lower, upper)
            for one in events["offsets_by_time"]
            for time, (lower, upper) in one["found"].items()
        },
        reads={
            (one["topic"], one["queue_id"], one["offset"]): {
                name: one[name] for name in READ_FIELDS
            }
            for one in events["read"]
        },
        positions=(result["min_position"], result["max_position"]),
        look_ups={
            (one["kind"], one["topic"], one["key"]): one["log_positions"]
            for one in events["look_up"]
        },
    )


def message_of(event: Event) -> tuple[tuple[str, int, int], dict[str, Any]]:
    fields = dict(event)
    offset = fields.pop("entry_offset")
    # Records in light queues belong to other topics.
    topic = fields.pop("entry_topic", fields["topic"])
    queue_id = fields.pop("entry_queue_id", fields["queue_id"])
    fields["body"] = bytes.fromhex(fields["body"])
    for name in ("born_host", "store_host"):
        fields[name] = host(*fields[name])
    return (topic, queue_id, offset), fields


def host(address: str, port: int) -> tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]:
    """Read an address, which Java and Rust write differently."""
    return ipaddress.ip_address(address), port


def queue_files(directory: Path) -> Iterator[tuple[str, bytes]]:
    """List the queue files of a store with their bytes."""
    for path in sorted(path for path in directory.rglob("*consumequeue/*/*/*") if path.is_file()):
        yield str(path.relative_to(directory)), path.read_bytes()
