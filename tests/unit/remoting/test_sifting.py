"""Items that can't be read take no other along, and their number is bounded."""

import json

import pytest

from backend.remoting.bodies import HeartbeatData
from backend.remoting.java_json import InvalidJson
from backend.remoting.sifting import LEFT_OUT_COUNT_MAX, decode_items


def heartbeat(*consumers):
    return json.dumps({"clientID": "c", "consumerDataSet": list(consumers)}).encode()


def test_one_odd_item_takes_no_other_along():
    # Case A5.
    found, left_out = decode_items(
        heartbeat({"groupName": "g"}, 1), HeartbeatData, "consumerDataSet"
    )

    assert [one.group_name for one in found.consumers] == ["g"]
    assert [one.path for one in left_out] == [("consumerDataSet", "1")]


def test_a_document_of_odd_items_is_malformed():
    # Case A5: naming each of millions would hold up all other work.
    odd = heartbeat(*[1] * (LEFT_OUT_COUNT_MAX + 1))

    with pytest.raises(InvalidJson, match="more than"):
        decode_items(odd, HeartbeatData, "consumerDataSet")
