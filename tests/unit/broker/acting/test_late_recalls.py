"""A recall whose message is found only after another broker has asked for the state (RIP-32)."""

from types import SimpleNamespace

import pytest

from backend.remoting.response_code import ResponseCode
from workers.broker.errors import Refusal
from workers.broker.processors.recalling import _keep_recall
from workers.broker.tables.escaped import EscapedMessages

HANDLE = SimpleNamespace(due_ms=2)


class Replica:
    """A replica that acts, and gives way while it searches its index."""

    decisions = object()

    def __init__(self, *, gives_way):
        self.gives_way, self.saved = gives_way, 0
        self.settings = SimpleNamespace(index_enabled=True)
        self.membership = self.read_threads = self.state = self
        self.escaped, self.store = EscapedMessages(), None

    def clock(self):
        return 1

    async def search(self, _work):
        return 4711

    def check(self, _required):
        if self.gives_way:
            raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, "ask for the route again")

    async def save_escaped(self):
        self.saved += 1


async def test_a_recall_that_the_next_broker_does_not_hear_of_is_refused():
    replica = Replica(gives_way=True)

    with pytest.raises(Refusal, match="again"):
        await _keep_recall(replica, HANDLE, b"reply")

    assert replica.escaped.sorted() == []


async def test_a_recall_is_kept_while_no_other_broker_is_about_to_serve():
    replica = Replica(gives_way=False)

    assert await _keep_recall(replica, HANDLE, b"reply") == b"reply"
    assert (replica.escaped.sorted(), replica.saved) == ([4711], 1)
