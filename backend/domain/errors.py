"""Define the errors of the domain, independent of the door that answers.

Each class has a code and a kind. HTTP and GraphQL answer by the kind.
"""

from enum import StrEnum
from typing import Any, ClassVar


class ErrorKind(StrEnum):
    """Name the kinds of refusal that a caller handles in different ways."""

    INVALID = "invalid"
    """The request breaks a rule; the same request is refused each time."""
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    """The present state does not allow the request."""
    OUTDATED = "outdated"
    """The request expects a state that has changed since the caller read it."""
    UNCONFIRMED = "unconfirmed"
    """The request lacks a confirmation that its risk demands."""
    REUSED = "reused"
    """The key of the request belongs to another request."""
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    THROTTLED = "throttled"
    """The caller has to wait before the next try."""
    EXPIRED = "expired"
    """The events that the caller asks for are no longer kept."""
    TOO_SLOW = "too_slow"
    """The caller takes events more slowly than they come."""
    UNAVAILABLE = "unavailable"
    """A broker that is needed for the answer does not answer."""


class DomainError(Exception):
    """An error that a caller may see; each class names its kind."""

    code: ClassVar[str] = "domain_error"
    kind: ClassVar[ErrorKind]

    def __init_subclass__(cls, *, kind: ErrorKind) -> None:
        """Store the kind; Python and mypy refuse a class without a kind."""
        super().__init_subclass__()
        cls.kind = kind

    @property
    def facts(self) -> dict[str, Any]:
        """Return further facts for programs, by names in snake case."""
        return {}


class InvalidName(DomainError, kind=ErrorKind.INVALID):
    """A name breaks the rules of its kind."""

    code = "invalid_name"

    def __init__(self, *, kind: str, name: str, reason: str) -> None:
        super().__init__(f"{kind} {name[:300]!r} {reason}")
        self.subject, self.name, self.reason = kind, name, reason


class InvalidAddress(DomainError, kind=ErrorKind.INVALID):
    """A broker announced an address that no client could connect to."""

    code = "invalid_address"

    def __init__(self, address: str) -> None:
        super().__init__(f"{address[:300]!r} is not host:port")
        self.address = address


class InvalidTopicSettings(DomainError, kind=ErrorKind.INVALID):
    """A topic was announced with counts or permissions outside their range."""

    code = "invalid_topic_settings"

    def __init__(self, topic_name: str, reason: str) -> None:
        super().__init__(f"topic {topic_name!r} {reason}")
        self.topic_name, self.reason = topic_name, reason


class InvalidCursor(DomainError, kind=ErrorKind.INVALID):
    """The cursor of the request is not the end of a page."""

    code = "invalid_cursor"

    def __init__(self) -> None:
        super().__init__("the cursor is not from this list: begin again without a cursor")


class InvalidPageSize(DomainError, kind=ErrorKind.INVALID):
    """The page size of the request is 0 or larger than the limit."""

    code = "invalid_page_size"

    def __init__(self, size: int, *, size_max: int) -> None:
        super().__init__(f"a page holds 1 to {size_max} items, not {size}")
        self.size, self.size_max = size, size_max


class InvalidSpan(DomainError, kind=ErrorKind.INVALID):
    """The period of the request is empty, or longer than the history is kept."""

    code = "invalid_span"

    def __init__(self, minutes: int, *, minutes_max: int) -> None:
        super().__init__(f"this history covers 1 to {minutes_max} minutes, not {minutes}")
        self.minutes, self.minutes_max = minutes, minutes_max


class ClusterNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """No cluster has the name."""

    code = "cluster_not_found"

    def __init__(self, cluster_name: str) -> None:
        super().__init__(f"no cluster {cluster_name!r}")
        self.cluster_name = cluster_name


class BrokerGroupNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """The cluster holds no broker group of the name."""

    code = "broker_group_not_found"

    def __init__(self, cluster_name: str, broker_group_name: str) -> None:
        super().__init__(f"no broker group {broker_group_name!r} in cluster {cluster_name!r}")
        self.cluster_name, self.broker_group_name = cluster_name, broker_group_name


class TopicNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """The cluster holds no topic of the name."""

    code = "topic_not_found"

    def __init__(self, cluster_name: str, topic_name: str) -> None:
        super().__init__(f"no topic {topic_name!r} in cluster {cluster_name!r}")
        self.cluster_name, self.topic_name = cluster_name, topic_name


class CapacityReportNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """No capacity report has the id."""

    code = "capacity_report_not_found"

    def __init__(self, report_id: object) -> None:
        super().__init__(f"no capacity report {report_id}")
        self.report_id = report_id


class BrokerGroupAmbiguous(DomainError, kind=ErrorKind.CONFLICT):
    """A broker group was named without its cluster, and several clusters have such a group."""

    code = "broker_group_ambiguous"

    def __init__(self, broker_group_name: str) -> None:
        super().__init__(
            f"several clusters hold a broker group {broker_group_name!r}; name its cluster"
        )
        self.broker_group_name = broker_group_name


class BrokerGroupNotControlled(DomainError, kind=ErrorKind.NOT_FOUND):
    """The controller knows no replicas of the broker group."""

    code = "broker_group_not_controlled"

    def __init__(self, broker_group_name: str) -> None:
        super().__init__(
            f"the controller knows no broker of group {broker_group_name!r}: the name is wrong, or"
            " no controller leads the group"
        )
        self.broker_group_name = broker_group_name


class BrokerGroupBusy(DomainError, kind=ErrorKind.CONFLICT):
    """Other processes changed the broker group before each attempt to write a change."""

    code = "broker_group_busy"

    def __init__(self, broker_group_name: str) -> None:
        super().__init__(f"broker group {broker_group_name!r} changes too often; try again")
        self.broker_group_name = broker_group_name


class BrokerProcessUnknown(DomainError, kind=ErrorKind.CONFLICT):
    """A request is of a former process of a broker, or of one without a heartbeat yet."""

    code = "broker_process_unknown"

    def __init__(self, broker_group_name: str, broker_id: int) -> None:
        super().__init__(
            f"the last heartbeat of broker {broker_id} of group {broker_group_name!r} is of another"
            " process; send a heartbeat (904), then try again"
        )
        self.broker_group_name, self.broker_id = broker_group_name, broker_id


class ShareSuccessorNotInSync(DomainError, kind=ErrorKind.CONFLICT):
    """A member that is not in sync may own no share queue."""

    code = "share_successor_not_in_sync"

    def __init__(self, broker_group_name: str, broker_id: int) -> None:
        super().__init__(
            f"broker {broker_id} of group {broker_group_name!r} is not in sync, so it may own no"
            " share queue; name a member of the SyncStateSet"
        )
        self.broker_group_name, self.broker_id = broker_group_name, broker_id


class BrokerIdRefused(DomainError, kind=ErrorKind.CONFLICT):
    """A broker applied for an id that it may not have."""

    code = "broker_id_refused"

    def __init__(self, broker_group_name: str, broker_id: int, *, next_broker_id: int) -> None:
        super().__init__(
            f"id {broker_id} of broker group {broker_group_name!r} was used already;"
            f" apply for {next_broker_id}"
        )
        self.broker_group_name, self.broker_id = broker_group_name, broker_id
        self.next_broker_id = next_broker_id


class ProtocolVersionRefused(DomainError, kind=ErrorKind.CONFLICT):
    """A broker is older than the protocol version of its group."""

    code = "protocol_version_refused"

    def __init__(self, broker_group_name: str, broker_id: int, version: int, *, held: int) -> None:
        super().__init__(
            f"broker {broker_id} is of protocol version {version}, and broker group"
            f" {broker_group_name!r} of version {held}: the broker would leave out records that it"
            f" needs. Start it with a release of version {held} or later, or lower the version"
            f" first: `regent controller lower-version {broker_group_name} --version {version}`"
        )
        self.broker_group_name, self.broker_id = broker_group_name, broker_id
        self.version, self.held = version, held


class BrokerNotRegistered(DomainError, kind=ErrorKind.NOT_FOUND):
    """A broker sent an id that its group does not have."""

    code = "broker_not_registered"

    def __init__(self, broker_group_name: str, broker_id: int | None = None) -> None:
        who = "no broker" if broker_id is None else f"no broker {broker_id}"
        super().__init__(
            f"{who} of group {broker_group_name!r} is known here: a broker applies for its id first"
        )
        self.broker_group_name, self.broker_id = broker_group_name, broker_id


class AdoptionAwaited(DomainError, kind=ErrorKind.CONFLICT):
    """A broker sent an unknown id, and is kept as a candidate (D6)."""

    code = "adoption_awaited"

    def __init__(self, broker_group_name: str, broker_id: int) -> None:
        super().__init__(
            f"broker {broker_id} of group {broker_group_name!r} is not known here; it is kept as a"
            f" candidate: regent replica adopt {broker_group_name}"
        )
        self.broker_group_name, self.broker_id = broker_group_name, broker_id


class AdoptionRefused(DomainError, kind=ErrorKind.CONFLICT):
    """The known facts of the brokers do not allow their adoption."""

    code = "adoption_refused"

    def __init__(self, broker_group_name: str, reason: str) -> None:
        super().__init__(f"the brokers of group {broker_group_name!r} can't be adopted: {reason}")
        self.broker_group_name, self.reason = broker_group_name, reason


class AlterSyncStateSetRefused(DomainError, kind=ErrorKind.CONFLICT):
    """The proposed SyncStateSet can't follow the present one."""

    code = "alter_sync_state_set_refused"

    def __init__(self, broker_group_name: str, reason: str) -> None:
        super().__init__(f"broker group {broker_group_name!r} {reason}")
        self.broker_group_name, self.reason = broker_group_name, reason


class NotTheMaster(DomainError, kind=ErrorKind.CONFLICT):
    """A broker sent a request of a master, and is not the master."""

    code = "not_the_master"

    def __init__(self, broker_group_name: str, broker_id: int, *, master_id: int | None) -> None:
        master = "none" if master_id is None else master_id
        super().__init__(
            f"the master of broker group {broker_group_name!r} is {master}, not {broker_id}"
        )
        self.broker_group_name, self.broker_id, self.master_id = (
            broker_group_name,
            broker_id,
            master_id,
        )


class MasterEpochFenced(DomainError, kind=ErrorKind.CONFLICT):
    """A master sent another epoch than the present one."""

    code = "master_epoch_fenced"

    def __init__(self, broker_group_name: str, epoch: int, *, held: int) -> None:
        super().__init__(
            f"the master epoch of broker group {broker_group_name!r} is {held}, not {epoch}"
        )
        self.broker_group_name, self.epoch, self.held = broker_group_name, epoch, held


class MasterEpochMoved(DomainError, kind=ErrorKind.OUTDATED):
    """An order expects a master epoch that has ended."""

    code = "master_epoch_moved"

    def __init__(self, broker_group_name: str, expected: int, *, held: int) -> None:
        super().__init__(
            f"broker group {broker_group_name!r} is in master epoch {held}, not {expected}:"
            " read the group again before the change"
        )
        self.broker_group_name, self.expected, self.held = broker_group_name, expected, held


class SyncStateSetEpochFenced(DomainError, kind=ErrorKind.CONFLICT):
    """A master wants to change a SyncStateSet that is no longer the present one."""

    code = "sync_state_set_epoch_fenced"

    def __init__(self, broker_group_name: str, epoch: int, *, held: int) -> None:
        super().__init__(
            f"the SyncStateSet epoch of broker group {broker_group_name!r} is {held}, not {epoch}"
        )
        self.broker_group_name, self.epoch, self.held = broker_group_name, epoch, held


class UnknownReplica(DomainError, kind=ErrorKind.CONFLICT):
    """The proposed SyncStateSet has a member that is no replica of the group."""

    code = "unknown_replica"

    def __init__(self, broker_group_name: str, broker_id: int) -> None:
        super().__init__(f"broker group {broker_group_name!r} has no replica {broker_id}")
        self.broker_group_name, self.broker_id = broker_group_name, broker_id


class BrokerNotAlive(DomainError, kind=ErrorKind.CONFLICT):
    """The proposed SyncStateSet has a member that is not alive."""

    code = "broker_not_alive"

    def __init__(self, broker_group_name: str, broker_id: int) -> None:
        super().__init__(f"replica {broker_id} of broker group {broker_group_name!r} is not alive")
        self.broker_group_name, self.broker_id = broker_group_name, broker_id


class MasterNotAvailable(DomainError, kind=ErrorKind.CONFLICT):
    """The controller looked for a new master and found none."""

    code = "master_not_available"

    def __init__(self, broker_group_name: str, explanation: str) -> None:
        super().__init__(f"no replica can become master of {broker_group_name!r}: {explanation}")
        self.broker_group_name, self.explanation = broker_group_name, explanation


class ElectionFailed(DomainError, kind=ErrorKind.CONFLICT):
    """A broker or an operator asked for a master, and no replica may become master."""

    code = "election_failed"

    def __init__(self, broker_group_name: str, explanation: str) -> None:
        super().__init__(f"no replica can become master of {broker_group_name!r}: {explanation}")
        self.broker_group_name, self.explanation = broker_group_name, explanation


class MasterLeaseLive(DomainError, kind=ErrorKind.CONFLICT):
    """A new master has to wait until the present one can no longer acknowledge (D9)."""

    code = "master_lease_live"

    def __init__(self, broker_group_name: str, winner_id: int, *, left_ms: int) -> None:
        super().__init__(
            f"broker {winner_id} of {broker_group_name!r} can become master in {left_ms} ms,"
            " when the lease of the current master has expired"
        )
        self.broker_group_name, self.winner_id, self.left_ms = broker_group_name, winner_id, left_ms


class CleanRefused(DomainError, kind=ErrorKind.CONFLICT):
    """The replicas to forget are still needed."""

    code = "clean_refused"

    def __init__(self, broker_group_name: str, reason: str) -> None:
        super().__init__(f"broker group {broker_group_name!r} {reason}")
        self.broker_group_name, self.reason = broker_group_name, reason


class RegistrationRefused(DomainError, kind=ErrorKind.CONFLICT):
    """A broker registered one topic before it registered itself (remoting.md 2.7, 103)."""

    code = "registration_refused"

    def __init__(self, broker_group_name: str, broker_id: int) -> None:
        super().__init__("register broker failed")
        self.broker_group_name, self.broker_id = broker_group_name, broker_id


class RouteNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """No broker serves the topic."""

    code = "route_not_found"

    def __init__(self, topic_name: str) -> None:
        super().__init__(f"No topic route info in name server for the topic: {topic_name}")
        self.topic_name = topic_name


class SettingNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """The name server's key-value table has no such namespace or key."""

    code = "setting_not_found"

    def __init__(self, namespace: str, key: str | None = None) -> None:
        where = f"namespace {namespace!r}" if key is None else f"key {key!r} in {namespace!r}"
        super().__init__(f"No config item, {where}")
        self.namespace, self.key = namespace, key


class TooManySettings(DomainError, kind=ErrorKind.CONFLICT):
    """The name server's key-value table is full."""

    code = "too_many_settings"

    def __init__(self, count_max: int) -> None:
        super().__init__(
            f"the key-value table holds {count_max} entries at most; delete an entry first"
        )
        self.count_max = count_max


class Unauthenticated(DomainError, kind=ErrorKind.UNAUTHENTICATED):
    """The caller is not signed in."""

    code = "unauthenticated"

    def __init__(self) -> None:
        super().__init__("sign in first")


class InvalidCredentials(DomainError, kind=ErrorKind.UNAUTHENTICATED):
    """The name or the password is wrong; the error does not say which."""

    code = "invalid_credentials"

    def __init__(self) -> None:
        super().__init__("the name or the password is wrong")


class TooManyAttempts(DomainError, kind=ErrorKind.THROTTLED):
    """There were too many attempts to sign in."""

    code = "too_many_attempts"

    def __init__(self, *, retry_after_s: int) -> None:
        super().__init__(f"too many failed attempts; try again in {retry_after_s} s")
        self.retry_after_s = retry_after_s


class Forbidden(DomainError, kind=ErrorKind.FORBIDDEN):
    """The caller is known, and lacks the permission."""

    code = "forbidden"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class VersionMoved(DomainError, kind=ErrorKind.OUTDATED):
    """The object has changed since the caller read it."""

    code = "version_moved"

    def __init__(self, what: str, *, expected: str, found: str) -> None:
        super().__init__(
            f"{what} was changed after you read it: read it again, then repeat the change"
        )
        self.what, self.expected, self.found = what, expected, found

    @property
    def facts(self) -> dict[str, Any]:
        """Return both versions."""
        return {"expected": self.expected, "found": self.found}
