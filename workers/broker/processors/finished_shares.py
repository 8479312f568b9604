"""Give a member of the group what consumers finished at another one (our 7034, 7035).

A master that returns asks each replica (7034), and so does a replica that acts next. A replica
gives its master the rest (7035).
"""

from typing import Final

from regent_engine import Command

from backend.remoting import java_json
from backend.remoting.bodies.shares import FinishedSharesBody
from backend.remoting.command import answer
from backend.remoting.headers import decode_header
from backend.remoting.headers.shares import FinishedSharesHeader
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.requests.caller import Caller
from workers.broker.requests.serving import serves

_NOT_LEADING: Final = "this broker does not own the share queues of its group now"


@serves(RequestCode.GET_FINISHED_SHARES, role=RequiredRole.ANY, passed_on=False, target=None)
def on_get_finished_shares(broker: Broker, caller: Caller, command: Command) -> bytes:
    """Return what this broker keeps of share queues since no log has it, a page at a time."""
    header = decode_header(FinishedSharesHeader, command.ext)
    after = header.after_topic, header.after_queue_id, header.after_consumer_group
    page = broker.shares.finished.page(after)
    if not page:
        broker.last_copies.note_shares(caller)
    return answer(command, body=java_json.encode(FinishedSharesBody(shares=page)))


@serves(
    RequestCode.TAKE_FINISHED_SHARES, role=RequiredRole.MASTER_TAKES, passed_on=False, target=None
)
async def on_take_finished_shares(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Finish in the log what consumers finished at a replica, and answer once that is safe."""
    sent = java_json.decode(command.body or b"{}", FinishedSharesBody)
    if not broker.shares.is_leading or broker.shares.is_acting:
        raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, _NOT_LEADING)
    await broker.shares.take_over(sent.shares)
    late = answer(command, code=ResponseCode.SYSTEM_BUSY, remark="FLUSH_DISK_TIMEOUT")
    return await broker.membership.stored(broker.hot.shares_end, answer(command), late)
