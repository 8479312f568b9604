import pytest

from tests.unit.broker.replication.journaled import JournaledBroker


@pytest.fixture
def build(tmp_path):
    """Make brokers whose stores and files are in separate folders."""

    def build(number, **fields):
        path = tmp_path / f"b{number}"
        path.mkdir()
        return JournaledBroker(path, **fields)

    return build
