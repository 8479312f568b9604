"""Copy a due delayed message to the queue of its topic."""

from collections.abc import Callable, Iterable
from typing import Final

import structlog
from regent_engine import (
    ProtocolError,
    Record,
    Store,
    StoreError,
    decode_records,
    encode_properties,
)

from backend.remoting.names import HALF_TOPIC, is_state_topic
from workers.broker.commit_log.delay_delivery import NotYet
from workers.broker.commit_log.message import CRC, REAL_QUEUE_ID, REAL_TOPIC

# For properties that stock accepts and this store never does.
_NEVER_STORED: Final = frozenset({"blank_properties", "properties_too_large"})
# The limits of the store's queues (FORMAT.md 1).
_QUEUE_ID_MAX: Final = 65_535
_QUEUE_ID_LENGTH_MAX: Final = 10

log = structlog.get_logger()


def deliver_delayed(
    store: Store,
    arrived: Callable[[Iterable[tuple[str, int, int]]], None],
    log_position: int,
    record: Record | None,
    *,
    is_former: Callable[[str, int], bool] = lambda _topic, _position: False,
    is_being_deleted: Callable[[str], bool] = lambda _: False,
    find_block: Callable[[], str | None] = lambda: None,
    find_queue: Callable[[str, int], int | None] = lambda _topic, queue_id: queue_id,
) -> None:
    """Copy a delayed message to its real queue; its properties stay unchanged.

    The copy names the message that it delivers, in the field that otherwise names the half message
    of a transaction. So a delivery and its progress are one record (D14). A message that can never
    be delivered is reported and skipped; otherwise it would block its level. A message to a topic
    that was deleted and created again since is also skipped. The last function gives the queue that
    takes the message in the place of one whose messages go elsewhere (H-10).

    Raises:
        StoreError: the store refuses for now.
        NotYet: the topic is being deleted, and its queues are about to start again; or no queue of
            the topic takes messages here; or this broker takes none now, for the reason that
            `find_block` returns.
    """
    block = find_block()
    if block is not None:
        raise NotYet(block)
    if record is None:
        return
    topic = record.properties.get(REAL_TOPIC)
    queue_id = _queue_id_of(record.properties.get(REAL_QUEUE_ID, ""))
    is_real = topic != HALF_TOPIC and not is_state_topic(topic or "")
    if not topic or not is_real or queue_id is None:
        log.error("delayed_message_discarded", log_position=log_position, topic=topic)
        return
    if is_being_deleted(topic):
        raise NotYet(f"the topic {topic} is being deleted")
    if is_former(topic, log_position):
        log.info("delayed_message_of_deleted_topic", log_position=log_position, topic=topic)
        return
    taker = find_queue(topic, queue_id)
    if taker is None:
        raise NotYet(f"no queue of the static topic {topic} takes messages here")
    queue_id = taker
    try:
        # The checksum of the copied record would be wrong for the copy.
        properties = encode_properties({k: v for k, v in record.properties.items() if k != CRC})
        appended = store.append(
            topic,
            queue_id,
            record.body,
            properties,
            flag=record.flag,
            sys_flag=record.sys_flag,
            born_timestamp_ms=record.born_timestamp_ms,
            born_host=record.born_host,
            reconsume_times=record.reconsume_times,
            prepared_transaction_offset=log_position,
            store_host=record.store_host,
        )
    except (StoreError, ValueError) as error:
        # Too long: stock leaves out the last separator, and accepts one byte more.
        if isinstance(error, StoreError) and error.code not in _NEVER_STORED:
            raise
        log.error(  # noqa: TRY400 - the reason is complete
            "delayed_message_discarded", log_position=log_position, topic=topic, reason=str(error)
        )
        return
    arrived([(topic, queue_id, appended.queue_offset + 1)])


def _queue_id_of(text: str) -> int | None:
    """Parse the number of a queue; None for a number that no queue has, as in a log of stock."""
    is_number = text.isdecimal() and len(text) <= _QUEUE_ID_LENGTH_MAX
    return int(text) if is_number and int(text) <= _QUEUE_ID_MAX else None


def read_delayed(store: Store, log_position: int) -> Record | None:
    """Read a delayed message; report a damaged one, and return None.

    Raises:
        StoreError: the store refuses for now.
    """
    try:
        content = store.record(log_position)
        return decode_records(content)[0] if content else None
    except (StoreError, ProtocolError) as error:
        if isinstance(error, StoreError) and error.code != "corrupt":
            raise
        log.error(  # noqa: TRY400 - the reason is complete
            "delayed_message_damaged", log_position=log_position, reason=str(error)
        )
        return None
