"""Decisions about a transaction that reach an acting master at the same time."""

import asyncio
from types import SimpleNamespace

import pytest
from regent_engine import Decoder

from backend.remoting.command import request
from backend.remoting.headers import EndTransactionHeader, encode_header
from workers.broker.acting.decisions import Decisions
from workers.broker.errors import Refusal
from workers.broker.processors import transactions as processor
from workers.broker.transactions.half_message import COMMITTED

POSITION = 4711


class Known:
    """Transactions that are found once they are read from the log."""

    def __init__(self):
        self.are_read = asyncio.Event()

    async def find(self, half):
        await self.are_read.wait()
        return half, half


async def read(_broker, _log_position):
    return SimpleNamespace()


@pytest.fixture
def broker(monkeypatch, tmp_path):
    monkeypatch.setattr(processor, "_read", read)
    monkeypatch.setattr(processor, "_check", lambda *_: None)
    monkeypatch.setattr(processor, "first_position_of", lambda *_: POSITION)
    escapes = SimpleNamespace(withdraw=lambda _: True, take_decision=lambda _: None)
    decisions = Decisions(tmp_path / "decisions.json")
    membership = SimpleNamespace(decisions=decisions, escapes=escapes)
    return SimpleNamespace(transactions=Known(), membership=membership, store=None)


def decide(broker, decision):
    header = EndTransactionHeader(
        producer_group="pg", queue_offset=0, log_position=POSITION, decision=decision
    )
    (command,) = Decoder().receive(request(37, opaque=1, ext=encode_header(header)))
    return processor.on_end_transaction(broker, None, command)


async def test_of_two_decisions_at_once_one_is_kept_and_the_other_is_refused(broker):  # S132, D18
    """Both producers get an answer, so the second decision must not replace the first one."""
    both = asyncio.gather(
        decide(broker, COMMITTED),
        decide(broker, processor.ROLLED_BACK),
        return_exceptions=True,
    )
    await asyncio.sleep(0)
    broker.transactions.are_read.set()

    kept, refused = await both

    assert isinstance(kept, bytes)
    assert isinstance(refused, Refusal)
    fields = broker.membership.decisions.kept[POSITION]
    assert fields["commitOrRollback"] == str(COMMITTED)
