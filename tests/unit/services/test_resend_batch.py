"""A batch of dead letters: as many are held as a pull gives, and one that fails keeps back none."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from backend.brokers.asking import Brokers
from backend.brokers.requests.messages import PullMessages, QueryMessages
from backend.brokers.requests.sending import SendRefused, StoreMessage
from backend.domain.message import StoredMessage
from backend.domain.message_reading import Pulled
from backend.domain.operation_errors import ChangeRefused
from backend.domain.orders.dead_letter import Destination
from backend.operations.actions.dead_letters import ResendBatch
from backend.operations.planning import masters
from backend.operations.planning.masters import Master, Masters

COUNT, PULLED = 5, 2


class Broker(Brokers):
    """A master with dead letters of two topics, which refuses what a test says."""

    def __init__(self, refusals=None):
        self.asked, self.refusals, self.stored = [], refusals or {}, []

    async def ask(self, address, inquiry):
        match inquiry:
            case PullMessages():
                self.asked.append("pull")
                end = min(inquiry.offset + PULLED, COUNT)
                found = tuple(letter(offset) for offset in range(inquiry.offset, end))
                return Pulled(found, end, 0, COUNT)
            case StoreMessage(message):
                self.asked.append("send")
                if message.topic in self.refusals:
                    raise SendRefused(address, self.refusals[message.topic], "refused")
                self.stored.append(message)
                return None
            case QueryMessages():
                return [as_stored(one) for one in self.stored]


def letter(offset):
    topic = "gone" if offset % 2 == 0 else "orders"
    return StoredMessage(
        broker_group_name="broker-a",
        topic="%DLQ%billing",
        queue_id=0,
        queue_offset=offset,
        log_position=offset,
        message_id=f"ID{offset}",
        born_at_ms=1,
        born_host="10.0.0.7:4000",
        stored_at_ms=2,
        store_host="10.0.0.1:10911",
        reconsume_times=16,
        sys_flag=0,
        size_bytes=100,
        properties={"RETRY_TOPIC": topic},
        body=b"x",
    )


def as_stored(message):
    kept = dict(message.properties)
    return replace(letter(0), topic=message.topic, reconsume_times=0, properties=kept)


@pytest.fixture(autouse=True)
def master(monkeypatch):
    async def find(*_arguments):
        return Masters((Master("broker-a", "10.0.0.1:10911"),), ())

    monkeypatch.setattr(masters, "find_masters", find)


async def resend(broker, destination, *, is_repeated=False):
    batch = ResendBatch("c", "billing", "broker-a", 0, tuple(range(COUNT)), destination, 1_000)
    run = SimpleNamespace(
        operation=SimpleNamespace(id="op"), is_repeated=is_repeated, guard=no_guard
    )
    context = SimpleNamespace(brokers=broker, database=Database())
    after = await batch.do(run, context)
    [found] = await batch.verify(SimpleNamespace(after=after), context)
    return after, found


async def no_guard(_connection):
    return None


class Database:
    def begin(self):
        return self

    async def __aenter__(self):
        return None

    async def __aexit__(self, *_error):
        return None


async def test_no_more_dead_letters_are_held_than_a_pull_gives():
    broker = Broker()

    after, found = await resend(broker, Destination.RETRY)

    assert broker.asked[:8] == ["pull", "send", "send", "pull", "send", "send", "pull", "send"]
    assert (after["sent"], after["expired"], found.observed) == (COUNT, [], "5 copies, one of each")


async def test_a_dead_letter_whose_topic_was_deleted_keeps_back_no_other():
    broker = Broker({"gone": 17})

    after, found = await resend(broker, Destination.TOPIC)

    assert [one.topic for one in broker.stored] == ["orders", "orders"]
    assert [*after["refused"]] == ["0", "2", "4"]
    assert "offset 0 refused (code 17" in found.observed


async def test_a_missing_retry_topic_keeps_back_all_of_them():
    with pytest.raises(ChangeRefused):
        await resend(Broker({"%RETRY%billing": 17}), Destination.RETRY)


async def test_a_second_attempt_sends_what_has_no_copy():
    broker = Broker()
    await resend(broker, Destination.RETRY)

    after, found = await resend(broker, Destination.RETRY, is_repeated=True)

    assert (after["sent"], after["sent_before"]) == (0, COUNT)
    assert found.observed == "5 copies, one of each"
