"""Hold what the processors of a name server work on: its tables, and who is told of changes."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from backend.clients.clock import Clock
from backend.nameserver.key_values import KeyValues
from backend.nameserver.members import LiveBroker
from backend.nameserver.route_table import RouteTable
from backend.nameserver.write_behind import WriteBehind


@dataclass(slots=True)
class Directory:
    """Hold a name server's tables and its clock."""

    table: RouteTable
    write_behind: WriteBehind
    clock: Clock
    describe_settings: Callable[[], dict[str, str]]
    key_values: KeyValues = field(default_factory=KeyValues)
    answer_counts: Counter[tuple[str, int]] = field(default_factory=Counter)

    def dismiss(self, brokers: list[LiveBroker]) -> None:
        """Take brokers out of the routes, as one batch."""
        self.table.remove(broker.departure for broker in brokers)
        for broker in brokers:
            self.write_behind.note_departed(broker)
