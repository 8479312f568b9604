"""Keep the key-value table of the name server in memory, within bounds."""

from typing import Final

from backend.domain.errors import SettingNotFound, TooManySettings

ENTRY_COUNT_MAX: Final = 10_000
ORDER_TOPIC_NAMESPACE: Final = "ORDER_TOPIC_CONFIG"


class KeyValues:
    """Hold values by namespace and key."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[str, str]] = {}
        self._count = 0

    def put(self, namespace: str, key: str, value: str) -> None:
        """Set a value.

        Raises:
            TooManySettings: the table is full.
        """
        is_new = key not in self._tables.get(namespace, {})
        if is_new and self._count >= ENTRY_COUNT_MAX:
            raise TooManySettings(ENTRY_COUNT_MAX)
        self._tables.setdefault(namespace, {})[key] = value
        self._count += int(is_new)

    def get(self, namespace: str, key: str) -> str:
        """Return a value.

        Raises:
            SettingNotFound: there is none.
        """
        value = self._tables.get(namespace, {}).get(key)
        if value is None:
            raise SettingNotFound(namespace, key)
        return value

    def remove(self, namespace: str, key: str) -> None:
        """Remove a value; an absent value is no error."""
        table = self._tables.get(namespace, {})
        if table.pop(key, None) is not None:
            self._count -= 1
        if not table:
            self._tables.pop(namespace, None)

    def get_table(self, namespace: str) -> dict[str, str]:
        """Return all values of a namespace.

        Raises:
            SettingNotFound: the namespace is not known.
        """
        table = self.find_table(namespace)
        if table is None:
            raise SettingNotFound(namespace)
        return table

    def find_table(self, namespace: str) -> dict[str, str] | None:
        """Find all values of a namespace."""
        table = self._tables.get(namespace)
        return None if table is None else dict(table)
