"""Send a message in the name of a user, and enter it in the audit without its body (G26).

A message is data: it can't be undone, and a plan would contain nothing more than the order. So it
is sent immediately and is no operation, since the journal would contain the body. The audit has one
entry before the broker is asked, and one with the outcome. A message is never sent a second time.
If the database is lost in between, the caller still receives the outcome, and the log contains it.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final
from uuid import uuid4

import structlog
from sqlalchemy.exc import SQLAlchemyError

from backend.brokers.asking import Brokers
from backend.brokers.errors import BrokerUnreachable
from backend.brokers.requests.sending import SendRefused, StoredAt, StoreMessage
from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.domain.errors import InvalidName
from backend.domain.message_errors import MessageRefused, SendUnanswered
from backend.domain.operation import Author
from backend.domain.orders.message import SendMessage
from backend.domain.outgoing_message import (
    OutgoingMessage,
    Place,
    check_delay,
    choose_place,
    make_properties,
    read_body,
)
from backend.domain.topic import TopicKind
from backend.services.access import audit
from backend.services.access.audit import AuditedAction
from backend.services.cluster.broker_configs import ask_properties
from backend.services.cluster.broker_questions import Questions, find_masters
from backend.services.topic.topics import describe_topic, list_placements

_DELAY_LEVELS: Final = "messageDelayLevel"

log = structlog.get_logger(__name__)


class SendState(StrEnum):
    """Say whether a sent message is confirmed as stored."""

    STORED = "stored"
    UNCONFIRMED = "unconfirmed"


@dataclass(frozen=True, slots=True)
class SentMessage:
    """Hold a message that was sent, and where it is stored.

    `queue_offset` is None for a delayed message: it gets an offset after its delay. `doubt` says
    what a broker did not confirm in time, for a message that is `UNCONFIRMED`.
    """

    state: SendState
    message_id: str
    unique_key: str
    topic_name: str
    broker_group_name: str
    queue_id: int
    queue_offset: int | None
    body_bytes: int
    body_sha256: str
    doubt: str | None


async def send_message(
    order: SendMessage,
    author: Author,
    *,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> SentMessage:
    """Send a message to a topic of users, after its sender is in the audit.

    Raises:
        Forbidden: the cluster is out of reach. InvalidName: no cluster or topic may be called so,
        or the topic is not one of users. ClusterNotFound: there is no such cluster. TopicNotFound:
        the cluster has no such topic. InvalidMessage: the body, a key, the tag, a property, the
        delay or the queue is wrong. NoQueueForMessage: no broker group takes it. BrokerSilent: the
        broker does not say which delays it has. MessageRefused: the broker has not stored it.
        SendUnanswered: whether it is stored is not known.
    """
    author.clusters.require(order.cluster_name)
    body, properties = read_body(order), make_properties(order, uuid4().hex.upper())
    places = await _find_places(order, brokers, database=database)
    place, queue_id = choose_place(order, places, uuid4().int)
    assert place.address is not None, "a place without a master takes no message"
    if order.delay_level is not None:
        check_delay(order.delay_level, await _delay_levels(place.address, brokers))
    message = OutgoingMessage(
        order.topic_name, queue_id, properties, int(clock.now().timestamp() * 1000), body=body
    )
    written = _Written(order, author, place, message, database, clock)
    await written.enter("message.send")
    try:
        stored = await brokers.ask(place.address, StoreMessage(message))
    except SendRefused as error:
        await written.end("message.refused", code=error.code, remark=error.remark)
        raise MessageRefused(place.broker_group_name, error.code, error.remark) from error
    except BrokerUnreachable as error:
        await written.end("message.unanswered", why=error.reason)
        raise SendUnanswered(
            order.topic_name, message.unique_key, place.broker_group_name, error.reason
        ) from error
    sent = _sent(order, place, message, stored)
    await written.end(
        "message.sent",
        state=sent.state,
        message_id=sent.message_id,
        queue_id=sent.queue_id,
        queue_offset=sent.queue_offset,
    )
    return sent


@dataclass(frozen=True, slots=True)
class _Written:
    """Enter what becomes of a message; of its body the audit has the size and the digest."""

    order: SendMessage
    author: Author
    place: Place
    message: OutgoingMessage
    database: Database
    clock: Clock

    async def enter(self, action: str, **more: Any) -> None:
        details = {
            "unique_key": self.message.unique_key,
            "broker_group": self.place.broker_group_name,
            "queue_id": self.message.queue_id,
            "body_bytes": len(self.message.body),
            "body_sha256": self.message.digest,
            "delay_level": self.order.delay_level,
            **more,
        }
        subject = f"topic {self.order.topic_name}"
        audited = AuditedAction(self.author, action, self.order.cluster_name, subject, details)
        await audit.enter(audited, database=self.database, clock=self.clock)

    async def end(self, action: str, **more: Any) -> None:
        """Enter how it ended; an error here would have the caller send the message again."""
        try:
            await self.enter(action, **more)
        except SQLAlchemyError as error:
            log.warning(
                "send_outcome_not_audited",
                action=action,
                unique_key=self.message.unique_key,
                reason=type(error).__name__,
            )


async def _find_places(order: SendMessage, brokers: Brokers, *, database: Database) -> list[Place]:
    topic = await describe_topic(order.cluster_name, order.topic_name, database=database)
    if topic.kind is not TopicKind.NORMAL:
        reason = f"is a {topic.kind.replace('_', '-')} topic: messages are sent to topics of users"
        raise InvalidName(kind="topic", name=topic.name, reason=reason)
    placements = (await list_placements([topic.id], database=database))[topic.id]
    holding = {one.broker_group_name for one in placements}
    online = await find_masters(
        order.cluster_name, Questions(brokers), database=database, holding=holding
    )
    addresses = {one.broker_group_name: one.address for one in online}
    return [
        Place(one.broker_group_name, addresses.get(one.broker_group_name), one.settings)
        for one in placements
    ]


async def _delay_levels(address: str, brokers: Brokers) -> str:
    found = await ask_properties(address, brokers)
    return next((one.value for one in found if one.name == _DELAY_LEVELS), "")


def _sent(
    order: SendMessage, place: Place, message: OutgoingMessage, stored: StoredAt
) -> SentMessage:
    return SentMessage(
        state=SendState.STORED if stored.doubt is None else SendState.UNCONFIRMED,
        message_id=stored.message_id,
        unique_key=message.unique_key,
        topic_name=order.topic_name,
        broker_group_name=place.broker_group_name,
        queue_id=stored.queue_id,
        queue_offset=stored.queue_offset if order.delay_level is None else None,
        body_bytes=len(message.body),
        body_sha256=message.digest,
        doubt=stored.doubt,
    )
