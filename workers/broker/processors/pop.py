"""Refuse POP, which this broker does not serve (remoting.md 2.4)."""

from regent_engine import Command

from backend.remoting.request_code import RequestCode
from workers.broker.broker import Broker
from workers.broker.group.required_role import RequiredRole
from workers.broker.logical.led_queue import check_dynamic
from workers.broker.requests.caller import Caller
from workers.broker.requests.serving import refuse_unknown, serves


@serves(
    RequestCode.POP_MESSAGE,
    RequestCode.PEEK_MESSAGE,
    RequestCode.NOTIFICATION,
    RequestCode.POLLING_INFO,
    role=RequiredRole.ANY,
    passed_on=False,
    target=None,
)
def on_pop(broker: Broker, caller: Caller, command: Command) -> bytes:
    """Refuse: on a static topic no broker serves POP (logical-queues.md 20)."""
    check_dynamic(broker, command.ext.get("topic", ""))
    return refuse_unknown(broker, caller, command)
