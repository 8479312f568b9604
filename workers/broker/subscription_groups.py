"""Hold the consumer groups that a broker knows and their version (`subscriptionGroup.json`)."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

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
from workers.broker.logged_table import IN_LOG, LOG_POSITION, LoggedTable

_BUILT_IN: Final = {name: SubscriptionGroupConfig(name=name) for name in BUILT_IN_GROUPS}


class GroupFile(SubscriptionGroupTable, frozen=True, kw_only=True):
    """The content of `subscriptionGroup.json`."""

    is_in_log: bool = msgspec.field(name=IN_LOG, default=False)
    log_position: int = msgspec.field(name=LOG_POSITION, default=0)


class SubscriptionGroups(LoggedTable[str]):
    """All consumer groups; unknown ones come to be on first use where that is allowed.

    In a group of brokers they travel in the log (D14).
    """

    def __init__(
        self,
        stored: GroupFile | None,
        *,
        auto_create: bool,
        listener: Callable[[], None],
        clock: Callable[[], int],
    ) -> None:
        """Begin with the groups of the file; the listener hears of each change after it."""
        super().__init__(stored)
        stored = stored or GroupFile()
        self._groups = _BUILT_IN | stored.groups
        # Of tools of stock, which let groups be kept from topics; no request of ours changes it.
        self._forbidden = dict(stored.forbidden_table)
        self._listener, self._clock = listener, clock
        self.auto_create = auto_create
        self.data_version: DataVersion = stored.data_version

    @property
    def forbidden_table(self) -> Mapping[str, Mapping[str, int]]:
        """Give what stock keeps of groups and topics besides."""
        return self._forbidden

    def find(self, name: str) -> SubscriptionGroupConfig | None:
        """Give a group that exists already."""
        return self._groups.get(name)

    def find_or_create(self, name: str) -> SubscriptionGroupConfig | None:
        """Give a group, creating it where allowed; None when it is unknown and stays so.

        A replica serves one that its master creates before it has heard of it.
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
        if not self.is_following:
            self.put(created)
        return created

    def put(self, group: SubscriptionGroupConfig) -> bool:
        """Add or replace a group; False when it was exactly so already."""
        if self._groups.get(group.name) == group:
            return False
        self._groups[group.name] = group
        self._change(group.name)
        return True

    def remove(self, name: str) -> bool:
        """Drop a group; False when there was none."""
        self._forbidden.pop(name, None)
        if self._groups.pop(name, None) is None:
            return False
        self._change(name)
        return True

    def adopt(self, table: SubscriptionGroupTable) -> bool:
        """Take over the groups of a master of stock and their version; False when it is the same.

        What it does not tell of stays: absence is no deletion there.
        """
        if table.data_version == self.data_version:
            return False
        self._forbidden |= table.forbidden_table
        self.apply(table.groups)
        self.data_version = table.data_version
        self.change_count += 1
        return True

    def take_changes(self) -> dict[str, SubscriptionGroupConfig | None]:
        """Give what changed since the last call: groups as they are now, or that they are gone."""
        return {name: self._groups.get(name) for name in self._take()}

    def shared(self) -> dict[str, SubscriptionGroupConfig]:
        """Give the groups that are not as every broker has them from its start."""
        return {name: one for name, one in self._groups.items() if _BUILT_IN.get(name) != one}

    def apply(self, changes: Mapping[str, SubscriptionGroupConfig | None]) -> None:
        """Take over what changed on a master."""
        for name, group in changes.items():
            if group is None:
                self.remove(name)
            else:
                self.put(group)

    def replace(
        self,
        groups: Mapping[str, SubscriptionGroupConfig],
        forbidden: Mapping[str, Mapping[str, int]],
    ) -> None:
        """Take over all that a master has, and forget all else."""
        gone = self._groups.keys() - groups.keys()
        self.apply(dict.fromkeys(gone) | _BUILT_IN | dict(groups))
        if self._forbidden != forbidden:
            self._forbidden = {group: dict(topics) for group, topics in forbidden.items()}
            self.change_count += 1

    def as_body(self) -> SubscriptionGroupTable:
        """Give the table as tools read it."""
        return SubscriptionGroupTable(
            data_version=self.data_version, forbidden_table=self._forbidden, groups=self._groups
        )

    def _document(self) -> dict[str, Any]:
        return {
            "dataVersion": self.data_version,
            "forbiddenTable": self._forbidden,
            "subscriptionGroupTable": self._groups,
        }

    def _change(self, name: str) -> None:
        self.data_version = self.data_version.next(self._clock())
        self._note(name)
        self._listener()
