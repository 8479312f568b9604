"""Pass on to the master the requests that clients still send to the former master (R10c, ADR 14).

A client requests the route every 30 s, so after an election it may use the former master for that
time. The former master decides nothing: it passes the request on unchanged, and returns the
master's answer. Only the master acknowledges.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

import structlog
from regent_engine import Command, HotPath

from backend.remoting.address import split_address
from backend.remoting.command import answer
from backend.remoting.errors import RemotingError, RequestTooLarge
from backend.remoting.headers.fencing import FENCE_FIELD
from backend.remoting.response_code import ResponseCode
from backend.requester import Requester, connect
from workers.broker.commit_log.write_block import WriteBlock
from workers.broker.errors import Refusal
from workers.broker.metrics.meters import Meters
from workers.broker.requests.gate import WAIT_S_MAX

PASSED_ON_FIELD: Final = "regentPassedOn"
"""Marks a request that was passed on. Its receiver serves it as master, or answers that it is not
the master and has changed nothing (`NOT_TAKEN`). Then the sender may try the next master."""

TIMEOUT_S: Final = 3.0
"""Time limit of a request, including the wait for a connection. The timeout of the client is
unknown; stock's clients wait as long for the answer to a send."""

IN_FLIGHT_COUNT_MAX: Final = 64
"""Concurrent requests to the master, each at most 4 MiB as messages are; others wait."""

IDLE_S_MAX: Final = 60.0
"""A connection that was idle for longer is not used again: brokers close theirs after 120 s, and a
request during the close would have an unknown outcome."""

log = structlog.get_logger()


def may_pass_on(ext: Mapping[str, str]) -> bool:
    """Return whether a replica passes on a request; a step of an operation is not (D20)."""
    return PASSED_ON_FIELD not in ext and FENCE_FIELD not in ext


def not_taken() -> Refusal:
    """Return the answer to a broker that passed a request on to one that is not the master."""
    return Refusal(ResponseCode.NOT_TAKEN, "this broker is not the master of its group")


class PassingOn:
    """The connection to the current master, if another broker; belongs to the loop's thread."""

    def __init__(
        self,
        hot: HotPath,
        meters: Meters,
        is_wanted: Callable[[], bool],
        *,
        on_change: Callable[[str | None], None] = lambda _address: None,
    ) -> None:
        """Take what to call with the address of each next master, and with None without one."""
        self._hot, self._meters, self._is_wanted = hot, meters, is_wanted
        self._on_change = on_change
        self._link: MasterLink | None = None
        self._is_master = self._is_closed = False
        self._paused_until_s: float | None = None
        self._changed = asyncio.Event()
        self._reported: str | None = None

    def pause(self, duration_s: float = WAIT_S_MAX) -> None:
        """Let requests wait for a moment: another master is being elected, possibly this broker."""
        if not self._is_closed:
            self._paused_until_s = asyncio.get_running_loop().time() + duration_s
            self._use(None)
            self._hot.set_handing_up(True)

    def follow(self, master_address: str) -> None:
        """Pass requests on to a master."""
        if not self._is_closed:
            self._paused_until_s = None
            self._use(MasterLink(master_address))
            self._hot.set_handing_up(True)

    def follow_none(self) -> None:
        """Stop passing on while there is no master: this broker must answer."""
        self._paused_until_s = None
        self._hot.set_handing_up(False)
        self._use(None)

    def lead(self) -> None:
        """Stop passing on: this broker is the master, or acts for it."""
        self._paused_until_s = None
        self._hot.set_handing_up(False)
        self._use(None, is_master=True)

    def close(self) -> None:
        """Stop passing on, and refuse; open requests may still be answered."""
        self._is_closed = True
        self._paused_until_s = None
        self._hot.set_handing_up(False)
        self._use(None)

    def take(self, command: Command) -> Awaitable[bytes | None] | None:
        """Pass a request on and return the master's answer; None if this broker must answer it.

        The declaration of the request says that it is passed on (`serving.Served`). The awaitable
        also returns None if this broker is the master by that time, or knows none. It raises a
        Refusal if the master does not answer, or if this broker is stopping by that time.

        Raises:
            Refusal: another broker passed it on, and this broker is not the master; or this broker
            is stopping, and does not know what the next master does.
        """
        if PASSED_ON_FIELD in command.ext and not self._is_master:
            raise not_taken()
        self._check_open()
        is_ready = self._link is not None or self._paused_until_s is not None
        if is_ready and self._is_wanted() and may_pass_on(command.ext):
            return self._pass_on(command)
        return None

    async def ask(self, code: int, ext: Mapping[str, str], body: bytes) -> Command:
        """Ask the master on behalf of this broker; one that is not the master changes nothing.

        Raises:
            OSError, RemotingError, TimeoutError: no master gave an answer in time.
        """
        async with asyncio.timeout(TIMEOUT_S):
            while (link := await self._find_way()) is not None:
                async with link.connected() as requester:
                    marked = {**ext, PASSED_ON_FIELD: "true"}
                    reply = await requester.call(code, ext=marked, body=body)
                if reply.code != ResponseCode.NOT_TAKEN:
                    return reply
                await self._await_other(link)
        raise ConnectionError("no master is known")

    async def _pass_on(self, command: Command) -> bytes | None:
        is_in_doubt = False
        address = ""
        try:
            async with asyncio.timeout(TIMEOUT_S):
                while (link := await self._find_way()) is not None:
                    address = link.address
                    async with link.connected() as requester:
                        is_in_doubt = True
                        reply = await requester.pass_on(command, {PASSED_ON_FIELD: "true"})
                        is_in_doubt = False
                    if reply is None or reply.code != ResponseCode.NOT_TAKEN:
                        return self._answer(command, reply, address)
                    await self._await_other(link)
        except RequestTooLarge as error:
            raise Refusal(ResponseCode.MESSAGE_ILLEGAL, str(error)) from error
        except (OSError, RemotingError) as error:
            reason = str(error) or "there is no answer in time"
            raise self._refusal(address, reason, is_in_doubt=is_in_doubt) from error
        self._check_open()
        return None

    def _check_open(self) -> None:
        """Refuse once this broker is stopping: what the master has done since is not known here."""
        if self._is_closed:
            raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, WriteBlock.STOPPING)

    async def _find_way(self) -> "MasterLink | None":
        """Return the connection to the master; wait while there is none."""
        if self._paused_until_s is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(self._paused_until_s):
                    while self._paused_until_s is not None:
                        await self._changed.wait()
        return self._link

    async def _await_other(self, link: "MasterLink") -> None:
        """Wait for the successor of a broker that answered that it is not the master."""
        try:
            async with asyncio.timeout(WAIT_S_MAX):
                while self._link is link:
                    await self._changed.wait()
        except TimeoutError as error:
            raise ConnectionError("it is not the master, and no other one is known") from error

    def _use(self, link: "MasterLink | None", *, is_master: bool = False) -> None:
        former, self._link, self._is_master = self._link, link, is_master
        if former is not None:
            former.retire()
        self._changed.set()
        self._changed = asyncio.Event()
        self._on_change(None if link is None else link.address)

    def _answer(self, command: Command, reply: Command | None, address: str) -> bytes:
        self._meters.passed_on_count += 1
        self._report(address, "")
        if reply is None:
            return b""
        return answer(command, code=reply.code, remark=reply.remark, ext=reply.ext, body=reply.body)

    def _refusal(self, address: str, reason: str, *, is_in_doubt: bool) -> Refusal:
        self._report(address, reason)
        if is_in_doubt:
            self._meters.passed_on_unanswered_count += 1
            remark = (
                f"the master {address} gave no answer, so it is unknown whether it carried out"
                f" the request: send it again ({reason})"
            )
        else:
            self._meters.not_passed_on_count += 1
            remark = f"the master {address} cannot be asked: ask for the route again ({reason})"
        return Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, remark)

    def _report(self, address: str, reason: str) -> None:
        """Log that requests reach a master, or why not, when that has changed."""
        said = f"{address} {reason}"
        if said == self._reported:
            return
        self._reported = said
        if reason:
            log.warning("requests_not_passed_on", master=address, reason=reason)
        else:
            log.info("requests_passed_on", master=address)


class MasterLink:
    """The only connection to one master, opened on demand."""

    def __init__(self, address: str, in_flight_count_max: int = IN_FLIGHT_COUNT_MAX) -> None:
        self.address = address
        self._requester: Requester | None = None
        self._opening, self._room = asyncio.Lock(), asyncio.Semaphore(in_flight_count_max)
        self._count, self._is_retired = 0, False
        self._used_at = 0.0

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Requester]:
        """Return the open connection, with space for one request.

        Raises:
            OSError: the master can't be reached.
        """
        self._count += 1
        try:
            async with self._room:
                yield await self._open()
        finally:
            self._count -= 1
            self._close_if_over()

    def retire(self) -> None:
        """Close the connection after the answers of the open requests."""
        self._is_retired = True
        self._close_if_over()

    async def _open(self) -> Requester:
        now = asyncio.get_running_loop().time()
        idle_s, self._used_at = now - self._used_at, now
        if idle_s > IDLE_S_MAX and self._requester is not None:
            self._requester.close()
        async with self._opening:
            if self._requester is None or not self._requester.is_open:
                self._requester = await connect(split_address(self.address), peer_name="master")
            return self._requester

    def _close_if_over(self) -> None:
        if self._is_retired and not self._count and self._requester is not None:
            self._requester.close()
