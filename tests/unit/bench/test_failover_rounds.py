"""A group of stock that does not recover starts again; one of ours ends the measurement."""

import math

import pytest

from tests.bench.failover import __main__ as bench
from tests.bench.failover.group import GroupError
from tests.bench.failover.network import loopback
from tests.bench.failover.ours import OurGroup
from tests.bench.failover.round_log import RoundLog
from tests.bench.failover.rounds import Kind
from tests.bench.failover.stock import StockGroup
from tests.unit.bench.test_round_log import ROUND

NETWORK = loopback(3)


@pytest.fixture
def attempts(monkeypatch):
    """Fail every other round; return the rounds that were requested, and the restarts."""
    made = []

    async def run_round(group, *_, **__):
        made.append(group.label)
        if made.count(group.label) % 2:
            raise GroupError(f"{group.label} did not become whole")
        return ROUND

    async def restart(_):
        made.append("anew")

    monkeypatch.setattr(bench, "run_round", run_round)
    monkeypatch.setattr(StockGroup, "restart_empty", restart)
    return made


async def run_rounds(group, count):
    return await bench.run_rounds(
        Kind.KILL, {group: count}, RoundLog(None), fault_s=0, ends_at=math.inf
    )


async def test_a_stuck_group_of_stock_starts_again_and_the_round_is_repeated(
    attempts, tmp_path, capsys
):
    stock = StockGroup(tmp_path / "stock", NETWORK.host, NETWORK.places, 14_000)

    assert await run_rounds(stock, 2)

    assert attempts == [stock.label, "anew", stock.label] * 2
    assert "did not become whole; it begins anew" in capsys.readouterr().out


async def test_a_stuck_group_of_ours_is_a_fault(attempts, tmp_path):
    ours = OurGroup(tmp_path / "ours", NETWORK.host, NETWORK.places, 14_000, policy="quorum")

    with pytest.raises(GroupError, match="did not become whole"):
        await run_rounds(ours, 2)

    assert attempts == [ours.label]
