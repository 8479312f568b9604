"""What a plan says of topics that are not replicated."""

import pytest

from backend.domain.plan import CheckVerdict
from backend.domain.topic_layout import TopicLayout
from backend.operations.kinds import change_topic
from backend.operations.planning.masters import Master
from backend.operations.planning.replication import check_replication
from backend.rules.attributes import MESSAGE_TYPE, REPLICATE, SHARE_MODE

MASTER = Master("broker-a", "a:10911")
ALONE = {REPLICATE: "false"}
OWNERS, TYPE = "owners of its share queues", "type of its messages"


def verdicts(**attributes):
    names = {"mode": SHARE_MODE, "type": MESSAGE_TYPE, "replicate": REPLICATE}
    layout = TopicLayout(attributes={names[key]: value for key, value in attributes.items()})
    return {one.name: one.verdict for one in check_replication([(MASTER, layout)])}


def test_a_replicated_topic_is_not_checked():
    assert verdicts(mode="SHARED", type="DELAY") == {}
    assert verdicts(mode="SHARED", type="DELAY", replicate="TRUE") == {}


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({}, {OWNERS: CheckVerdict.PASS}),
        ({"mode": "PRIMARY", "type": "FIFO"}, {OWNERS: CheckVerdict.PASS}),
        ({"mode": "SHARED"}, {OWNERS: CheckVerdict.BLOCK}),
        ({"type": "DELAY"}, {OWNERS: CheckVerdict.PASS, TYPE: CheckVerdict.BLOCK}),
        ({"type": "TRANSACTION"}, {OWNERS: CheckVerdict.PASS, TYPE: CheckVerdict.BLOCK}),
        ({"type": "MIXED"}, {OWNERS: CheckVerdict.PASS, TYPE: CheckVerdict.WARN}),
    ],
)
def test_only_the_master_owns_its_queues_and_no_message_of_it_waits_elsewhere(attributes, expected):
    assert verdicts(**attributes, replicate="False") == expected


def test_a_change_leaves_a_topic_in_its_log():
    held = {MASTER: TopicLayout(attributes=ALONE)}

    [moved] = change_topic._check_replication(held, [(MASTER, TopicLayout())])

    assert (moved.verdict, "create another topic" in moved.why) == (CheckVerdict.BLOCK, True)
