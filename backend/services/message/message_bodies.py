"""Show the bodies of messages, and enter in the audit who was shown which (G22)."""

from dataclasses import dataclass

from backend.brokers.asking import Brokers
from backend.clients.clock import Clock
from backend.db import audit
from backend.db.audit import AuditedAction
from backend.db.engine import Database
from backend.domain.message_body import BodyForm, ShownBody, show_body
from backend.domain.operation import Author
from backend.services.message.messages import get_message


@dataclass(frozen=True, slots=True)
class ReadBody:
    """Ask for the body of the message of an id; one that its sender made needs the topic."""

    cluster_name: str
    message_id: str
    topic: str | None
    form: BodyForm
    shown_bytes_max: int


async def read_message_body(
    asked: ReadBody, author: Author, *, database: Database, brokers: Brokers, clock: Clock
) -> ShownBody:
    """Return a body as it is shown, once the audit says who reads it; it holds nothing of it.

    Who can't be entered is shown nothing. The entry names the message by the place where it is
    stored, whichever id it was asked for by.

    Raises:
        InvalidName: no cluster or topic may be called so.
        ClusterNotFound: none is.
        MessageNotFound: nobody who was asked holds it.
        BrokerSilent: who may hold it does not answer.
    """
    message = await get_message(
        asked.cluster_name, asked.message_id, topic=asked.topic, database=database, brokers=brokers
    )
    shown = show_body(
        message.body, message.sys_flag, form=asked.form, shown_bytes_max=asked.shown_bytes_max
    )
    details = {
        "topic": message.topic,
        "broker_group": message.broker_group_name,
        "queue_id": message.queue_id,
        "queue_offset": message.queue_offset,
        "shown_bytes": shown.shown_bytes,
        "is_cut": shown.is_cut,
    }
    subject = f"message {message.message_id}"
    audited = AuditedAction(author, "message.read_body", asked.cluster_name, subject, details)
    async with database.begin() as connection:
        await audit.append(connection, audited, at=clock.now())
    return shown
