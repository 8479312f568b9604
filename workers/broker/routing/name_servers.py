"""Keep every configured name server informed, and wait for them where an answer depends on it."""

import asyncio
from collections.abc import Callable
from typing import Final

import structlog
from regent_engine import Command

from backend.remoting.address import Address
from backend.remoting.errors import RemotingError
from workers.broker.requests.gate import WAIT_S_MAX
from workers.broker.routing.name_server_link import NameServerLink
from workers.broker.routing.registration import RegistrationSource

PUBLISH_TIMEOUT_S: Final = 3.0
UNREGISTER_TIMEOUT_S: Final = 2.0

log = structlog.get_logger()


class NameServers:
    """Owns one link, and its task, for each name server."""

    def __init__(
        self,
        addresses: tuple[Address, ...],
        registration_source: RegistrationSource,
        *,
        on_outdated: Callable[[], None],
    ) -> None:
        """Take the function to call when a name server knows a newer mapping of a static topic."""
        self._registration_source = registration_source
        self._settled = asyncio.Event()
        self._released = asyncio.Event()
        self._links = [
            NameServerLink(
                host,
                port,
                registration_source=registration_source,
                released=self._released,
                on_registered=self._settled.set,
                on_outdated=on_outdated,
            )
            for host, port in addresses
        ]
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, *, is_held: bool = False) -> list[asyncio.Task[None]]:
        """Connect to all of them, register now or after `release`, and return the tasks."""
        if not is_held:
            self.release()
        self._tasks = [asyncio.create_task(link.run(), name=link.address) for link in self._links]
        return self._tasks

    def release(self) -> None:
        """Start to register this broker at the name servers."""
        self._released.set()
        self.poke()

    def poke(self) -> None:
        """Register at once because topics have changed."""
        for link in self._links:
            link.poke()

    async def publish(self) -> None:
        """Register the present topics, and wait for the reachable name servers.

        A name server that does not answer in time receives them with its link's next attempt.
        """
        counter = self._registration_source.counter
        self.poke()
        try:
            async with asyncio.timeout(PUBLISH_TIMEOUT_S):
                while any(_is_behind(link, counter) for link in self._links):
                    self._settled.clear()
                    await self._settled.wait()
        except TimeoutError:
            behind = [link.address for link in self._links if _is_behind(link, counter)]
            log.warning("publication_unanswered", name_servers=behind)

    @property
    def is_none(self) -> bool:
        """Return whether this broker has no name server at all."""
        return not self._links

    async def ask(self, code: int, ext: dict[str, str], body: bytes = b"") -> Command:
        """Return the answer of the first name server that answers, in the order of the settings.

        Raises:
            OSError: none is connected, or none answers.
        """
        reason = "no name server is connected"
        for link in self._links:
            try:
                answer = await link.ask(code, ext, body)
            except (OSError, TimeoutError, RemotingError) as error:
                reason = f"{link.address}: {error or type(error).__name__}"
                continue
            if answer is not None:
                return answer
        raise ConnectionError(reason)

    async def ask_each(self, code: int, ext: dict[str, str]) -> list[Command]:
        """Return the answers of all name servers that answer, in the order of the settings."""

        async def ask(link: NameServerLink) -> Command | None:
            try:
                return await link.ask(code, ext)
            except (OSError, TimeoutError, RemotingError):
                return None

        answers = await asyncio.gather(*map(ask, self._links))
        return [one for one in answers if one is not None]

    async def await_other_master(self) -> None:
        """Wait until all connected name servers name another master of the group."""
        try:
            async with asyncio.timeout(WAIT_S_MAX):
                await asyncio.gather(*(link.await_other_master() for link in self._links))
        except TimeoutError:
            log.info("no_other_master_named")

    async def stop(self) -> None:
        """Unregister everywhere and end the links."""
        try:
            async with asyncio.timeout(UNREGISTER_TIMEOUT_S):
                await asyncio.gather(*(link.unregister() for link in self._links))
        except TimeoutError:
            log.warning("unregistration_unanswered")
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []


def _is_behind(link: NameServerLink, counter: int) -> bool:
    return link.is_connected and link.registered_counter < counter
