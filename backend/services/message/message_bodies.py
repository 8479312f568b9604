"""Show the bodies of messages, and enter each reader in the audit (G22)."""

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
    """Ask for the body of a message by its id. An id that the sender gave needs the topic."""

    cluster_name: str
    message_id: str
    topic: str | None
    form: BodyForm
    shown_bytes_max: int


async def read_message_body(
    asked: ReadBody, author: Author, *, database: Database, brokers: Brokers, clock: Clock
) -> ShownBody:
    """Return a shown body after its reader is in the audit; the audit does not contain the body.

    Without an entry nothing is shown. The entry names the message by the place where it is stored,
    whichever id was used.

    Raises:
        InvalidName: the name of the cluster or of the topic is invalid. ClusterNotFound: there is
        no such cluster. MessageNotFound: none of the asked brokers has the message. BrokerSilent: a
        broker that may have the message does not answer.
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
