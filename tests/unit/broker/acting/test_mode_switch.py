"""A group gets a controller while a replica acts, or has state that its master lacks (D16)."""

from types import SimpleNamespace

import pytest

from backend.brokers.requests.group_modes import ModeReport, Place, TrySwitch
from backend.operations.actions.group_modes import SwitchBroker
from backend.operations.engine.kind import Waiting
from backend.remoting.headers.replication import HaInfoHeader
from backend.rules.group_mode import GroupMode
from backend.rules.mode_switch import SwitchOrder
from workers.broker.group import mode_switch

OTHERS = ("10.0.0.2:10911", "10.0.0.3:10911")
PLACE = Place(
    mode=GroupMode.CONTROLLER,
    broker_id=1,
    replica_count=2,
    master_address="10.0.0.1:10911",
    others=(),
    founds=False,
)


def nothing(*_):
    pass


async def done(*_):
    pass


async def test_each_replica_hears_of_its_master_before_its_state_is_taken(monkeypatch, tmp_path):
    # S113, D17: what escapes after the question is unknown to the master.
    asked = []
    own = HaInfoHeader(master_ha_address="10.0.0.1:10912", master_address="10.0.0.1:10911")

    async def announce(address, header):
        asked.append(("announce", address, header))
        if address == OTHERS[0]:
            raise ConnectionError("it does not listen")

    async def take_over(_broker, address):
        asked.append(("take over", address))

    monkeypatch.setattr(mode_switch, "announce", announce)
    monkeypatch.setattr(mode_switch, "take_over", take_over)
    monkeypatch.setattr(mode_switch, "ATTEMPT_PAUSE_S", 0)
    state = SimpleNamespace(delays=SimpleNamespace(), save_offsets=done, save_delays=done)
    broker = SimpleNamespace(
        settings=SimpleNamespace(root_dir=tmp_path),
        state=state,
        offsets=SimpleNamespace(forget_acted=nothing),
    )

    await mode_switch.conclude_switch(broker, SwitchOrder(others=OTHERS), own)

    announced = [("announce", OTHERS[0], own)] * mode_switch.ATTEMPT_COUNT
    taken = [("take over", one) for one in OTHERS]
    assert asked == [*announced, ("announce", OTHERS[1], own), *taken]


class Brokers:
    """A broker that can't switch yet."""

    def __init__(self):
        self.ordered = []

    async def find(self, _address, request):
        assert request == TrySwitch(PLACE)
        return ModeReport(
            GroupMode.ACTING_MASTER, 0, "it acts for its absent master", obstacle_passes=True
        )

    async def ask(self, _address, order):
        self.ordered.append(order)


async def test_the_operation_waits_for_a_replica_that_has_state_which_its_master_lacks():
    brokers = Brokers()
    action = SwitchBroker("c", "broker-a", name="broker-a 1", address=OTHERS[0], place=PLACE)

    with pytest.raises(Waiting, match="broker-a 1: it acts for its absent master"):
        await action.do(None, SimpleNamespace(brokers=brokers))

    assert brokers.ordered == []
