"""Registrations of the brokers of one group at a route table."""

from uuid import UUID

from backend.domain.broker import DataVersion
from backend.domain.topic import QueueSettings
from backend.nameserver.members import Departure, Registration
from backend.nameserver.presence import PresenceTable
from backend.nameserver.route_table import RouteTable

ORDERS = {"orders": QueueSettings(4, 4, 6), "TBW102": QueueSettings(8, 8, 7)}
FIRST, SECOND = object(), object()


class Clock:
    now_ms = 1_000.0

    def __call__(self):
        return self.now_ms


def presence_table(clock=None):
    return PresenceTable(UUID(int=1), clock or Clock())


def route_table():
    return RouteTable(presence_table())


def registration(broker_id=0, address="10.0.0.1:10911", **changes):
    values = {
        "cluster_name": "main",
        "broker_group_name": "broker-a",
        "broker_id": broker_id,
        "address": address,
        "ha_address": "10.0.0.1:10912",
        "timeout_ms": 10_000,
        "data_version": DataVersion(0, 1_000, 1),
    }
    return Registration(**(values | changes))


def register(table, broker_id=0, address=None, *, topics=None, connection=FIRST, **more):
    address = address or f"10.0.0.{broker_id + 1}:10911"
    return table.register(
        registration(broker_id, address, **more),
        ORDERS if topics is None else topics,
        connection=connection,
    )


def leave(table, broker_id=0, address=None, *, cluster="main", group="broker-a"):
    address = address or f"10.0.0.{broker_id + 1}:10911"
    table.remove([Departure(cluster, group, broker_id, address)])


def addresses(table, topic="orders"):
    return dict(table.route(topic).entries[0].members.addresses)


def permissions(table, topic="orders"):
    return table.route(topic).entries[0].settings.permissions
