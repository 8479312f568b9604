"""Broker groups of a local cluster that don't come up: what is said of them."""

import sys

import pytest

from backend.supervisor import groups
from backend.supervisor import process_checks as signs
from backend.supervisor.errors import CannotStart
from backend.supervisor.groups import BrokerGroups
from backend.supervisor.process import ChildProcess, ProcessSpec
from backend.supervisor.supervision import Supervised
from tests.waiting import eventually


class Layout:
    """A layout of one group, of two brokers."""

    def __init__(self):
        self.name = "broker-a"
        self.groups = [self]
        self.brokers = [type("Broker", (), {"name": name}) for name in ("broker-a", "broker-a-2")]


async def test_where_no_master_comes_what_all_of_its_brokers_say_is_shown(tmp_path, monkeypatch):
    async def never(*_asked):
        return False

    monkeypatch.setattr(groups, "SERVING_TIMEOUT_S", 0.5)
    monkeypatch.setattr(signs, "is_serving", never)
    layout = Layout()
    started = BrokerGroups(layout, None, launch=None)
    for broker, words in zip(layout.brokers, ("damaged", "waiting"), strict=True):
        program = f"import time; print('{words}', flush=True); time.sleep(60)"
        spec = ProcessSpec(broker.name, (sys.executable, "-c", program), tmp_path / broker.name)
        running = Supervised(ChildProcess(spec), show=print, on_change=lambda: None)
        await running.start()
        await eventually((tmp_path / broker.name).read_text)
        started._running[broker.name] = running

    with pytest.raises(CannotStart) as refused:
        await started._await_master(layout)

    for running in started._running.values():
        await running.stop()
    told = str(refused.value).splitlines()
    assert [line.split(" (log:")[0] for line in told] == [
        "broker-a was not ready after 0 s: damaged",
        "broker-a-2 was not ready after 0 s: waiting",
    ]
