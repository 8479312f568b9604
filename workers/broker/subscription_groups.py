"""Hold the consumer groups that a broker knows and their version (`subscriptionGroup.json`)."""

from typing import Any

from backend.remoting import java_json
from backend.remoting.bodies import (
    DataVersion,
    SubscriptionGroupConfig,
    SubscriptionGroupTable,
)
from backend.remoting.names import (
    BUILT_IN_GROUPS,
    SYSTEM_GROUP_PREFIX,
    InvalidName,
    check_group_name,
)


class SubscriptionGroups:
    """All consumer groups; unknown ones come to be on first use where that is allowed."""

    def __init__(self, stored: SubscriptionGroupTable | None, *, auto_create: bool) -> None:
        stored = stored or SubscriptionGroupTable()
        built_in = {name: SubscriptionGroupConfig(name=name) for name in BUILT_IN_GROUPS}
        self._groups = built_in | stored.groups
        self._forbidden = dict(stored.forbidden_table)
        self.auto_create = auto_create
        self.data_version: DataVersion = stored.data_version

    def find(self, name: str) -> SubscriptionGroupConfig | None:
        """Give a group that exists already."""
        return self._groups.get(name)

    def find_or_create(self, name: str, now_ms: int) -> SubscriptionGroupConfig | None:
        """Give a group, creating it where allowed; None when it is unknown and stays so.

        The caller sees from the data version whether something was created.
        """
        found = self._groups.get(name)
        if found is not None:
            return found
        if not self.auto_create and not name.startswith(SYSTEM_GROUP_PREFIX):
            return None
        try:
            check_group_name(name)
        except InvalidName:
            return None
        created = SubscriptionGroupConfig(name=name)
        self.put(created, now_ms)
        return created

    def put(self, group: SubscriptionGroupConfig, now_ms: int) -> bool:
        """Add or replace a group; False when it was exactly so already."""
        if self._groups.get(group.name) == group:
            return False
        self._groups[group.name] = group
        self.data_version = self.data_version.next(now_ms)
        return True

    def remove(self, name: str, now_ms: int) -> bool:
        """Drop a group; False when there was none."""
        self._forbidden.pop(name, None)
        if self._groups.pop(name, None) is None:
            return False
        self.data_version = self.data_version.next(now_ms)
        return True

    def adopt(self, table: SubscriptionGroupTable) -> bool:
        """Take over a master's groups and their version; False when they are the same."""
        if table.data_version == self.data_version:
            return False
        self._groups |= table.groups
        self._forbidden |= table.forbidden_table
        self.data_version = table.data_version
        return True

    def as_body(self) -> SubscriptionGroupTable:
        """Give the table as tools read it."""
        return SubscriptionGroupTable(
            data_version=self.data_version, forbidden_table=self._forbidden, groups=self._groups
        )

    def as_file(self) -> bytes:
        """Give the content of `subscriptionGroup.json`."""
        document: dict[str, Any] = {
            "dataVersion": self.data_version,
            "forbiddenTable": self._forbidden,
            "subscriptionGroupTable": self._groups,
        }
        return java_json.encode(document)
