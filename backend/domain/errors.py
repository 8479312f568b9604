"""Name what can be refused, and why, without saying through which door it is told.

Each class knows its code; HTTP, GraphQL and remoting each hold a table from class to answer, and a
test demands that every class below stands in every table.
"""

# ruff: noqa: N818 - an error is called what went wrong, as in the conventions.

from typing import ClassVar


class DomainError(Exception):
    """Stand for any refusal that a caller can be told about."""

    code: ClassVar[str] = "domain_error"


class InvalidName(DomainError):
    """A name breaks the rules of what it should name."""

    code = "invalid_name"

    def __init__(self, *, kind: str, name: str, reason: str) -> None:
        super().__init__(f"{kind} {name[:300]!r} {reason}")
        self.kind, self.name, self.reason = kind, name, reason


class InvalidAddress(DomainError):
    """A broker announced an address that no client could connect to."""

    code = "invalid_address"

    def __init__(self, address: str) -> None:
        super().__init__(f"{address[:300]!r} is not host:port")
        self.address = address


class InvalidTopicSettings(DomainError):
    """A topic was announced with counts or permissions outside their range."""

    code = "invalid_topic_settings"

    def __init__(self, topic_name: str, reason: str) -> None:
        super().__init__(f"topic {topic_name!r} {reason}")
        self.topic_name, self.reason = topic_name, reason


class InvalidCursor(DomainError):
    """A page was asked for after a place that no page ended at."""

    code = "invalid_cursor"

    def __init__(self) -> None:
        super().__init__("the cursor was not made by this list")


class InvalidPageSize(DomainError):
    """A page was asked for that is empty or larger than the limit."""

    code = "invalid_page_size"

    def __init__(self, size: int, *, size_max: int) -> None:
        super().__init__(f"a page holds 1 to {size_max} items, not {size}")
        self.size, self.size_max = size, size_max


class ClusterNotFound(DomainError):
    """No cluster has the name."""

    code = "cluster_not_found"

    def __init__(self, cluster_name: str) -> None:
        super().__init__(f"no cluster {cluster_name!r}")
        self.cluster_name = cluster_name


class BrokerGroupNotFound(DomainError):
    """The cluster holds no broker group of the name."""

    code = "broker_group_not_found"

    def __init__(self, cluster_name: str, group_name: str) -> None:
        super().__init__(f"no broker group {group_name!r} in cluster {cluster_name!r}")
        self.cluster_name, self.group_name = cluster_name, group_name


class TopicNotFound(DomainError):
    """The cluster holds no topic of the name."""

    code = "topic_not_found"

    def __init__(self, cluster_name: str, topic_name: str) -> None:
        super().__init__(f"no topic {topic_name!r} in cluster {cluster_name!r}")
        self.cluster_name, self.topic_name = cluster_name, topic_name


class CapacityReportNotFound(DomainError):
    """No capacity report has the id."""

    code = "capacity_report_not_found"

    def __init__(self, report_id: object) -> None:
        super().__init__(f"no capacity report {report_id}")
        self.report_id = report_id


class RegistrationRefused(DomainError):
    """A broker announced one topic before it had announced itself (remoting.md 2.7, 103)."""

    code = "registration_refused"

    def __init__(self, group_name: str, broker_id: int) -> None:
        super().__init__("register broker failed")
        self.group_name, self.broker_id = group_name, broker_id


class RouteNotFound(DomainError):
    """No broker serves the topic."""

    code = "route_not_found"

    def __init__(self, topic_name: str) -> None:
        super().__init__(f"No topic route info in name server for the topic: {topic_name}")
        self.topic_name = topic_name


class SettingNotFound(DomainError):
    """The name server's key-value table has no such namespace or key."""

    code = "setting_not_found"

    def __init__(self, namespace: str, key: str | None = None) -> None:
        where = f"namespace {namespace!r}" if key is None else f"key {key!r} in {namespace!r}"
        super().__init__(f"No config item, {where}")
        self.namespace, self.key = namespace, key


class TooManySettings(DomainError):
    """The name server's key-value table is full."""

    code = "too_many_settings"

    def __init__(self, count_max: int) -> None:
        super().__init__(f"the key-value table holds {count_max} entries at most")
        self.count_max = count_max


class Unauthenticated(DomainError):
    """The caller has not signed in, or no longer is."""

    code = "unauthenticated"

    def __init__(self) -> None:
        super().__init__("sign in first")


class InvalidCredentials(DomainError):
    """The name and the password do not belong together; which of them is wrong is not told."""

    code = "invalid_credentials"

    def __init__(self) -> None:
        super().__init__("the name or the password is wrong")


class TooManyAttempts(DomainError):
    """Somebody is guessing passwords."""

    code = "too_many_attempts"

    def __init__(self, *, retry_after_s: int) -> None:
        super().__init__(f"too many failed attempts; try again in {retry_after_s} s")
        self.retry_after_s = retry_after_s


class Forbidden(DomainError):
    """The caller is known and may not do this."""

    code = "forbidden"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
