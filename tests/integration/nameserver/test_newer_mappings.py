"""A returned broker group asks for the mappings that it missed, over a real socket (7017)."""

import json
from uuid import uuid4

from backend.clients.clock import SystemClock
from backend.db import logical_queues
from backend.domain.logical_queue.change import ChangeKind, decide, with_prepared, with_sealed
from backend.domain.logical_queue.commit import Prepared, Seal
from backend.domain.logical_queue.move_planning import plan_moves
from backend.domain.logical_queue.placement import Relocation
from backend.services.logical_queue.changes import advance_change, begin_change
from tests.unit.domain.logical_queue.builders import NOW, groups, segment, topic

C = "c"
CLOCK = SystemClock()


async def ask(client, name, **epochs):
    """Return the topics of the answer: their lists, queue counts, and whether the copy is final."""
    ext = {"clusterName": C, "brokerName": name}
    answer = await client.ask(7017, ext, json.dumps({"epochs": epochs}).encode())
    assert answer.code == 0, answer.remark
    return {
        name: (
            one["mapping"]["epoch"],
            {key: [part["bname"] for part in parts] for key, parts in lists(one).items()},
            one["writeQueueNums"],
            one["isFinal"],
        )
        for name, one in json.loads(answer.body)["topics"].items()
    }


def lists(one):
    return one["mapping"]["hostedQueues"]


async def add(database, mapping):
    async with database.begin() as connection:
        await logical_queues.add(connection, C, mapping, at=CLOCK.now())


async def test_only_newer_mappings_are_answered(client, database):  # L50
    await add(database, topic([segment(0, "b1:q0")], [segment(0, "b2:q0")]))

    assert await ask(client, "b1", T=NOW, Other=1) == {}

    assert await ask(client, "b1", T=NOW - 1) == {"T": (NOW, {"0": ["b1"]}, 1, True)}
    assert await ask(client, "b3", T=NOW - 1) == {}


async def test_during_a_change_the_queues_have_moved_that_are_decided(client, database):  # L50
    await add(database, topic([segment(0, "b1:q0")], [segment(0, "b1:q1")], counts={"b2": 0}))
    change_id = uuid4()
    stores = {"database": database, "clock": CLOCK}
    moves = [Relocation(one, "b1", "b2") for one in (0, 1)]

    def plan(mapping):
        return plan_moves(
            mapping, moves, kind=ChangeKind.MIGRATE, groups=groups("b1", "b2"), now_ms=NOW
        )

    change = await begin_change(change_id, C, "T", plan, **stores)
    epoch = change.epoch
    assert await ask(client, "b1", T=NOW) == {"T": (epoch, {"0": ["b1"], "1": ["b1"]}, 2, False)}

    for step in (
        lambda now: with_prepared(now, 0, Prepared(0)),
        lambda now: with_sealed(now, 0, Seal(7)),
        lambda now: decide(now, 0),
    ):
        await advance_change(change_id, C, "T", step, **stores)

    found = await ask(client, "b1", T=NOW)
    assert found == {"T": (epoch, {"0": ["b1", "b2"], "1": ["b1"]}, 2, False)}
