"""Maintenance that operators order immediately (306, 316, 329)."""

from collections.abc import Awaitable

from regent_engine import Command

from backend.remoting.command import answer
from backend.remoting.names import is_system_topic
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.rules.topic import LIGHT_QUEUE_PREFIX
from workers.broker.broker import Broker
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.requests.caller import Caller
from workers.broker.requests.fence_target import FenceTarget
from workers.broker.requests.safe_answers import kept
from workers.broker.requests.serving import serves


@serves(
    RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE,
    RequestCode.DELETE_EXPIRED_COMMITLOG,
    role=RequiredRole.ANY,
    passed_on=False,
    target=None,
)
def on_clean(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Delete old segments now, and the queue files that belong to them.

    The answer is immediate, as in stock: the work continues in the background.
    """
    if broker.damage is not None:
        raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, broker.damage.reason)
    broker.cleaner.ask()
    return answer(command)


def _unused_target(broker: Broker, _command: Command) -> FenceTarget:
    return FenceTarget("queues without a topic", lambda: queues_without_topic(broker), is_own=False)


@serves(
    RequestCode.CLEAN_UNUSED_TOPIC,
    role=RequiredRole.READABLE,
    passed_on=False,
    target=_unused_target,
)
def on_clean_unused(broker: Broker, _caller: Caller, command: Command) -> Awaitable[bytes] | bytes:
    """Delete queues without a topic, as stock does; an empty topic stays.

    Other brokers of a group lose theirs with the log of their master, so the request has no effect
    there.
    """
    if broker.topics.is_following:
        return answer(command)
    broker.check_changeable()
    for name in queues_without_topic(broker):
        broker.topics.note_gone(name)
        broker.remove_topic(name)
    return kept(broker, answer(command))


def queues_without_topic(broker: Broker) -> list[str]:
    """Return the topics of queues that belong to no topic of a user, and to none being deleted.

    Light queues have no topic.
    """
    names = {name for name, _, _, _ in broker.store.queues()}
    return sorted(
        name
        for name in names
        if broker.topics.find(name) is None
        and broker.topics.find_left_out(name) is None
        and not is_system_topic(name)
        and not name.startswith(LIGHT_QUEUE_PREFIX)
        and not broker.changes.is_being_deleted(name)
    )
