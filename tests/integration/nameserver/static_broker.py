"""What a broker registers of the static topic T (logical-queues.md 2.2)."""

import json

from tests.integration.nameserver.conftest import register_body

TOPICS = {"T": (4, 4, 6), "TBW102": (8, 8, 7)}


def mapping(name, epoch, count, *led, **changes):
    """Give the mapping of a broker group that leads logical queues on its queues 0, 1, …"""
    return {
        "bname": name,
        "currIdMap": {str(global_id): at for at, global_id in enumerate(led)},
        "dirty": False,
        "epoch": epoch,
        "scope": "__global__",
        "topic": "T",
        "totalQueues": count,
    } | changes


def body_of(*mappings, topics=TOPICS, counter=1, attributes=None):
    """Give the body of a registration (103)."""
    body = json.loads(register_body(topics, counter=counter))
    wrapper = body["topicConfigSerializeWrapper"]
    for config in wrapper["topicConfigTable"].values():
        config["attributes"] = attributes or {}
    wrapper["topicQueueMappingInfoMap"] = {one["topic"]: one for one in mappings}
    return json.dumps(body).encode()
