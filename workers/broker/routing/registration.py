"""Encode a broker's messages to name servers (103, 104, 904; 322 for old ones)."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec

from backend.domain.logical_queue.mapping import MappingInfo
from backend.domain.logical_queue.stock_json import encode_info
from backend.remoting import java_json
from backend.remoting.bodies import (
    RegisterBrokerBody,
    TopicConfigTable,
    encode_left_out,
    encode_register_broker_body,
)
from backend.remoting.headers import (
    BrokerHeartbeatHeader,
    BrokerMemberGroupHeader,
    QueryDataVersionHeader,
    RegisterBrokerHeader,
    UnregisterBrokerHeader,
    encode_header,
)
from backend.remoting.request_code import RequestCode
from backend.remoting.sifting import LeftOut
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.tables.topics import TopicTable

CHANGE_COUNT_MIN: Final = 32
CHANGE_SHARE_MAX: Final = 16
"""With more changed topics than the first number and this share of all, all topics are sent."""


@dataclass(frozen=True, slots=True)
class Registration:
    """One registration, of all topics or of one, and the counter of its version."""

    ext: dict[str, str]
    body: bytes
    counter: int
    left_out: tuple[LeftOut, ...] = ()


class RegistrationSource:
    """Encodes the messages; knows the broker's address once it listens."""

    def __init__(
        self,
        settings: BrokerSettings,
        topics: TopicTable,
        *,
        port: int,
        left_out: Callable[[], tuple[LeftOut, ...]] = tuple,
        find_mapping: Callable[[str], MappingInfo | None] = lambda _: None,
    ) -> None:
        """Take the topics to register, and functions for left out items and for a mapping."""
        self._settings, self._topics, self._left_out = settings, topics, left_out
        self._find_mapping = find_mapping
        self.address = f"{settings.advertised_ip}:{port}"
        self.ha_address = f"{settings.ha_advertised_ip}:{settings.ha_port_of(port)}"
        self._broker_id = settings.broker_id
        self.register_interval_s = settings.register_interval_ms / 1000
        self.heartbeat_interval_s = settings.heartbeat_interval_ms / 1000
        self._heartbeat = self._encode_heartbeat()
        self._last: Registration | None = None

    def become(self, broker_id: int) -> None:
        """Use another id: 0 for the master; under a controller its own id for others."""
        self._broker_id = broker_id
        self._last = None

    @property
    def counter(self) -> int:
        """Return the counter of the topics' present version."""
        return self._topics.data_version.counter

    def registration(self) -> Registration:
        """Return the full registration; encoded once for each state."""
        left_out, last = self._left_out(), self._last
        if last is None or last.counter != self.counter or last.left_out != left_out:
            last = self._last = self._encode(self._topics.as_registered(), left_out)
        return last

    def changes(self, counter: int) -> list[Registration] | None:
        """Return a registration of each topic that changed since a version, as stock does.

        One topic each: a name server that does not know this broker refuses those, and then
        receives all topics. None when all topics must be registered. Removed topics are not sent:
        absence is no deletion. Versions rise from one to the next; otherwise a name server would
        ignore the rest.
        """
        names = self._topics.changed_since(counter)
        if names is None or len(names) > max(
            CHANGE_COUNT_MIN, len(self._topics) // CHANGE_SHARE_MAX
        ):
            return None
        found = (self._topics.find_registered(name) for name in names)
        topics = [topic for topic in found if topic is not None]
        version, left_out = self._topics.data_version, self._left_out()
        return [
            self._encode(
                TopicConfigTable(
                    data_version=msgspec.structs.replace(version, counter=version.counter - left),
                    topics={topic.name: topic},
                ),
                left_out,
            )
            for topic, left in zip(topics, range(len(topics) - 1, -1, -1), strict=True)
        ]

    def heartbeat(self) -> tuple[RequestCode, dict[str, str], bytes]:
        """Return code, fields and body of the light heartbeat.

        An old name server knows 322 instead (control-plane.md 5.9).
        """
        if not self._settings.knows_old_name_servers:
            return RequestCode.BROKER_HEARTBEAT, self._heartbeat, b""
        header = QueryDataVersionHeader(
            broker_name=self._settings.broker_name,
            broker_address=self.address,
            cluster_name=self._settings.cluster_name,
            broker_id=self._broker_id,
        )
        body = java_json.encode(self._topics.data_version)
        return RequestCode.QUERY_DATA_VERSION, encode_header(header), body

    def unregistration(self) -> dict[str, str]:
        """Return the fields of the unregistration."""
        header = UnregisterBrokerHeader(
            broker_name=self._settings.broker_name,
            broker_address=self.address,
            cluster_name=self._settings.cluster_name,
            broker_id=self._broker_id,
        )
        return encode_header(header)

    def membership(self) -> dict[str, str]:
        """Return the fields of the request for the members of this broker's group (901)."""
        header = BrokerMemberGroupHeader(
            cluster_name=self._settings.cluster_name, broker_name=self._settings.broker_name
        )
        return encode_header(header)

    def _encode_heartbeat(self) -> dict[str, str]:
        # Without an id: one port serves name server and controller. A heartbeat with an id is a
        # replica's message to its controller, on the connection that new masters are pushed over
        # (control-plane.md 1.16).
        header = BrokerHeartbeatHeader(
            cluster_name=self._settings.cluster_name,
            broker_address=self.address,
            broker_name=self._settings.broker_name,
        )
        return encode_header(header)

    def _encode(self, table: TopicConfigTable, left_out: tuple[LeftOut, ...]) -> Registration:
        infos = {
            name: msgspec.Raw(encode_info(info).encode())
            for name in table.topics
            if (info := self._find_mapping(name)) is not None
        }
        table = msgspec.structs.replace(table, mapping_infos=infos)
        content = RegisterBrokerBody(topic_table=table)
        body = encode_register_broker_body(content, compressed=False)
        header = RegisterBrokerHeader(
            broker_name=self._settings.broker_name,
            broker_address=self.address,
            cluster_name=self._settings.cluster_name,
            ha_address=self.ha_address,
            broker_id=self._broker_id,
            heartbeat_timeout_ms=self._settings.heartbeat_timeout_ms,
            enable_acting_master=self._settings.lets_replicas_act,
            body_crc32=zlib.crc32(body) & 0x7FFFFFFF,
            left_out=encode_left_out(left_out) if left_out else None,
        )
        return Registration(encode_header(header), body, table.data_version.counter, left_out)
