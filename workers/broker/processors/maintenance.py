"""What operators have done at once instead of at its hour (306, 329)."""

from regent_engine import Command

from backend.remoting.command import answer
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.caller import Caller
from workers.broker.errors import Refusal


def on_clean(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Have old segments deleted now, and the queue files that go with them.

    Answered at once, as by stock: the work goes on in the background.
    """
    if broker.damage is not None:
        raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, broker.damage.reason)
    broker.cleaner.ask()
    return answer(command)
