"""Consumers of a test that lock queues, are there, and are gone."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from backend.remoting import java_json
from tests.system.peer import Peer, peer

HEART_BEAT = 34
LOCK_BATCH_MQ = 41
GET_QUEUE_LOCKS = 7003


@contextmanager
def member(address: str, group: str, topic: str, client_id: str) -> Iterator[Peer]:
    """Be a member of a consumer group on a broker for the length of a block."""
    subscription = {
        "topic": topic,
        "subString": "*",
        "classFilterMode": False,
        "tagsSet": [],
        "codeSet": [],
        "subVersion": 1,
        "expressionType": "TAG",
    }
    consumer = {
        "groupName": group,
        "consumeType": "CONSUME_PASSIVELY",
        "messageModel": "CLUSTERING",
        "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
        "subscriptionDataSet": [subscription],
        "unitMode": False,
    }
    told = {"clientID": client_id, "consumerDataSet": [consumer], "producerDataSet": []}
    with peer(address) as consumer_peer:
        answer = consumer_peer.ask(HEART_BEAT, body=java_json.encode(told))
        assert answer.code == 0, answer.remark
        yield consumer_peer


def lock(
    asker: Peer, broker_name: str, group: str, topic: str, client_id: str, *queue_ids: int
) -> list[int]:
    """Ask a broker for queues, and return those that the client holds now."""
    queues = [{"topic": topic, "brokerName": broker_name, "queueId": one} for one in queue_ids]
    wish = {"clientId": client_id, "consumerGroup": group, "mqSet": queues}
    answer = asker.ask(LOCK_BATCH_MQ, body=java_json.encode(wish))
    assert answer.code == 0, answer.remark
    return sorted(one["queueId"] for one in java_json.loads(answer.body)["lockOKMQSet"])


def holders(address: str, group: str) -> dict[int, str]:
    """Ask a broker who holds which queue of a group."""
    with peer(address) as asker:
        answer = asker.ask(GET_QUEUE_LOCKS, {"consumerGroup": group})
    assert answer.code == 0, answer.remark
    told: dict[str, Any] = java_json.loads(answer.body)
    return {one["queueId"]: one["clientId"] for one in told["locks"]}
