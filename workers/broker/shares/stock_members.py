"""Find members of the own broker group that are brokers of RocketMQ: then POP is refused (D30).

RocketMQ does not read which messages are finished here. Such a member would deliver finished
messages again as master. On the wire such a member looks as one of ours, so each member
is asked by a request that only ours know.
"""

from typing import TYPE_CHECKING, Final

import structlog

from backend.remoting.address import split_address
from backend.remoting.errors import RemotingError
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.requester import connect
from workers.broker.errors import Refusal
from workers.broker.routing.group_members import Members, ask_members

if TYPE_CHECKING:
    from workers.broker.broker import Broker

KNOWN_MS: Final = 10_000
"""Time after which a member is asked again: another program may have its address."""

log = structlog.get_logger()


class StockMembers:
    """The brokers of RocketMQ that this master has found in its group."""

    def __init__(self, broker: "Broker") -> None:
        """Take the broker; nothing is known before `look`."""
        self._broker = broker
        self._asked_at_ms: dict[str, int] = {}
        self._found: Members = {}

    @property
    def found(self) -> Members:
        """Return the members that are brokers of RocketMQ, by id."""
        return self._found

    def check(self) -> None:
        """Check that no member of the group is a broker of RocketMQ.

        Raises:
            Refusal: a member is one. The code is the one of a broker that forbids POP (16,
                remoting.md 2.4).
        """
        if not self._found:
            return
        broker_id, address = min(self._found.items())
        raise Refusal(
            ResponseCode.NO_PERMISSION,
            f"this broker group refuses POP: its broker {broker_id}, {address}, is of RocketMQ, and"
            " would deliver acknowledged messages again. Set the mode of the consumer group to"
            " PULL (mqadmin setConsumeMode), or replace that broker by one of Regent",
        )

    async def look(self) -> None:
        """Ask the name servers for the living members, and ask members that are not known."""
        broker = self._broker
        if broker.name_servers is None:
            return
        members = await ask_members(broker.name_servers, broker.settings)
        if members is None:
            return
        host, port = broker.store_host
        others = {key: one for key, one in members.items() if one != f"{host}:{port}"}
        stock = set(self._found.values())
        now_ms = broker.elapsed_ms()
        # A member that returns is asked again: nothing is kept of its former answer.
        self._asked_at_ms = {
            one: at_ms for one, at_ms in self._asked_at_ms.items() if one in others.values()
        }
        for address in others.values():
            asked_at_ms = self._asked_at_ms.get(address)
            if asked_at_ms is not None and now_ms - asked_at_ms < KNOWN_MS:
                continue
            is_stock = await _is_stock(address)
            if is_stock is not None:
                self._asked_at_ms[address] = now_ms
                (stock.add if is_stock else stock.discard)(address)
        self._note({key: one for key, one in others.items() if one in stock})

    def _note(self, found: Members) -> None:
        """Use what was found; POPs that were granted before are checked again."""
        if found == self._found:
            return
        log.warning("stock_members_changed", members=found, is_pop_refused=bool(found))
        self._found = found
        self._broker.hot.facts_changed()


async def _is_stock(address: str) -> bool | None:
    """Return whether a broker is of RocketMQ; None if it does not answer."""
    try:
        requester = await connect(split_address(address), peer_name="member")
        try:
            answer = await requester.call(RequestCode.GET_BROKER_PROPERTIES)
        finally:
            requester.close()
    except (OSError, TimeoutError, RemotingError):
        return None
    if answer.code == ResponseCode.SUCCESS:
        return False
    return True if answer.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED else None
