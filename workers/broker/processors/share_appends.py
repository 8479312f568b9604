"""Append records of share queues for the members of a broker group; ours (4101, ADR 23)."""

from regent_engine import Command

from backend.remoting.command import answer
from backend.remoting.headers import decode_header, encode_header
from backend.remoting.headers.shares import SharesAppendedHeader, ShareStateAppendHeader
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.requests.caller import Caller
from workers.broker.requests.serving import serves


@serves(
    RequestCode.SHARE_STATE_APPEND,
    role=RequiredRole.MASTER_TAKES,
    passed_on=True,
    target=None,
)
async def on_share_state_append(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Judge the records of a member as sequencer, and append all of them or none.

    The answer waits until they are confirmed. A repeated request has the same answer.
    """
    header = decode_header(ShareStateAppendHeader, command.ext)
    own_name = broker.settings.broker_name
    if header.broker_name != own_name:
        reason = f"broker group {header.broker_name} is not {own_name}: check the addresses"
        raise Refusal(ResponseCode.INVALID_PARAMETER, reason)
    verdict, position = await broker.member_shares.append(header.broker_id, command.body or b"")
    appended = SharesAppendedHeader(verdict=verdict, position=position)
    return answer(command, ext=encode_header(appended))
