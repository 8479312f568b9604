"""A message that is sent: its sender learns how that ended, though the database is lost then."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from sqlalchemy.exc import OperationalError

from backend.brokers.asking import Brokers
from backend.brokers.requests.sending import SendRefused, StoredAt
from backend.domain.message_errors import MessageRefused
from backend.domain.operation import Author
from backend.domain.orders.message import SendMessage
from backend.domain.outgoing_message import Place
from backend.domain.topic import READ_WRITE, QueueSettings
from backend.services.access import audit
from backend.services.message import sent_messages

ORDER = SendMessage("c", "orders", "body")
CLOCK = SimpleNamespace(now=lambda: datetime(2026, 3, 2, tzinfo=UTC))


class Broker(Brokers):
    """Stores the message, or refuses it."""

    def __init__(self, refusal=None):
        self.refusal, self.count = refusal, 0

    async def ask(self, _address, _inquiry):
        self.count += 1
        if self.refusal is not None:
            raise self.refusal
        return StoredAt("AA", 0, 7, None)


@pytest.fixture
def entered(monkeypatch):
    """Give the actions that reach the audit: the first is kept, and then the database is lost."""
    actions = []

    async def enter(audited, **_clients):
        actions.append(audited.action)
        if len(actions) > 1:
            raise OperationalError("insert", {}, ConnectionError("the database is gone"))

    async def find_places(*_arguments, **_clients):
        return [Place("broker-a", "10.0.0.1:10911", QueueSettings(4, 4, READ_WRITE, 0))]

    monkeypatch.setattr(audit, "enter", enter)
    monkeypatch.setattr(sent_messages, "_find_places", find_places)
    return actions


async def send(brokers):
    author = Author("anna", "test")
    return await sent_messages.send_message(
        ORDER, author, database=None, brokers=brokers, clock=CLOCK
    )


async def test_a_stored_message_is_said_to_be_stored(entered):
    broker = Broker()

    sent = await send(broker)

    assert (sent.message_id, sent.queue_offset, broker.count) == ("AA", 7, 1)
    assert entered == ["message.send", "message.sent"]


async def test_a_refused_message_is_said_to_be_refused(entered):
    with pytest.raises(MessageRefused, match="too large"):
        await send(Broker(SendRefused("10.0.0.1:10911", 13, "too large")))

    assert entered == ["message.send", "message.refused"]
