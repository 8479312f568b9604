"""End transactions: make their messages visible, or drop them (remoting.md 2.5: 37, 323).

The hot path of the engine decides ordinary transactions of this master. The rest comes here.

Operators list the pending transactions, and decide one whose producer is gone (7018, 7019).
"""

from collections.abc import Awaitable, Mapping
from functools import partial
from typing import Final

import structlog
from regent_engine import (
    IN_MEMORY_BYTES,
    Appended,
    Command,
    Pending,
    ProtocolError,
    Record,
    StoreError,
    offset_message_id,
    parse_offset_message_id,
)

from backend.remoting import java_json
from backend.remoting.bodies.transactions import PendingTransactionBody, PendingTransactionsBody
from backend.remoting.command import answer
from backend.remoting.headers import EndTransactionHeader, ResumeCheckHeader, decode_header
from backend.remoting.headers.transactions import DecideTransactionHeader, PendingTransactionsHeader
from backend.remoting.names import HALF_TOPIC, TRANSACTION_CHECK_TOPIC
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.acting.decisions import DECISION, ESCAPED_AS, Decisions
from workers.broker.acting.escapes import Escapes
from workers.broker.acting.outbox import Kind
from workers.broker.broker import Broker
from workers.broker.commit_log.message import REAL_QUEUE_ID, REAL_TOPIC, UNIQUE_KEY, Message
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.requests.caller import Caller
from workers.broker.requests.fence_target import FenceTarget
from workers.broker.requests.serving import serves
from workers.broker.transactions.half_message import (
    COMMITTED,
    IMMUNITY_S,
    PRODUCER_GROUP,
    TRANSACTION_BITS,
    check_count_of,
    committed,
    immunity_ms_of,
    resumed,
)
from workers.broker.transactions.pending import first_position_of, read_record

ROLLED_BACK: Final = TRANSACTION_BITS
LISTED_COUNT_MAX: Final = 1_000
"""The pending transactions that one answer has: the oldest ones."""

_ELSEWHERE: Final = "the half message is at another broker group, which asks its producer"
_NOT_PENDING: Final = "the transaction is not pending: it was committed, rolled back or given up"

log = structlog.get_logger()


@serves(RequestCode.END_TRANSACTION, role=RequiredRole.ANY, passed_on=True, target=None)
def on_end_transaction(
    broker: Broker, _caller: Caller, command: Command
) -> Awaitable[bytes] | None:
    """Commit or roll back a transaction; a producer that does not know yet gets no answer."""
    header = decode_header(EndTransactionHeader, command.ext)
    if header.decision not in {COMMITTED, ROLLED_BACK}:
        return None
    decisions, escapes = broker.membership.decisions, broker.membership.escapes
    if decisions is not None and escapes is not None:
        return _keep_decision(broker, command, header, decisions, escapes)
    broker.check_writable()
    return _end(broker, command, header)


async def _keep_decision(
    broker: Broker,
    command: Command,
    header: EndTransactionHeader,
    decisions: Decisions,
    escapes: Escapes,
) -> bytes:
    """Keep a decision for the absent master of the group; it is on the disk with the answer.

    The message of a commit escapes to another broker group, if that is switched on.
    """
    half = await _read(broker, header.log_position)
    _check(broker, header, half)
    assert half is not None, "checked"
    # Copies of a half message are one transaction.
    position = first_position_of(broker.store, half)
    if position not in decisions.kept and await broker.transactions.find(half) is None:
        raise Refusal(ResponseCode.SYSTEM_ERROR, _NOT_PENDING)
    kept = decisions.kept.get(position)
    if kept is not None:
        _check_kept(kept, header)
        await decisions.save()
        return answer(command)
    if broker.membership.decisions is None:
        # The role has changed during the wait.
        broker.check_writable()
    if not escapes.withdraw(position):
        raise Refusal(ResponseCode.SYSTEM_BUSY, _ELSEWHERE)
    # The master takes it however late it comes.
    await decisions.keep(position, command.ext | {"fromTransactionCheck": "true"})
    escapes.take_decision(position)
    return answer(command)


def _check_kept(kept: Mapping[str, str], header: EndTransactionHeader) -> None:
    """Check that the same decision of a transaction is kept.

    Raises:
        Refusal: it is another one, or another broker group decides.
    """
    match kept.get(ESCAPED_AS):
        case None:
            decision = int(kept[DECISION])
        case Kind.COMMITTED:
            decision = COMMITTED
        case _:
            raise Refusal(ResponseCode.SYSTEM_ERROR, _ELSEWHERE)
    if decision != header.decision:
        reason = "another decision of this transaction waits for the master of the group"
        raise Refusal(ResponseCode.SYSTEM_ERROR, reason)


async def _end(broker: Broker, command: Command, header: EndTransactionHeader) -> bytes:
    half = await _read(broker, header.log_position)
    _check(broker, header, half)
    assert half is not None, "checked"
    found = await broker.transactions.find(half)
    # The role may have changed during the wait.
    broker.check_writable()
    if found is None:
        raise Refusal(ResponseCode.SYSTEM_ERROR, _NOT_PENDING)
    pending, newest = found
    commits = header.decision == COMMITTED
    return await _decide(broker, command, newest, pending, commits=commits)


async def _decide(
    broker: Broker, command: Command, half: Record, pending: Pending, *, commits: bool
) -> bytes:
    instead = _committed(broker, half) if commits else []
    appended = broker.transactions.decide(half, pending, instead)
    return await _answer_when_stored(broker, command, appended)


async def _answer_when_stored(broker: Broker, command: Command, appended: Appended) -> bytes:
    late = answer(command, code=ResponseCode.FLUSH_DISK_TIMEOUT)
    end = appended.log_position + appended.size
    return await broker.membership.stored(end, answer(command), late)


async def _read(broker: Broker, log_position: int) -> Record | None:
    read = partial(read_record, broker.store, log_position)
    try:
        if broker.store.max_position - log_position < IN_MEMORY_BYTES:
            return read()
        return await broker.read_threads.read(read)
    except (StoreError, ProtocolError) as error:
        raise Refusal(
            ResponseCode.SYSTEM_ERROR, f"no message is at log position {log_position}"
        ) from error


def _check(broker: Broker, header: EndTransactionHeader, half: Record | None) -> None:
    """Check that a request names a half message of its producer group.

    Raises:
        Refusal: it does not, or it comes too late.
    """
    if half is None or half.topic != HALF_TOPIC:
        reason = f"no half message is at log position {header.log_position}"
        raise Refusal(ResponseCode.SYSTEM_ERROR, reason)
    if half.properties.get(PRODUCER_GROUP) != header.producer_group:
        reason = f"the half message is not of the producer group {header.producer_group}"
        raise Refusal(ResponseCode.SYSTEM_ERROR, reason)
    if half.queue_offset != header.queue_offset:
        reason = f"the half message is at queue offset {half.queue_offset}"
        raise Refusal(ResponseCode.SYSTEM_ERROR, f"{reason}, not {header.queue_offset}")
    timeout_ms = broker.settings.transaction_timeout_ms
    immunity_ms = max(timeout_ms, immunity_ms_of(half.properties, timeout_ms))
    age_ms = broker.clock() - half.born_timestamp_ms
    if IMMUNITY_S in half.properties and not header.from_check and age_ms > immunity_ms:
        reason = f"{age_ms} ms after its send: the producer is asked from {immunity_ms} ms on"
        raise Refusal(ResponseCode.ILLEGAL_OPERATION, f"the transaction is ended {reason}")


def _committed(broker: Broker, half: Record) -> list[Message]:
    """Return the message that consumers see; none for a topic that was deleted meanwhile.

    Raises:
        Refusal: the topic takes no message now.
    """
    topic_name, text = half.properties.get(REAL_TOPIC), half.properties.get(REAL_QUEUE_ID, "")
    if not topic_name or not text.isdecimal():
        raise Refusal(ResponseCode.SYSTEM_ERROR, "the half message names no topic and queue")
    target = broker.find_target(topic_name, int(text), half.log_position)
    if target is None:
        raise Refusal(ResponseCode.SYSTEM_BUSY, f"the topic[{topic_name}] takes no messages now")
    queue_id, void_before = target
    if half.log_position < void_before:
        log.info("transaction_of_deleted_topic", topic_name=topic_name)
        return []
    return [broker.turn_aside(committed(half, topic=topic_name, queue_id=queue_id))]


@serves(RequestCode.RESUME_CHECK_HALF_MESSAGE, role=RequiredRole.ANY, passed_on=True, target=None)
async def on_resume_check(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Ask the producer of a message again that was given up."""
    header = decode_header(ResumeCheckHeader, command.ext)
    broker.check_writable()
    position = _parse(header.message_id)
    record = await _read(broker, position)
    if record is None or record.topic != TRANSACTION_CHECK_TOPIC:
        reason = f"{header.message_id} is no message of {TRANSACTION_CHECK_TOPIC}"
        raise Refusal(ResponseCode.SYSTEM_ERROR, reason)
    find = partial(broker.store.copied_positions, TRANSACTION_CHECK_TOPIC, position)
    if position in await broker.read_threads.read(find):
        reason = f"the checks of {header.message_id} were resumed before"
        raise Refusal(ResponseCode.SYSTEM_ERROR, reason)
    return await _answer_when_stored(broker, command, broker.transactions.begin(resumed(record)))


@serves(
    RequestCode.GET_PENDING_TRANSACTIONS, role=RequiredRole.READABLE, passed_on=True, target=None
)
async def on_get_pending(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the oldest pending transactions, or those with an id; the master answers."""
    broker.check_writable()
    wanted = decode_header(PendingTransactionsHeader, command.ext).transaction_id
    table = await broker.transactions.pending()
    chosen = [one for one in table if wanted in (None, one[1].transaction_id)]
    oldest = chosen[:LISTED_COUNT_MAX]
    read = partial(_read_newest, broker)
    records = await broker.read_threads.read_each(read, [one for _, one in oldest])
    listed = [
        _described(broker, first_offset, half)
        for (first_offset, _), half in zip(oldest, records, strict=True)
        if half is not None
    ]
    body = PendingTransactionsBody(total_count=len(chosen), transactions=listed)
    return answer(command, body=java_json.encode(body))


def _read_newest(broker: Broker, pending: Pending) -> Record | None:
    return read_record(broker.store, pending.log_position)


def _described(broker: Broker, first_offset: int, half: Record) -> PendingTransactionBody:
    group = half.properties.get(PRODUCER_GROUP, "")
    queue_id = half.properties.get(REAL_QUEUE_ID, "")
    return PendingTransactionBody(
        first_offset=first_offset,
        transaction_id=half.properties.get(UNIQUE_KEY, ""),
        producer_group=group,
        topic=half.properties.get(REAL_TOPIC, ""),
        queue_id=int(queue_id) if queue_id.isdecimal() else 0,
        born_ms=half.born_timestamp_ms,
        age_ms=broker.clock() - half.born_timestamp_ms,
        check_count=check_count_of(half.properties),
        message_id=offset_message_id(*half.store_host, half.log_position),
        body_size=len(half.body),
        producer_count=len(broker.producers.find(group) or ()),
    )


def _decision_target(broker: Broker, command: Command) -> FenceTarget:
    header = decode_header(DecideTransactionHeader, command.ext)

    async def read() -> dict[str, str | bool]:
        found = await _find(broker, header)
        return {"transactionId": header.transaction_id, "isPending": found is not None}

    return FenceTarget(f"transaction {header.transaction_id}", read, is_own=False)


@serves(
    RequestCode.DECIDE_TRANSACTION,
    role=RequiredRole.MASTER_CHANGES,
    passed_on=True,
    target=_decision_target,
)
async def on_decide(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Commit or roll back a pending transaction, as an operator ordered."""
    header = decode_header(DecideTransactionHeader, command.ext)
    broker.check_writable()
    found = await _find(broker, header)
    if found is None:
        reason = f"the transaction {header.transaction_id} is not pending any more"
        raise Refusal(ResponseCode.ILLEGAL_OPERATION, reason)
    pending, half = found
    return await _decide(broker, command, half, pending, commits=header.commits)


async def _find(broker: Broker, header: DecideTransactionHeader) -> tuple[Pending, Record] | None:
    pending = (await broker.transactions.pending()).find(header.first_offset)
    half = None if pending is None else _read_newest(broker, pending)
    if pending is None or half is None:
        return None
    is_meant = half.properties.get(UNIQUE_KEY) == header.transaction_id
    return (pending, half) if is_meant else None


def _parse(message_id: str) -> int:
    try:
        return parse_offset_message_id(message_id)[2]
    except ValueError as error:
        reason = f"{message_id!r} is no offset message id"
        raise Refusal(ResponseCode.SYSTEM_ERROR, reason) from error
