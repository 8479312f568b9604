"""Hold the consumer groups of a broker and their version (`subscriptionGroup.json`)."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec
import structlog

from backend.remoting.bodies import (
    DataVersion,
    SubscriptionGroupConfig,
    SubscriptionGroupTable,
    sift_groups,
)
from backend.remoting.bodies.groups import GROUP_TABLES
from backend.remoting.names import (
    BUILT_IN_GROUPS,
    SYSTEM_GROUP_PREFIX,
    InvalidName,
    check_consumer_group_name,
)
from backend.remoting.sifting import LeftOut, decode_items
from workers.broker.tables.logged_table import IN_LOG, LOG_POSITION, LoggedTable

log = structlog.get_logger()

_BUILT_IN: Final = {name: SubscriptionGroupConfig(name=name) for name in BUILT_IN_GROUPS}


class GroupFile(SubscriptionGroupTable, frozen=True, kw_only=True):
    """The content of `subscriptionGroup.json`."""

    is_in_log: bool = msgspec.field(name=IN_LOG, default=False)
    log_position: int = msgspec.field(name=LOG_POSITION, default=0)


def decode_group_file(data: bytes) -> tuple[GroupFile, list[LeftOut]]:
    """Read the file; groups that can't be served are left out and named.

    Raises:
        InvalidJson: the document is malformed.
    """
    file, left_out = decode_items(data, GroupFile, *GROUP_TABLES)
    groups, refused = sift_groups(file.groups)
    return msgspec.structs.replace(file, groups=groups), left_out + refused


class SubscriptionGroups(LoggedTable[str]):
    """All consumer groups; unknown ones are created on first use if that is allowed.

    In a group of brokers they are part of the log (D14).
    """

    def __init__(
        self,
        stored: GroupFile | None,
        *,
        auto_create: bool,
        listener: Callable[[], None],
        left_out: Iterable[LeftOut] = (),
        clock: Callable[[], int],
    ) -> None:
        """Start with the groups of the file; the listener gets each later change."""
        super().__init__(stored, left_out)
        stored = stored or GroupFile()
        self._groups = _BUILT_IN | stored.groups
        # From tools of stock, which can forbid topics to groups; no request of ours changes it.
        self._forbidden = dict(stored.forbidden_table)
        self._listener, self._clock = listener, clock
        self.auto_create = auto_create
        self.data_version: DataVersion = stored.data_version

    def lead(self) -> None:
        """Accept changes, and create groups."""
        super().lead()
        self._listener()

    def follow(self) -> None:
        """Accept only changes of another master."""
        super().follow()
        self._listener()

    @property
    def forbidden_table(self) -> Mapping[str, Mapping[str, int]]:
        """Return stock's table of forbidden topics of groups."""
        return self._forbidden

    def find(self, name: str) -> SubscriptionGroupConfig | None:
        """Return a group that exists."""
        return self._groups.get(name)

    def find_or_create(self, name: str) -> SubscriptionGroupConfig | None:
        """Return a group, and create it if allowed; None when it is unknown and stays so.

        A replica serves a group that its master would create, before its record arrives.
        """
        found = self._groups.get(name)
        if found is not None:
            return found
        if (GROUP_TABLES[0], name) in self._left_out:
            return None
        if not self.auto_create and not name.startswith(SYSTEM_GROUP_PREFIX):
            return None
        try:
            check_consumer_group_name(name)
        except InvalidName:
            return None
        created = SubscriptionGroupConfig(name=name)
        if not self.is_following:
            self.put(created)
        return created

    def put(self, group: SubscriptionGroupConfig) -> bool:
        """Add or replace a group; False when nothing changed."""
        if self._groups.get(group.name) == group:
            return False
        self._groups[group.name] = group
        self._left_out.pop((GROUP_TABLES[0], group.name), None)
        self._change(group.name)
        return True

    def remove(self, name: str) -> bool:
        """Drop a group, also one that can't be served; False when there was none."""
        self._forbidden.pop(name, None)
        left_out = self._left_out.pop((GROUP_TABLES[0], name), None)
        if self._groups.pop(name, None) is None and left_out is None:
            return False
        self._change(name)
        return True

    def adopt(self, table: SubscriptionGroupTable, left_out: Iterable[LeftOut] = ()) -> bool:
        """Take over the groups of a stock master and their version; False when it is the same.

        Other groups stay: absence is no deletion there.
        """
        if table.data_version == self.data_version:
            return False
        self._forbidden |= table.forbidden_table
        self.apply(table.groups)
        self.keep_aside(left_out)
        self.data_version = table.data_version
        self.change_count += 1
        return True

    def take_changes(self) -> dict[str, SubscriptionGroupConfig | None]:
        """Return the changes since the last call: the present groups, None for deleted ones."""
        return {name: self._groups.get(name) for name in self._take()}

    def shared(self) -> dict[str, SubscriptionGroupConfig]:
        """Return the groups that differ from those of every broker at its start."""
        return {name: one for name, one in self._groups.items() if _BUILT_IN.get(name) != one}

    def apply(self, changes: Mapping[str, SubscriptionGroupConfig | None]) -> None:
        """Apply the changes of a master; groups that can't be served are kept aside and named."""
        changed = {name: group for name, group in changes.items() if group is not None}
        kept, left_out = sift_groups(changed)
        for name in changes.keys() - changed.keys():
            self.remove(name)
        for group in kept.values():
            self.put(group)
        self.keep_aside(left_out)

    def keep_aside(self, left_out: Iterable[LeftOut]) -> None:
        """Keep groups of a master that can't be served, and name them once."""
        for one in left_out:
            if self._left_out.get(one.path) == one:
                continue
            if one.path[0] == GROUP_TABLES[0]:
                self._groups.pop(one.name, None)
            self._left_out[one.path] = one
            self.change_count += 1
            log.warning("copied_group_left_out", group=one.name, reason=one.reason)

    def replace(
        self,
        groups: Mapping[str, SubscriptionGroupConfig],
        forbidden: Mapping[str, Mapping[str, int]],
    ) -> None:
        """Replace the content with a master's."""
        gone = self._groups.keys() - groups.keys()
        self.apply(dict.fromkeys(gone) | _BUILT_IN | dict(groups))
        if self._forbidden != forbidden:
            self._forbidden = {group: dict(topics) for group, topics in forbidden.items()}
            self.change_count += 1

    def as_body(self) -> SubscriptionGroupTable:
        """Return the table for tools."""
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
