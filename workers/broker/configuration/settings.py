"""Read the settings of one broker agent from a stock `broker.conf`."""

# ruff: noqa: FBT003, RUF009 - settings are declared by `_stock`, which only builds fields

import re
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Literal

from backend.remoting.address import Address
from backend.remoting.names import InvalidName, check_topic_name
from backend.remoting.request_code import FIRST_PROTOCOL_VERSION, PROTOCOL_VERSION
from workers.broker.configuration.declaration import (
    ALL_ADDRESSES,
    InvalidSetting,
    local_ip,
    parse_addresses,
    parse_ip,
    parse_port,
    parse_text,
    read_properties,
    read_values,
)
from workers.broker.configuration.declaration import stock as _stock
from workers.broker.configuration.property_types import (
    Choice,
    Flag,
    Percent,
    QueueFileSize,
    Whole,
)

DELAY_LEVELS: Final = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
DELAY_LEVEL_COUNT_MAX: Final = 1024
_UNIT_MS: Final = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DELAY: Final = re.compile(r"([0-9]{1,9})([smhd])")

FlushMode = Literal["async", "sync"]
CrcProperty = Literal["off", "verified", "required"]
FixedRole = Literal["async_master", "sync_master", "replica"]


def _name(text: str) -> str:
    try:
        check_topic_name(text)
    except InvalidName as error:
        raise ValueError(f"the name {str(error).removeprefix('the specified topic ')}") from error
    return text


def _log_dir(text: str) -> Path:
    if "," in text:
        # Stock distributes a log over several directories; read as one name, the log would seem
        # empty.
        raise ValueError("must be one directory: a log in several, by commas, is not supported")
    return Path(parse_text(text))


def _hours(text: str) -> frozenset[int]:
    return frozenset(Whole(0, 23)(part.strip()) for part in text.split(";"))


def _one_address(text: str) -> Address:
    host, mark, port = text.rpartition(":")
    if not (mark and host):
        raise ValueError("must be one host:port pair")
    return host, Whole(1, 65535)(port)


def parse_delay_levels(text: str) -> tuple[int, ...]:
    """Parse delay levels such as `1s 5m 2h` into milliseconds; level 1 comes first."""
    levels = [_DELAY.fullmatch(part) for part in text.split()]
    if not levels or len(levels) > DELAY_LEVEL_COUNT_MAX:
        raise ValueError(f"must hold 1 to {DELAY_LEVEL_COUNT_MAX} levels")
    if not all(levels):
        raise ValueError("must be numbers with the unit s, m, h or d, separated by blanks")
    return tuple(int(found[1]) * _UNIT_MS[found[2]] for found in levels if found)


_FLAG: Final = Flag()
_LIGHT_QUEUES: Final = ("enableLmq", "enableMultiDispatch")
"""Properties that have a RocketMQ broker make light queues."""
_COUNT: Final = Whole(1, 65535)
_INTERVAL_MS: Final = Whole(10, 86_400_000)
_FLUSH_MODE: Final = Choice((("ASYNC_FLUSH", "async"), ("SYNC_FLUSH", "sync")))
_ROLE: Final = Choice(
    (("ASYNC_MASTER", "async_master"), ("SYNC_MASTER", "sync_master"), ("SLAVE", "replica"))
)


def _bytes(low: int, high: int) -> Whole:
    return Whole(low, high, "bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSettings:
    """All settings of a broker agent; each field names its stock property.

    These settings do not exist in stock. `cutDamageAt` is an operator's consent to lose a damaged
    log from that position on; while it is set, the log is unverified at each start, until it is
    copied from its master. `fileReservedSize` limits the size of the log. `passOnToMaster` decides
    whether a replica passes requests on to its master if clients send them to it as the former
    master. `enablePropertyFilter` has another default than in stock: SQL92 filters are served.
    `compatibleWithOldNameSrv` has another default as well: name servers know 901 and 904.
    """

    cluster_name: str = _stock("brokerClusterName", _name, "DefaultCluster", "fixed")
    broker_name: str = _stock(
        "brokerName", _name, lambda: socket.gethostname().split(".")[0], "fixed"
    )
    broker_id: int = _stock("brokerId", Whole(0, 2**63 - 1), 0, "fixed")
    bind_address: str = _stock("bindAddress", parse_text, ALL_ADDRESSES, "fixed")
    listen_port: int = _stock("listenPort", parse_port, 10911, "fixed")
    ha_listen_port: int = _stock("haListenPort", Whole(0, 65535), 0, "fixed")
    advertised_ip: str = _stock("brokerIP1", parse_ip, local_ip, "fixed")
    ha_advertised_ip: str = _stock("brokerIP2", parse_text, local_ip, "fixed")
    name_servers: tuple[Address, ...] = _stock("namesrvAddr", parse_addresses, (), "fixed")
    root_dir: Path = _stock("storePathRootDir", Path, lambda: Path.home() / "store", "fixed")
    commit_log_dir: Path | None = _stock("storePathCommitLog", _log_dir, None, "fixed")
    commit_log_file_size_bytes: int = _stock(
        "mappedFileSizeCommitLog", _bytes(1 << 12, 1 << 31), 1 << 30, "fixed"
    )
    queue_file_size_bytes: int = _stock(
        "mappedFileSizeConsumeQueue", QueueFileSize(), 6_000_000, "fixed"
    )
    crc_property_enabled: bool = _stock("enabledAppendPropCRC", _FLAG, False)
    crc_property_required: bool = _stock("forceVerifyPropCRC", _FLAG, False)
    index_enabled: bool = _stock("messageIndexEnable", _FLAG, True)
    index_slot_count: int = _stock("maxHashSlotNum", Whole(1, 500_000_000), 5_000_000, "fixed")
    index_entry_count: int = _stock("maxIndexNum", Whole(2, 100_000_000), 20_000_000, "fixed")
    message_size_max_bytes: int = _stock("maxMessageSize", _bytes(10, 1 << 28), 4 << 20)
    memory_percent: int = _stock("accessMessageInMemoryMaxRatio", Percent(0, 100), 40)
    flush_mode: FlushMode = _stock("flushDiskType", _FLUSH_MODE, "async")
    flush_interval_ms: int = _stock("flushIntervalCommitLog", _INTERVAL_MS, 500)
    flush_timeout_ms: int = _stock("syncFlushTimeout", _INTERVAL_MS, 5000, "live")
    cut_damage_at: int | None = _stock("cutDamageAt", Whole(0, 10**18 - 1), None, "fixed")
    file_reserved_hours: int = _stock("fileReservedTime", Whole(0, 1_000_000), 72, "live")
    file_reserved_bytes: int | None = _stock(
        "fileReservedSize", _bytes(0, 10**18 - 1), None, "live"
    )
    delete_hours: frozenset[int] = _stock("deleteWhen", _hours, frozenset({4}), "live")
    disk_max_used_percent: int = _stock("diskMaxUsedSpaceRatio", Percent(10, 95), 75, "live")
    disk_warning_percent: int = _stock("diskSpaceWarningLevelRatio", Percent(35, 90), 90, "live")
    disk_forcible_percent: int = _stock("diskSpaceCleanForciblyRatio", Percent(30, 85), 85, "live")
    clean_forcibly: bool = _stock("cleanFileForciblyEnable", _FLAG, True, "live")
    clean_interval_ms: int = _stock("cleanResourceInterval", _INTERVAL_MS, 10_000, "live")
    delete_interval_ms: int = _stock("deleteCommitLogFilesInterval", _INTERVAL_MS, 100, "live")
    delay_levels_ms: tuple[int, ...] = _stock(
        "messageDelayLevel", parse_delay_levels, parse_delay_levels(DELAY_LEVELS)
    )
    timer_enabled: bool = _stock("timerWheelEnable", _FLAG, True)
    timer_precision_ms: int = _stock("timerPrecisionMs", Whole(10, 60_000), 1000, "fixed")
    timer_window_steps: int = _stock("timerRollWindowSlot", Whole(2, 604_800), 172_800, "fixed")
    timer_log_file_size_bytes: int = _stock(
        "mappedFileSizeTimerLog", _bytes(1 << 12, 1 << 30), 100 << 20, "fixed"
    )
    timer_delay_s_max: int = _stock("timerMaxDelaySec", Whole(1, 10**9), 259_200, "live")
    timer_slot_count_max: int = _stock(
        "timerCongestNumEachSlot", Whole(1, 2**31 - 1), 2**31 - 1, "live"
    )
    recall_enabled: bool = _stock("recallMessageEnable", _FLAG, False, "live")
    rejects_transactions: bool = _stock("rejectTransactionMessage", _FLAG, False, "live")
    transaction_timeout_ms: int = _stock("transactionTimeOut", _INTERVAL_MS, 6000, "live")
    transaction_check_count_max: int = _stock("transactionCheckMax", Whole(1, 10_000), 15, "live")
    transaction_check_interval_ms: int = _stock(
        "transactionCheckInterval", _INTERVAL_MS, 30_000, "live"
    )
    auto_create_topics: bool = _stock("autoCreateTopicEnable", _FLAG, True)
    auto_create_groups: bool = _stock("autoCreateSubscriptionGroup", _FLAG, True, "live")
    template_queue_count: int = _stock("defaultTopicQueueNums", _COUNT, 8)
    long_polling: bool = _stock("longPollingEnable", _FLAG, True, "live")
    short_polling_ms: int = _stock("shortPollingTimeMills", _INTERVAL_MS, 1000, "live")
    lite_pull: bool = _stock("litePullMessageEnable", _FLAG, True, "live")
    deals_queues_out: bool = _stock("serverLoadBalancerEnable", _FLAG, True, "live")
    property_filter_enabled: bool = _stock("enablePropertyFilter", _FLAG, True, "live")
    trace_on: bool = _stock("traceOn", _FLAG, True)
    region_id: str = _stock("regionId", parse_text, "DefaultRegion")
    permissions: int = _stock("brokerPermission", Whole(0, 15), 6, "live")
    register_interval_ms: int = _stock("registerNameServerPeriod", _INTERVAL_MS, 30_000)
    heartbeat_interval_ms: int = _stock("brokerHeartbeatInterval", _INTERVAL_MS, 500)
    heartbeat_timeout_ms: int = _stock("brokerNotActiveTimeoutMillis", _INTERVAL_MS, 3000)
    offset_save_interval_ms: int = _stock("flushConsumerOffsetInterval", _INTERVAL_MS, 5000)
    delay_save_interval_ms: int = _stock("flushDelayOffsetInterval", _INTERVAL_MS, 10_000)
    controller_mode: bool = _stock("enableControllerMode", _FLAG, False, "fixed")
    controllers: tuple[Address, ...] = _stock("controllerAddr", parse_addresses, (), "fixed")
    controller_timeout_ms: int = _stock("controllerHeartBeatTimeoutMills", _INTERVAL_MS, 3000)
    metadata_poll_interval_ms: int = _stock("syncBrokerMetadataPeriod", _INTERVAL_MS, 5000)
    election_priority: int = _stock("brokerElectionPriority", Whole(0, 2**31 - 1), 2**31 - 1)
    role: FixedRole = _stock("brokerRole", _ROLE, "async_master", "fixed")
    acts_as_master: bool = _stock("enableSlaveActingMaster", _FLAG, False)
    master_ha_address: Address | None = _stock("haMasterAddress", _one_address, None)
    replica_count: int = _stock("totalReplicas", Whole(1, 1000), 1)
    in_sync_count_is_lowered: bool = _stock("enableAutoInSyncReplicas", _FLAG, False)
    in_sync_lag_bytes_max: int = _stock("haMaxGapNotInSync", _bytes(1, 10**18 - 1), 256 << 20)
    escapes: bool = _stock("enableRemoteEscape", _FLAG, False)
    skips_pre_online: bool = _stock("skipPreOnline", _FLAG, False)
    locks_by_quorum: bool = _stock("lockInStrictMode", _FLAG, False)
    member_poll_interval_ms: int = _stock("syncBrokerMemberGroupPeriod", _INTERVAL_MS, 1000)
    knows_old_name_servers: bool = _stock("compatibleWithOldNameSrv", _FLAG, False)
    all_ack: bool = _stock("allAckInSyncStateSet", _FLAG, True)
    in_sync_count: int = _stock("inSyncReplicas", Whole(1, 1000), 1)
    in_sync_count_min: int = _stock("minInSyncReplicas", Whole(1, 1000), 1)
    replica_timeout_ms: int = _stock("slaveTimeout", _INTERVAL_MS, 3000)
    replica_lag_ms_max: int = _stock("haMaxTimeSlaveNotCatchup", _INTERVAL_MS, 15_000)
    passes_on: bool = _stock("passOnToMaster", _FLAG, True, "live")
    is_learner: bool = _stock("asyncLearner", _FLAG, False)
    protocol_version_max: int = _stock(
        "protocolVersionMax", Whole(FIRST_PROTOCOL_VERSION, PROTOCOL_VERSION), PROTOCOL_VERSION
    )
    sync_from_last_file: bool = _stock("syncFromLastFile", _FLAG, False)
    ha_heartbeat_interval_ms: int = _stock("haSendHeartbeatInterval", _INTERVAL_MS, 5000)
    ha_silence_ms_max: int = _stock("haHousekeepingInterval", _INTERVAL_MS, 20_000)
    catch_up_rate_max: int = _stock("catchUpRateMax", _bytes(4 << 20, 1 << 40), 32 << 20)
    ha_transfer_size_max: int = _stock("haTransferBatchSize", _bytes(1, 4 << 20), 256 << 10)

    @property
    def has_fixed_role(self) -> bool:
        """Return whether this broker is in a group without a controller, as master or replica."""
        has_others = self.role == "replica" or self.replica_count > 1
        return not self.controller_mode and (self.acts_as_master or has_others)

    @property
    def lets_replicas_act(self) -> bool:
        """Return whether replicas act for an absent master; under a controller none does (D16)."""
        return self.acts_as_master and not self.controller_mode

    @property
    def is_master(self) -> bool:
        """Return whether the fixed role is that of a master."""
        return self.role != "replica"

    @property
    def crc_property(self) -> CrcProperty:
        """Return whether records end in a checksum of all of their bytes."""
        if not self.crc_property_enabled:
            return "off"
        return "required" if self.crc_property_required else "verified"

    def ha_port_of(self, port: int) -> int:
        """Return the port for replicas: by default the next port after the main port.

        If the system chooses the main port, 0, it also chooses this port.
        """
        return self.ha_listen_port or (port and port + 1)

    @property
    def log_dir(self) -> Path:
        """Return the directory of the commit log."""
        return self.commit_log_dir or self.root_dir / "commitlog"

    @property
    def config_dir(self) -> Path:
        """Return the directory of the state files."""
        return self.root_dir / "config"


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """Settings, and the given stock properties that have no effect here."""

    settings: BrokerSettings
    given: Mapping[str, str]
    unused: tuple[str, ...]


def load_settings(path: Path) -> LoadedSettings:
    """Read a configuration file.

    Raises:
        InvalidSetting: names the property and the error.
        OSError: the file cannot be read.
    """
    return parse_settings(read_properties(path))


def parse_settings(given: Mapping[str, str]) -> LoadedSettings:
    """Convert properties into settings.

    Raises:
        InvalidSetting: names the property and the error.
    """
    values = read_values(BrokerSettings, given)
    for name in _LIGHT_QUEUES:
        if given.get(name, "").strip().lower() == "true":
            reason = "only RocketMQ brokers serve light queues; remove the line"
            raise InvalidSetting(name, given[name], reason)
    settings = BrokerSettings(**values)
    if settings.crc_property_required and not settings.crc_property_enabled:
        reason = "needs enabledAppendPropCRC=true, else its own messages appear damaged"
        raise InvalidSetting("forceVerifyPropCRC", "true", reason)
    if settings.controller_mode and not settings.controllers:
        reason = "needs controllerAddr, the host:port of the control plane"
        raise InvalidSetting("enableControllerMode", "true", reason)
    _check_role(settings)
    known = {entry.metadata["property"] for entry in fields(BrokerSettings)}
    unused = tuple(sorted(given.keys() - known))
    return LoadedSettings(settings=settings, given=dict(given), unused=unused)


def _check_role(settings: BrokerSettings) -> None:
    """Check that role, id and numbers of replicas fit together (control-plane.md 5.1, 5.11)."""
    if settings.controller_mode or not settings.has_fixed_role:
        return
    is_replica = not settings.is_master
    if is_replica and settings.broker_id == 0:
        raise InvalidSetting("brokerId", "0", "is the id of a master: a replica has another one")
    if not is_replica and settings.broker_id != 0:
        reason = "is the id of a replica: a master has the id 0"
        raise InvalidSetting("brokerId", str(settings.broker_id), reason)
    count_min = max(settings.in_sync_count, settings.in_sync_count_min)
    if not is_replica and settings.replica_count < count_min:
        reason = "is less than inSyncReplicas or minInSyncReplicas"
        raise InvalidSetting("totalReplicas", str(settings.replica_count), reason)


def describe_settings(settings: BrokerSettings, given: Mapping[str, str]) -> dict[str, str]:
    """Write every setting as its stock property, as given or else by its default."""
    return {
        entry.metadata["property"]: given.get(
            entry.metadata["property"],
            _spelled(getattr(settings, entry.name), entry.metadata["parse"]),
        )
        for entry in fields(BrokerSettings)
    }


def _spelled(value: Any, parse: Callable[[str], Any]) -> str:
    if isinstance(parse, Choice):
        return parse.word_of(value)
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case (str(host), int(port)):
            return f"{host}:{port}"
        case frozenset() | tuple():
            return _list_spelled(value)
        case _:
            return str(value)


def _list_spelled(values: frozenset[int] | tuple[Any, ...]) -> str:
    if isinstance(values, frozenset):
        return ";".join(f"{hour:02}" for hour in sorted(values))
    if values and isinstance(values[0], int):
        return " ".join(_delay_spelled(delay_ms) for delay_ms in values)
    return ";".join(f"{host}:{port}" for host, port in values)


def _delay_spelled(delay_ms: int) -> str:
    unit = next(unit for unit in "dhms" if delay_ms % _UNIT_MS[unit] == 0)
    return f"{delay_ms // _UNIT_MS[unit]}{unit}"
