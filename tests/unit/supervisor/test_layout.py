"""The paths and ports of a local cluster."""

from pathlib import Path

from backend.supervisor.layout import (
    GROUP_COUNT_MAX,
    REPLICA_COUNT_MAX,
    ClusterLayout,
    broker_group_names,
    plan_layout,
)


def a_layout(*, data_dir: Path = Path("/data"), **replica_counts: int) -> ClusterLayout:
    counts = {name.replace("_", "-"): count for name, count in replica_counts.items()}
    return plan_layout(
        data_dir=data_dir,
        http_port=8080,
        remoting_port=9876,
        broker_port=10911,
        replica_counts=counts or {"broker-a": 1},
    )


def test_broker_groups_take_ports_ten_apart_and_replicas_two_hundred():
    layout = a_layout(broker_a=3, broker_b=2)

    assert [(b.name, b.port) for b in layout.brokers] == [
        ("broker-a", 10911),
        ("broker-a-2", 11111),
        ("broker-a-3", 11311),
        ("broker-b", 10921),
        ("broker-b-2", 11121),
    ]


def test_a_broker_keeps_its_ports_whatever_else_there_is():
    small, large = a_layout(broker_b=2), a_layout(broker_a=5, broker_b=5, broker_c=1)

    assert set(small.groups[0].brokers) <= set(large.brokers)


def test_the_largest_cluster_shares_no_port():
    counts = dict.fromkeys(broker_group_names(GROUP_COUNT_MAX), REPLICA_COUNT_MAX)
    ports = [
        port
        for port, _, _ in plan_layout(
            data_dir=Path("/data"),
            http_port=8080,
            remoting_port=9876,
            broker_port=10911,
            replica_counts=counts,
        ).ports()
    ]

    assert len(ports) == len(set(ports)) == 2 + 3 * GROUP_COUNT_MAX * REPLICA_COUNT_MAX
    assert max(ports) < 10911 - 2 + 1000


def test_every_port_is_listed_with_its_owner_and_the_option_that_moves_it():
    assert list(a_layout(broker_a=1).ports()) == [
        (8080, "the console", "--http-port"),
        (9876, "the name server", "--remoting-port"),
        (10911, "broker-a", "--broker-port"),
        (10909, "broker-a", "--broker-port"),
    ]


def test_a_replica_needs_its_replication_port_too():
    ports = [port for port, owner, _ in a_layout(broker_a=2).ports() if owner == "broker-a-2"]

    assert ports == [11111, 11109, 11112]


def test_everything_lies_below_the_data_directory():
    layout = a_layout(data_dir=Path("relative"))

    root = Path("relative").absolute()
    for path in (
        layout.postgres_dir,
        layout.redis_dir,
        layout.log_dir,
        layout.history_dir,
        layout.report_dir,
        layout.bootstrap_secret_path,
        layout.state_path,
        *(broker.store_path for broker in layout.brokers),
    ):
        assert path.is_relative_to(root)
