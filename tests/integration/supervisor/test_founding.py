"""A broker that was alone gives its log to a group, and only that one does."""

from pathlib import Path

import pytest
from regent_engine import Store

from backend.rules.mode_switch import ORDER_NAME
from backend.supervisor.founding import found
from backend.supervisor.layout import GroupLayout, plan_layout
from backend.supervisor.sizes import find_replica_counts
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.group.mode_switch import begin_switch


def a_group(data_dir: Path, count: int = 3) -> GroupLayout:
    return plan_layout(
        data_dir=data_dir,
        http_port=8080,
        remoting_port=9876,
        broker_port=10911,
        replica_counts={"broker-a": count},
    ).groups[0]


def a_store(path: Path) -> Store:
    path.mkdir(parents=True, exist_ok=True)
    return Store(str(path), segment_size_bytes=1 << 20, store_host=("127.0.0.1", 10911))


@pytest.fixture
def group(tmp_path: Path) -> GroupLayout:
    """A group whose first broker has a log from when it was alone."""
    group = a_group(tmp_path)
    store = a_store(group.brokers[0].store_path)
    store.append("orders", 0, b"from before", b"", store_host=("127.0.0.1", 10911))
    store.close()
    return group


def test_what_was_written_alone_becomes_epoch_0_for_the_engine(group: GroupLayout):
    path = group.brokers[0].store_path
    settings = BrokerSettings(root_dir=path, controller_mode=True)
    found(group)

    order = begin_switch(settings)

    assert order is not None
    assert order.is_founded
    assert begin_switch(settings) == order
    store = a_store(path)
    store.begin_epoch(1)
    assert store.epochs() == [(0, 0), (1, store.max_position)]
    store.close()


def test_a_group_that_has_members_gets_no_second_founder(group: GroupLayout):
    identity = group.brokers[1].identity_path
    identity.parent.mkdir(parents=True)
    identity.write_text("DefaultCluster#broker-a#2\n")

    found(group)

    assert not (group.brokers[0].store_path / ORDER_NAME).exists()


def test_a_log_that_has_epochs_keeps_them(group: GroupLayout):
    path = group.brokers[0].store_path
    store = a_store(path)
    store.begin_epoch(7)
    before = store.epochs()
    store.close()

    found(group)

    store = a_store(path)
    assert store.epochs() == before
    store.close()


def test_a_broker_that_stays_alone_and_an_empty_one_found_nothing(group: GroupLayout, tmp_path):
    found(GroupLayout(group.name, group.brokers[:1]))
    found(a_group(tmp_path / "new"))

    assert list(tmp_path.glob(f"**/{ORDER_NAME}")) == []


def test_the_directory_shows_how_many_brokers_each_group_has(tmp_path: Path):
    for name in ("broker-a", "broker-a-3", "broker-c", "broker-t", "notes", "broker-b"):
        (tmp_path / "brokers" / name).mkdir(parents=True)
    for name in ("broker-a", "broker-a-3", "broker-c", "notes"):
        (tmp_path / "brokers" / name / "broker.conf").touch()

    assert find_replica_counts(tmp_path) == {"broker-a": 3, "broker-c": 1}
