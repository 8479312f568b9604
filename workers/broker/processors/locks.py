"""Give out and take back the locks of ordered consumption (remoting.md 2.3: 41, 42)."""

from regent_engine import Command

from backend.remoting import java_json
from backend.remoting.bodies import LockBody, LockedBody
from backend.remoting.command import answer
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.caller import Caller
from workers.broker.errors import Refusal


def on_lock_queues(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Lock queues for a client and name those it now holds."""
    wish = _wish(command)
    held = broker.locks.lock(
        wish.consumer_group,
        client_id=wish.client_id,
        queues=wish.queues,
        now_ms=broker.clock(),
    )
    return answer(command, body=java_json.encode(LockedBody(queues=held)))


def on_unlock_queues(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Free the queues that a client gives back."""
    wish = _wish(command)
    broker.locks.unlock(wish.consumer_group, client_id=wish.client_id, queues=wish.queues)
    return answer(command)


def _wish(command: Command) -> LockBody:
    wish = java_json.decode(command.body or b"{}", LockBody)
    for name, value in (("clientId", wish.client_id), ("consumerGroup", wish.consumer_group)):
        if not value:
            raise Refusal(ResponseCode.SYSTEM_ERROR, f"the field {name} is missing")
    return wish
