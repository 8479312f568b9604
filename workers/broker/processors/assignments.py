"""Allocate the queues of a topic to the clients of a group (remoting.md 2.3: 400, 401).

Clients that do not rebalance by themselves send this request. An answer without a list means that
the broker cannot answer now, and the client keeps its queues; an empty list takes all queues from
it.
"""

from typing import Final

from regent_engine import Command

from backend.domain.logical_queue.route import client_endpoints
from backend.domain.queue_allocation import AllocatedQueue, AllocationRule, allocate
from backend.remoting import java_json
from backend.remoting.bodies import (
    AssignedQueues,
    AssignmentQuestion,
    MessageQueue,
    QueueAssignment,
    RequestModeBody,
)
from backend.remoting.command import answer
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.rules.topic import RETRY_PREFIX
from workers.broker.broker import Broker
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.requests.caller import Caller
from workers.broker.requests.serving import serves
from workers.broker.routing.topic_routes import BrokerQueue, RouteUnknown
from workers.broker.tables.clients import BROADCASTING, CLUSTERING, message_model_of
from workers.broker.tables.topics import READABLE, permitted

PULL: Final = "PULL"
POP: Final = "POP"
_RULES: Final = {"AVG": AllocationRule.AVERAGE, "AVG_BY_CIRCLE": AllocationRule.CIRCLE}


@serves(RequestCode.QUERY_ASSIGNMENT, role=RequiredRole.ANY, passed_on=False, target=None)
async def on_query_assignment(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the queues of a topic that a client reads."""
    question = java_json.decode(command.body or b"{}", AssignmentQuestion)
    _check(question)
    queues = await _queues_of(broker, question.topic)
    mine = None if queues is None else await _share(broker, question, queues)
    if mine is None:
        return answer(command, body=java_json.encode(AssignedQueues()))
    assigned = [
        QueueAssignment(
            message_queue=MessageQueue(
                broker_name=broker_name, queue_id=queue_id, topic=question.topic
            ),
            mode=PULL,
        )
        for broker_name, queue_id in mine
    ]
    return answer(command, body=java_json.encode(AssignedQueues(queues=assigned)))


@serves(RequestCode.SET_MESSAGE_REQUEST_MODE, role=RequiredRole.ANY, passed_on=False, target=None)
def on_set_request_mode(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Accept the mode in which a group receives messages: pull is the only one."""
    order = java_json.decode(command.body or b"{}", RequestModeBody)
    if not (order.topic and order.consumer_group):
        raise Refusal(ResponseCode.INVALID_PARAMETER, "the topic or the consumer group is missing")
    if order.topic.startswith(RETRY_PREFIX):
        raise Refusal(ResponseCode.NO_PERMISSION, "retry topic is not allowed to set mode")
    if order.mode == POP:
        raise Refusal(
            ResponseCode.NO_PERMISSION,
            f"this broker does not serve POP: group {order.consumer_group} reads topic "
            f"{order.topic} with PULL",
        )
    if order.mode != PULL:
        raise Refusal(
            ResponseCode.INVALID_PARAMETER, f"the mode {order.mode} is unknown: it is PULL or POP"
        )
    broker.find_topic(order.topic)
    broker.check_group_exists(order.consumer_group)
    return answer(command)


def _check(question: AssignmentQuestion) -> None:
    if not (question.topic and question.consumer_group and question.client_id):
        raise Refusal(
            ResponseCode.INVALID_PARAMETER,
            "the topic, the consumer group or the client id is missing",
        )
    model = message_model_of(question.message_model)
    if model not in {CLUSTERING, BROADCASTING}:
        raise Refusal(
            ResponseCode.INVALID_PARAMETER,
            f"the message model {model} is unknown: it is {CLUSTERING} or {BROADCASTING}",
        )
    if model == CLUSTERING and question.strategy_name not in _RULES:
        # Stock answers with an error code: the client has no queues, and logs nothing.
        known = " and ".join(_RULES)
        raise Refusal(
            ResponseCode.INVALID_PARAMETER,
            f"this broker does not know the strategy {question.strategy_name}: it knows {known}",
        )


async def _queues_of(broker: Broker, topic: str) -> tuple[BrokerQueue, ...] | None:
    """Return the readable queues of all brokers; without name servers, those of this broker."""
    if broker.name_servers is None or broker.name_servers.is_none:
        config = broker.topics.find(topic)
        if config is None:
            return None
        is_readable = permitted(config, broker.settings.permissions) & READABLE
        static = broker.static_topics.find(topic)
        if static is not None and is_readable:
            own = {broker.settings.broker_name: static.mapping.registered}
            return tuple(sorted(client_endpoints(own)))
        count = config.read_queue_count if is_readable else 0
        return tuple((broker.settings.broker_name, queue_id) for queue_id in range(count))
    try:
        return await broker.routes.readable_queues(topic, broker.name_servers)
    except RouteUnknown:
        return None


async def _share(
    broker: Broker, question: AssignmentQuestion, queues: tuple[BrokerQueue, ...]
) -> tuple[BrokerQueue, ...] | None:
    """Return the queues of one client; None while the broker knows no client of the group."""
    model = message_model_of(question.message_model)
    if model == BROADCASTING or not broker.settings.deals_queues_out:
        return queues
    client_ids = await broker.member_lists.find(question.consumer_group)
    if client_ids is None:
        return None
    allocation = allocate(
        [AllocatedQueue(*queue) for queue in queues],
        client_ids,
        _RULES[question.strategy_name or ""],
    )
    mine = allocation.get(question.client_id, ())
    return tuple((queue.broker_group_name, queue.queue_id) for queue in mine)
