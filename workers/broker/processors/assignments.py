"""Allocate the queues of a topic to the clients of a group (remoting.md 2.3: 400, 401).

Clients that do not rebalance by themselves send this request. An answer without a list means that
the broker cannot answer now, and the client keeps its queues; an empty list takes all queues from
it.
"""

from collections.abc import Sequence
from typing import Final

from regent_engine import Command

from backend.domain.logical_queue.route import NO_BROKER, client_endpoints
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
from workers.broker.requests.fence_target import FenceTarget
from workers.broker.requests.safe_answers import kept
from workers.broker.requests.serving import serves
from workers.broker.routing.topic_routes import BrokerQueue, RouteUnknown
from workers.broker.tables.clients import BROADCASTING, CLUSTERING, message_model_of
from workers.broker.tables.topics import READABLE, permitted

PULL: Final = "PULL"
POP: Final = "POP"
ANY_QUEUE: Final = -1
_RULES: Final = {"AVG": AllocationRule.AVERAGE, "AVG_BY_CIRCLE": AllocationRule.CIRCLE}


@serves(RequestCode.QUERY_ASSIGNMENT, role=RequiredRole.ANY, passed_on=False, target=None)
async def on_query_assignment(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the queues of a topic that a client reads."""
    question = java_json.decode(command.body or b"{}", AssignmentQuestion)
    _check(question)
    order = broker.request_modes.find(question.topic, question.consumer_group)
    is_pop = order is not None and order.mode == POP
    queues = await _queues_of(broker, question.topic)
    if is_pop and queues is not None:
        queues = await _popped_queues(broker, question.topic, queues)
    shared_count = order.pop_share_queue_count if order is not None and is_pop else None
    mine = None if queues is None else await _share(broker, question, queues, shared_count)
    if mine is None:
        return answer(command, body=java_json.encode(AssignedQueues()))
    assigned = [
        QueueAssignment(
            message_queue=MessageQueue(
                broker_name=broker_name, queue_id=queue_id, topic=question.topic
            ),
            mode=POP if is_pop else PULL,
        )
        for broker_name, queue_id in mine
    ]
    return answer(command, body=java_json.encode(AssignedQueues(queues=assigned)))


def _mode_target(broker: Broker, command: Command) -> FenceTarget:
    order = java_json.decode(command.body or b"{}", RequestModeBody)
    topic, group = order.topic, order.consumer_group
    return FenceTarget(
        f"consume mode of group {group} in topic {topic}",
        lambda: broker.request_modes.find(topic, group),
        is_own=False,
    )


@serves(
    RequestCode.SET_MESSAGE_REQUEST_MODE,
    role=RequiredRole.MASTER_CHANGES,
    passed_on=True,
    target=_mode_target,
)
async def on_set_request_mode(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Set the mode in which a group receives the messages of a topic.

    A group that is unknown is created, if this broker creates groups (remoting.md 2.4).
    """
    order = java_json.decode(command.body or b"{}", RequestModeBody)
    if not (order.topic and order.consumer_group):
        raise Refusal(ResponseCode.INVALID_PARAMETER, "the topic or the consumer group is missing")
    if order.topic.startswith(RETRY_PREFIX):
        raise Refusal(ResponseCode.NO_PERMISSION, "retry topic is not allowed to set mode")
    if order.mode not in {PULL, POP}:
        raise Refusal(
            ResponseCode.INVALID_PARAMETER, f"the mode {order.mode} is unknown: it is PULL or POP"
        )
    broker.find_topic(order.topic)
    if order.mode == POP:
        broker.shares.stock_members.check()
    broker.check_changeable()
    broker.find_group(order.consumer_group)
    broker.request_modes.put(order)
    return await kept(broker, answer(command))


@serves(
    RequestCode.GET_ALL_MESSAGE_REQUEST_MODE, role=RequiredRole.ANY, passed_on=False, target=None
)
def on_get_request_modes(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the modes of all groups."""
    return answer(command, body=java_json.encode(broker.request_modes.as_body()))


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


async def _popped_queues(
    broker: Broker, topic: str, queues: tuple[BrokerQueue, ...]
) -> tuple[BrokerQueue, ...]:
    """Return where POPs go: a client asks the leader of a logical queue by its own name.

    Other broker groups of a static topic are asked for messages that come again by retry topics.
    """
    own, source = broker.settings.broker_name, broker.name_servers
    if source is None or source.is_none:
        static = broker.static_topics.find(topic)
        led = {} if static is None else static.mapping.registered.led
        return tuple((own, one) for one in sorted(led)) if static is not None else queues
    endpoints = await broker.routes.endpoints(topic, source)
    if not endpoints:
        return queues
    led_elsewhere = {
        (name, queue_id) for (_, queue_id), name in endpoints.items() if name != NO_BROKER
    }
    names = await broker.routes.broker_group_names(
        topic, source, cluster_name=broker.settings.cluster_name
    )
    rest = names - {name for name, _ in led_elsewhere}
    return tuple(sorted(led_elsewhere | {(name, ANY_QUEUE) for name in rest}))


async def _share(
    broker: Broker,
    question: AssignmentQuestion,
    queues: tuple[BrokerQueue, ...],
    shared_count: int | None,
) -> tuple[BrokerQueue, ...] | None:
    """Return the queues of one client; None while the broker knows no client of the group.

    With a number, for POP, each client also has the queues of so many clients after it.
    """
    model = message_model_of(question.message_model)
    if model == BROADCASTING or not broker.settings.deals_queues_out:
        return queues
    client_ids = await broker.member_lists.find(question.consumer_group)
    if client_ids is None:
        return None
    if shared_count is not None:
        return _share_pop(question, queues, sorted(client_ids), shared_count)
    return _allocated(question, queues, client_ids).get(question.client_id, ())


def _share_pop(
    question: AssignmentQuestion,
    queues: tuple[BrokerQueue, ...],
    client_ids: list[str],
    shared_count: int,
) -> tuple[BrokerQueue, ...]:
    """Return the queues of one client of POP, as stock's broker does (remoting.md 2.4: 400)."""
    if shared_count <= 0 or shared_count >= len(client_ids) - 1:
        # Every client takes messages of any queue.
        return tuple(dict.fromkeys((broker_name, ANY_QUEUE) for broker_name, _ in queues))
    if question.client_id not in client_ids:
        return ()
    at = client_ids.index(question.client_id)
    if len(client_ids) > len(queues):
        return (sorted(queues)[at % len(queues)],)
    allocated = _allocated(question, queues, client_ids)
    near = (client_ids[(at + step) % len(client_ids)] for step in range(shared_count + 1))
    return tuple(dict.fromkeys(queue for one in near for queue in allocated.get(one, ())))


def _allocated(
    question: AssignmentQuestion, queues: tuple[BrokerQueue, ...], client_ids: Sequence[str]
) -> dict[str, tuple[BrokerQueue, ...]]:
    allocation = allocate(
        [AllocatedQueue(*queue) for queue in queues],
        client_ids,
        _RULES[question.strategy_name or ""],
    )
    return {
        client_id: tuple((queue.broker_group_name, queue.queue_id) for queue in mine)
        for client_id, mine in allocation.items()
    }
