"""A gate keeps requests waiting, but never for long."""

import pytest

from workers.broker.requests import gate as gates
from workers.broker.requests.gate import WriteGate


class Request:
    def __init__(self):
        self.served_count = 0

    def go_on(self):
        self.served_count += 1


@pytest.fixture
def gate(monkeypatch):
    monkeypatch.setattr(gates, "WAIT_S_MAX", 0.05)
    return WriteGate()


async def test_who_waits_is_served_once_when_the_gate_is_opened(gate):
    request = Request()
    gate.shut()
    gate.wait(request)
    gate.wait(request)

    assert (gate.is_open, request.served_count) == (False, 0)
    gate.open()
    gate.open()

    assert (gate.is_open, request.served_count) == (True, 1)


async def test_a_gate_that_stays_closed_opens_by_itself(gate, eventually):
    request = Request()
    gate.shut()
    gate.wait(request)

    await eventually(lambda: gate.is_open)

    assert request.served_count == 1


async def test_who_finds_the_gate_shut_again_waits_for_its_next_opening(gate):
    class Shutting(Request):
        def go_on(self):
            super().go_on()
            if self.served_count == 1:
                gate.shut()
                gate.wait(self)

    request = Shutting()
    gate.shut()
    gate.wait(request)
    gate.open()

    assert (gate.is_open, request.served_count) == (False, 1)
    gate.open()
    assert request.served_count == 2
