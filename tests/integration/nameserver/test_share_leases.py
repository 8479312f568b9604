"""Members ask for share queues over a real socket (4102, queue-ownership.md 4.6)."""

import json

import pytest

from backend.domain.share_incident import IncidentFilter
from backend.remoting.bodies.share_leases import INCIDENT_COUNT_MAX, ITEM_COUNT_MAX
from backend.services.share_queue.incidents import list_incidents
from tests.integration.nameserver.broker_peer import BrokerPeer, make_f3

SQ = {"topic": "orders", "queueId": 0, "consumerGroup": "billing"}


@pytest.fixture
async def f3(name_server, connect):
    brokers = [BrokerPeer(await connect(name_server), number) for number in (1, 2, 3)]
    await make_f3(brokers)
    return brokers


async def beat(broker, **lists):
    ext = broker.names | {"brokerId": str(broker.id), "life": "7"}
    return await broker.ask(4102, ext, json.dumps(lists).encode())


async def decisions(broker, **lists):
    answer = await beat(broker, **lists)
    assert answer.code == 0, answer.remark
    return json.loads(answer.body)


async def test_o16_a_wanted_share_queue_is_granted_with_its_epoch_and_its_time(f3):
    wish = SQ | {"hasMessages": True}

    granted = await decisions(f3[1], wanted=[wish])
    # Before another member waits: with a waiter a lease ends after its slice.
    renewed = await decisions(f3[1], held=[SQ | {"epoch": 1, "hasMessages": True}])
    waiting = await decisions(f3[2], wanted=[wish])

    nothing = {"ttlMs": 10_000, "granted": [], "revoked": [], "awaited": []}
    assert granted == nothing | {"granted": [SQ | {"epoch": 1}]}
    assert waiting == renewed == nothing
    still_held = await decisions(f3[1], held=[SQ | {"epoch": 1, "hasMessages": True}])
    assert still_held == nothing | {"awaited": [SQ]}


async def test_a_share_queue_that_is_given_back_goes_to_the_waiter_and_the_old_epoch_is_void(f3):
    wish = SQ | {"hasMessages": True}
    await decisions(f3[1], wanted=[wish])
    await decisions(f3[2], wanted=[wish])

    await decisions(f3[1], released=[SQ | {"epoch": 1}], wanted=[wish])

    assert (await decisions(f3[2], wanted=[wish]))["granted"] == [SQ | {"epoch": 2}]
    late = await decisions(f3[1], held=[SQ | {"epoch": 1, "hasMessages": True}])
    assert late["revoked"] == [SQ]


async def test_a_group_that_no_controller_leads_is_2008(client):
    answer = await beat(BrokerPeer(client, 1, group="unknown"))

    assert answer.code == 2008


@pytest.mark.parametrize(
    "wanted",
    [
        [{"topic": "orders", "queueId": -1, "consumerGroup": "billing", "hasMessages": True}],
        [SQ],
        [SQ | {"hasMessages": True}] * (ITEM_COUNT_MAX + 1),
    ],
)
async def test_a_malformed_heartbeat_is_refused(f3, wanted):
    answer = await beat(f3[0], wanted=wanted)

    assert answer.code == 1
    assert answer.remark


async def test_incidents_are_recorded_and_those_of_a_later_release_are_left_out_q37(f3, database):
    told = {"kind": "cannot_store", "epoch": 1, "position": 4_096, "reason": "the disk failed"}
    later = {"kind": "of_a_later_release", "epoch": 1}

    await decisions(f3[1], incidents=[told, later])
    # A former release does not name the field.
    await decisions(f3[1])

    page = await list_incidents(size=10, before=None, chosen=IncidentFilter(), database=database)
    (found,) = page.items
    assert (found.broker.own_id, found.kind, found.position) == (2, "cannot_store", 4_096)
    assert (found.life, found.is_named, found.reason) == (7, True, "the disk failed")
    too_many = await beat(f3[1], incidents=[told] * (INCIDENT_COUNT_MAX + 1))
    assert too_many.code != 0


async def test_lost_messages_of_a_topic_are_recorded_without_a_share_queue(f3, database):
    lost = {"kind": "messages_lost", "epoch": 1, "topic": "scores"}
    spelled = lost | {"queueId": -1, "consumerGroup": "", "reason": "not replicated"}
    nameless = {"kind": "messages_lost", "epoch": 1}

    await decisions(f3[1], incidents=[spelled, nameless])
    await decisions(f3[1], incidents=[lost])

    page = await list_incidents(size=10, before=None, chosen=IncidentFilter(), database=database)
    (found,) = page.items
    assert (found.kind, found.topic, found.queue_id) == ("messages_lost", "scores", None)
    assert (found.consumer_group_name, found.reason) == (None, "not replicated")
