"""Queues that are switched one after another, of one change."""

import asyncio
from types import SimpleNamespace

import pytest

from backend.brokers.errors import BrokerUnreachable
from backend.domain.logical_queue.change import MoveStep
from backend.services.logical_queue import switching
from backend.services.logical_queue.switching import switch_queues

SOURCE, DESTINATION = "broker-a", "broker-b"


class Change:
    """A change whose queues all go from one broker group to another."""

    after = None

    def move(self, global_id):
        relocation = SimpleNamespace(source=SOURCE, destination=DESTINATION)
        return SimpleNamespace(
            global_id=global_id, step=MoveStep.PLANNED, relocation=relocation, forced_start=None
        )


class Moves:
    """The requests of a step; the destination ends when it is to store its first list."""

    def __init__(self):
        self.sealed, self.has_ended = [], False

    async def read(self):
        return Change()

    async def advance(self, _step, **_):
        return Change()

    async def ask(self, name, _inquiry):
        self.has_ended |= name == DESTINATION
        self.check(name)

    def check(self, name):
        if self.has_ended and name == DESTINATION:
            raise BrokerUnreachable(name, "it has ended")

    # The functions of the module, as the step calls them.

    async def prepare(self, _driver, _global_id):
        return Change(), object()

    async def layout_at(self, _driver, name):
        await asyncio.sleep(0)
        self.check(name)

    async def seal(self, _driver, _change, move):
        self.sealed.append(move.global_id)

    async def carry(self, *_):
        pass


@pytest.fixture
def moves(monkeypatch):
    moves = Moves()
    for name in ("prepare", "layout_at", "seal", "carry"):
        monkeypatch.setattr(switching, name, getattr(moves, name))
    monkeypatch.setattr(switching, "store_request", lambda *_, **__: None)
    return moves


async def test_no_further_queue_is_sealed_for_a_destination_that_has_ended(moves):
    """R15, L43: each sealed queue would take no messages until the destination returns."""
    with pytest.raises(BrokerUnreachable, match="has ended"):
        await switch_queues(moves, range(5))

    assert moves.sealed == [0]
