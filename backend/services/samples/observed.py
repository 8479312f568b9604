"""Hold one observed sample, and its keys in Redis.

The JSON form is the same in the hash of latest samples, on the channel and in the stream.
"""

from typing import Final

import msgspec

from backend.domain.broker_name import BrokerName

LATEST_KEY: Final = "regent:samples:latest"
"""Hash: `<cluster>/<name of the broker>` to the newest sample of that broker."""
CHANNEL: Final = "regent:samples"
"""Every sample is published here once."""
PENDING_KEY: Final = "regent:samples:pending"
"""Stream of samples that no Parquet file holds yet."""
ARCHIVING_KEY: Final = "regent:samples:archiving"
"""The part of the stream that an archive run has taken; frozen until its files are recorded."""
STREAM_FIELD: Final = "sample"


class ObservedQueue(msgspec.Struct, frozen=True):
    """Hold the ends of one queue."""

    queue_id: int
    min_offset: int
    max_offset: int


class ObservedTopic(msgspec.Struct, frozen=True):
    """Hold a topic's counters since its broker booted; a rate is None while unknown (D21)."""

    name: str
    messages_in: int
    bytes_in: int
    queues: tuple[ObservedQueue, ...] = ()
    messages_in_per_second: float | None = None
    bytes_in_per_second: float | None = None


class ObservedSample(msgspec.Struct, frozen=True):
    """Hold the report of one broker, its time, and the rates since the sample before.

    `observed_at_ms` is of the clock of the collector; `reported_at_ms` and `booted_at_ms` are of
    the clock of the broker. Counters start at the boot; a rate is None while unknown (D21).
    `broker_id` is that of the role. `own_id` does not depend on the role, and is None if the broker
    did not report it.
    """

    cluster_name: str
    broker_name: str
    broker_id: int
    observed_at_ms: int
    reported_at_ms: int
    booted_at_ms: int
    messages_in: int
    bytes_in: int
    messages_out: int
    bytes_out: int
    commit_log_min_position: int
    commit_log_max_position: int
    flushed_position: int
    store_bytes: int
    disk_total_bytes: int
    disk_free_bytes: int
    resident_bytes: int
    cpu_seconds: float
    own_id: int | None = None
    topics: tuple[ObservedTopic, ...] = ()
    messages_in_per_second: float | None = None
    messages_out_per_second: float | None = None
    bytes_in_per_second: float | None = None
    bytes_out_per_second: float | None = None

    @property
    def name(self) -> BrokerName:
        """Return the name of the broker; without a reported own id it has the id of its role."""
        own_id = self.broker_id if self.own_id is None else self.own_id
        return BrokerName(self.broker_name, own_id)

    @property
    def field(self) -> str:
        """Return the field of the broker in the hash of the latest samples."""
        return f"{self.cluster_name}/{self.name}"

    @property
    def former_field(self) -> str:
        """Return the former field of the broker in the hash, by the id of its role."""
        return f"{self.cluster_name}/{self.broker_name}/{self.broker_id}"


def encode_sample(sample: ObservedSample) -> bytes:
    """Write a sample as JSON."""
    return msgspec.json.encode(sample)


def decode_sample(data: bytes | str) -> ObservedSample:
    """Read a sample from JSON.

    Raises:
        msgspec.DecodeError: the bytes are no sample, as after a change of its form.
    """
    return msgspec.json.decode(data, type=ObservedSample)
