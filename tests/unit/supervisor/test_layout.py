"""The paths and ports of a local cluster."""

from pathlib import Path

from backend.supervisor.layout import ClusterLayout, plan_layout


def a_layout(*, data_dir: Path = Path("/data"), group_count: int = 2) -> ClusterLayout:
    return plan_layout(
        data_dir=data_dir,
        http_port=8080,
        remoting_port=9876,
        broker_port=10911,
        group_count=group_count,
    )


def test_broker_groups_take_ports_ten_apart():
    layout = a_layout(group_count=3)

    assert [(b.group_name, b.port) for b in layout.brokers] == [
        ("broker-a", 10911),
        ("broker-b", 10921),
        ("broker-c", 10931),
    ]


def test_every_port_is_listed_with_the_option_that_moves_it():
    layout = a_layout(group_count=1)

    assert layout.ports() == {
        8080: "--http-port",
        9876: "--remoting-port",
        10911: "--broker-port",
        10909: "--broker-port",
    }


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
