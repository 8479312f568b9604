"""Find the processor of a request, and turn whatever it raises into an answer.

This is the one place with a broad `except`: a fault in one processor must not end a connection.
"""

from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from typing import Final

import structlog
from regent_engine import Command, StoreError

from backend.remoting.command import answer
from backend.remoting.headers import InvalidHeader
from backend.remoting.headers.fencing import FENCE_FIELD
from backend.remoting.java_json import InvalidJson
from backend.remoting.names import InvalidName
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.caller import Caller
from workers.broker.errors import Refusal, Unconfirmed
from workers.broker.fenced_changes import carry_out
from workers.broker.processors import (
    assignments,
    clients,
    configuration,
    groups,
    inspection,
    locks,
    maintenance,
    offsets,
    pulling,
    replication,
    resets,
    send_back,
    sending,
    topics,
    traffic,
)

log = structlog.get_logger()

Outcome = bytes | None | Awaitable[bytes]
Processor = Callable[[Broker, Caller, Command], Outcome]

PROCESSORS: Final[Mapping[int, Processor]] = {
    RequestCode.SEND_MESSAGE: sending.on_send,
    RequestCode.SEND_MESSAGE_V2: sending.on_send,
    RequestCode.SEND_BATCH_MESSAGE: sending.on_send,
    RequestCode.CONSUMER_SEND_MSG_BACK: send_back.on_send_back,
    RequestCode.PULL_MESSAGE: pulling.on_pull,
    RequestCode.LITE_PULL_MESSAGE: pulling.on_pull,
    RequestCode.QUERY_CONSUMER_OFFSET: offsets.on_query_consumer_offset,
    RequestCode.UPDATE_CONSUMER_OFFSET: offsets.on_update_consumer_offset,
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: offsets.on_search_offset,
    RequestCode.GET_MAX_OFFSET: offsets.on_get_max_offset,
    RequestCode.GET_MIN_OFFSET: offsets.on_get_min_offset,
    RequestCode.GET_EARLIEST_MSG_STORETIME: offsets.on_get_earliest_store_time,
    RequestCode.HEART_BEAT: clients.on_heartbeat,
    RequestCode.UNREGISTER_CLIENT: clients.on_unregister_client,
    RequestCode.GET_CONSUMER_LIST_BY_GROUP: clients.on_get_consumer_list,
    RequestCode.CHECK_CLIENT_CONFIG: clients.on_check_client,
    RequestCode.GET_CONSUMER_CONNECTION_LIST: clients.on_get_consumer_connections,
    RequestCode.GET_PRODUCER_CONNECTION_LIST: clients.on_get_producer_connections,
    RequestCode.GET_ALL_PRODUCER_INFO: clients.on_get_all_producers,
    RequestCode.GET_CLIENTS: clients.on_get_clients,
    RequestCode.QUERY_ASSIGNMENT: assignments.on_query_assignment,
    RequestCode.SET_MESSAGE_REQUEST_MODE: assignments.on_set_request_mode,
    RequestCode.GET_MEMBERSHIPS: clients.on_get_memberships,
    RequestCode.LOCK_BATCH_MQ: locks.on_lock_queues,
    RequestCode.UNLOCK_BATCH_MQ: locks.on_unlock_queues,
    RequestCode.GET_QUEUE_LOCKS: locks.on_get_locks,
    RequestCode.RELEASE_QUEUE_LOCKS: locks.on_release_locks,
    RequestCode.GET_QUEUE_READERS: locks.on_get_readers,
    RequestCode.UPDATE_AND_CREATE_TOPIC: topics.on_create_topic,
    RequestCode.DELETE_TOPIC_IN_BROKER: topics.on_delete_topic,
    RequestCode.GET_TOPIC_CONFIG: topics.on_get_topic_config,
    RequestCode.GET_ALL_TOPIC_CONFIG: topics.on_get_all_topics,
    RequestCode.GET_TOPIC_STATS_INFO: topics.on_get_topic_stats,
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER: topics.on_get_system_topics,
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: groups.on_put_group,
    RequestCode.DELETE_SUBSCRIPTIONGROUP: groups.on_delete_group,
    RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG: groups.on_get_group,
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: groups.on_get_all_groups,
    RequestCode.GET_CONSUME_STATS: groups.on_get_consume_stats,
    RequestCode.GET_BROKER_CONSUME_STATS: groups.on_get_all_consume_stats,
    RequestCode.QUERY_CONSUME_TIME_SPAN: groups.on_get_time_spans,
    RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: groups.on_get_groups_of_topic,
    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET: resets.on_reset_offset,
    RequestCode.UPDATE_BROKER_CONFIG: configuration.on_update_config,
    RequestCode.GET_BROKER_CONFIG: configuration.on_get_config,
    RequestCode.GET_BROKER_PROPERTIES: configuration.on_get_properties,
    RequestCode.GET_BROKER_RUNTIME_INFO: inspection.on_get_runtime_info,
    RequestCode.VIEW_BROKER_STATS_DATA: traffic.on_view_stats,
    RequestCode.QUERY_MESSAGE: inspection.on_query_message,
    RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE: maintenance.on_clean,
    RequestCode.DELETE_EXPIRED_COMMITLOG: maintenance.on_clean,
    RequestCode.CLEAN_UNUSED_TOPIC: maintenance.on_clean_unused,
    RequestCode.VIEW_MESSAGE_BY_ID: inspection.on_view_message,
    RequestCode.GET_BROKER_SAMPLE: inspection.on_get_sample,
    RequestCode.GET_ALL_CONSUMER_OFFSET: replication.on_get_consumer_offsets,
    RequestCode.GET_ALL_DELAY_OFFSET: replication.on_get_delay_offsets,
    RequestCode.GET_ALL_MESSAGE_REQUEST_MODE: replication.on_get_request_modes,
    RequestCode.GET_BROKER_EPOCH_CACHE: replication.on_get_epochs,
    RequestCode.EXCHANGE_BROKER_HA_INFO: replication.on_exchange_ha_info,
    RequestCode.GET_BROKER_HA_STATUS: replication.on_get_ha_status,
    RequestCode.HAND_OVER: replication.on_hand_over,
}

_FAULTS: Final[tuple[tuple[type[Exception], ResponseCode], ...]] = (
    (InvalidHeader, ResponseCode.SYSTEM_ERROR),
    (InvalidJson, ResponseCode.SYSTEM_ERROR),
    (InvalidName, ResponseCode.INVALID_PARAMETER),
    # State files that cannot be written, above all on a full disk.
    (OSError, ResponseCode.SERVICE_NOT_AVAILABLE),
)
_STORE_FAULTS: Final = {
    "illegal_message": ResponseCode.MESSAGE_ILLEGAL,
    "properties_too_large": ResponseCode.MESSAGE_ILLEGAL,
    "blank_properties": ResponseCode.MESSAGE_ILLEGAL,
    "corrupt": ResponseCode.SYSTEM_ERROR,
    # To ask the same again would take as long.
    "search_too_long": ResponseCode.SYSTEM_ERROR,
    "index_behind": ResponseCode.SYSTEM_BUSY,
}


class Dispatcher:
    """Serves the requests of every connection of one broker."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def dispatch(self, caller: Caller, command: Command) -> Outcome:
        """Serve a request as far as it goes at once; the awaitable, if any, never raises."""
        try:
            group = self._broker.replication
            passage = None if group is None else group.passing.take(command)
            outcome: Outcome
            if passage is None:
                outcome = self._serve(caller, command)
            else:
                outcome = self._pass_on(caller, command, passage)
        except Exception as error:  # noqa: BLE001 - see above
            return _explain(command, error)
        if outcome is None or isinstance(outcome, bytes):
            return outcome
        return _finish(command, outcome)

    def _serve(self, caller: Caller, command: Command) -> Outcome:
        if self._broker.replication is not None:
            self._broker.replication.check(command.code)
        processor = PROCESSORS.get(command.code, _on_unknown)
        if FENCE_FIELD in command.ext:
            return carry_out(self._broker, caller, command, processor)
        return processor(self._broker, caller, command)

    async def _pass_on(
        self, caller: Caller, command: Command, passage: Awaitable[bytes | None]
    ) -> bytes:
        """Give the answer of the group's master, which by then may be this broker."""
        reply = await passage
        if reply is not None:
            return reply
        outcome = self._serve(caller, command)
        if isawaitable(outcome):
            outcome = await outcome
        return outcome or b""


def _on_unknown(_broker: Broker, _caller: Caller, command: Command) -> bytes:
    return answer(
        command,
        code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
        remark=f"request type {command.code} not supported",
    )


async def _finish(command: Command, outcome: Awaitable[bytes]) -> bytes:
    try:
        return await outcome
    except Exception as error:  # noqa: BLE001 - see above
        return _explain(command, error)


def _explain(command: Command, error: Exception) -> bytes:
    if isinstance(error, Refusal | Unconfirmed):
        return answer(command, code=error.code, remark=str(error))
    if isinstance(error, StoreError):
        code = _STORE_FAULTS.get(error.code, ResponseCode.SERVICE_NOT_AVAILABLE)
        log.warning("store_refused", request_code=command.code, code=error.code, reason=str(error))
        return answer(command, code=code, remark=f"{error.code}: {error}")
    for kind, code in _FAULTS:
        if isinstance(error, kind):
            return answer(command, code=code, remark=str(error))
    log.error("request_failed", request_code=command.code, exc_info=error)
    return answer(
        command, code=ResponseCode.SYSTEM_ERROR, remark=f"internal error: {type(error).__name__}"
    )
