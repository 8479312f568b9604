"""Report what escapes to other broker groups, and what has escaped (our 7024, 7025)."""

import struct
from bisect import bisect_right
from typing import Final

from regent_engine import Command

from backend.remoting import java_json
from backend.remoting.bodies.outbox import OutboxBody
from backend.remoting.command import answer
from backend.remoting.headers import decode_header
from backend.remoting.headers.replication import EscapedHeader
from backend.remoting.request_code import RequestCode
from workers.broker.broker import Broker
from workers.broker.group.required_role import RequiredRole
from workers.broker.requests.caller import Caller
from workers.broker.requests.serving import serves

PAGE_COUNT: Final = 500_000
"""The log positions of one answer, of 8 bytes each."""


@serves(RequestCode.GET_OUTBOX, role=RequiredRole.ANY, passed_on=False, target=None)
def on_get_outbox(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return what waits for a master of another broker group; only a replica that acts has some."""
    escapes = broker.membership.escapes
    body = (
        OutboxBody(is_open=False, escaped_count=0, entry_count=0)
        if escapes is None
        else escapes.describe()
    )
    return answer(command, body=java_json.encode(body))


@serves(RequestCode.GET_ESCAPED, role=RequiredRole.ANY, passed_on=False, target=None)
def on_get_escaped(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return to a member of the group which of its messages wait no more, a page at a time."""
    after = decode_header(EscapedHeader, command.ext).after
    positions = broker.escaped.sorted()
    first = bisect_right(positions, after)
    page = positions[first : first + PAGE_COUNT]
    return answer(command, body=struct.pack(f">{len(page)}q", *page))
