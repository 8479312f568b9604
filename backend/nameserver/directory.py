"""Hold the tables, the controller and the notices that processors work with."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from backend.clients.clock import Clock
from backend.domain.controller_figures import RequestTally
from backend.nameserver.failover import Failover
from backend.nameserver.key_values import KeyValues
from backend.nameserver.live_settings import LiveSettings
from backend.nameserver.presence import PresenceTable, RegisteredBroker
from backend.nameserver.replica_report_writer import ReplicaReportWriter
from backend.nameserver.route_table import RouteTable
from backend.nameserver.write_behind import WriteBehind
from backend.services.controller.group_changes import Controller


@dataclass(slots=True)
class Directory:
    """Hold the tables of a name server and a controller, and their clock."""

    table: RouteTable
    write_behind: WriteBehind
    clock: Clock
    port_of: Callable[[], int]
    controller: Controller
    presence: PresenceTable
    reports: ReplicaReportWriter
    failover: Failover
    describe_controller: Callable[[], dict[str, str]]
    # The local address that the peer of a session has connected to.
    address_of: Callable[[object], str]
    key_values: KeyValues = field(default_factory=KeyValues)
    settings: LiveSettings = field(default_factory=LiveSettings)
    answer_counts: Counter[tuple[str, int]] = field(default_factory=Counter)
    controller_requests: RequestTally = field(default_factory=RequestTally)

    def dismiss(self, brokers: list[RegisteredBroker]) -> None:
        """Remove brokers from the routes, as one batch."""
        departures = [broker.report.departure for broker in brokers]
        self.table.remove(departures)
        for departure in departures:
            self.write_behind.note_departed(departure)
