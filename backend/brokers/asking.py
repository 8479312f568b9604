"""Ask brokers, by address: one broker, one broker for many things, or many brokers at once.

What can be asked is a type: a `Request` is one remoting request, any other `Inquiry` consists of
several to the same broker. `backend.brokers.requests` holds them.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

from backend.brokers.client import RemotingClient
from backend.brokers.errors import (
    BrokerRefused,
    BrokerUnreachable,
    NoAnswer,
    UnexpectedAnswer,
    accepted,
)
from backend.remoting.command import Command
from backend.remoting.headers import Header, encode_header
from backend.remoting.request_code import RequestCode

BROKERS_AT_ONCE_MAX: Final = 64
REQUESTS_AT_ONCE_MAX: Final = 32
"""So many requests are under way to one broker that is asked for many things."""

AnswerT = TypeVar("AnswerT")
AnswerT_co = TypeVar("AnswerT_co", covariant=True)
KeyT = TypeVar("KeyT")


class Addressed(Protocol):
    """Stand for what names a broker: it has an address."""

    @property
    def address(self) -> str:
        """Return where the broker is asked, as host:port."""
        ...


BrokerT = TypeVar("BrokerT", bound=Addressed)


class Inquiry(ABC, Generic[AnswerT_co]):
    """Ask one broker for something, with as many requests as it takes.

    `patience_s` is how long all of it may take; without, each request has the client's deadline.
    """

    __slots__ = ()
    patience_s: ClassVar[float | None] = None

    @abstractmethod
    async def put(self, brokers: "Brokers", address: str) -> AnswerT_co:
        """Ask the broker at an address; what is raised is what `Brokers.ask` raises."""


class Request(Inquiry[AnswerT_co]):
    """Declare one remoting request: its code, what it sends, and how the answer is read.

    It changes nothing, so it may be asked again; what changes something is a `Change`. A request
    sends the fields of `header_type` that it has itself, under the same names. With the response
    code `absence` a broker says that there is nothing: then `nothing` is the answer. Answers with
    a code of `also_read` are read like those of success.
    """

    __slots__ = ()
    code: ClassVar[RequestCode]
    header_type: ClassVar[type[Header] | None] = None
    absence: ClassVar[int | None] = None
    nothing: ClassVar[Any] = None
    also_read: ClassVar[frozenset[int]] = frozenset()

    @property
    def header(self) -> Header | None:
        """Return the header; None is a request without fields."""
        if self.header_type is None:
            return None
        names = [one for one in self.header_type.__struct_fields__ if hasattr(self, one)]
        return self.header_type(**{name: getattr(self, name) for name in names})

    @property
    def ext(self) -> dict[str, str]:
        """Return all fields as they travel."""
        return {} if self.header is None else encode_header(self.header)

    @property
    def body(self) -> bytes:
        """Return the body."""
        return b""

    @abstractmethod
    def read(self, response: Command) -> AnswerT_co:
        """Read an answer of success.

        Raises:
            UnexpectedAnswer: it lacks what was asked for.
            ValueError: it can't be read.
        """

    def answer(self, address: str, response: Command) -> AnswerT_co:
        """Return what a response says.

        Raises:
            BrokerRefused: it is an error, or can't be read.
        """
        if response.code == self.absence:
            nothing: AnswerT_co = self.nothing
            return nothing
        if response.code not in self.also_read:
            accepted(address, response)
        try:
            return self.read(response)
        except UnexpectedAnswer as error:
            raise BrokerRefused(address, str(error)) from error
        except ValueError as error:
            raise BrokerRefused(address, f"its answer can't be read: {error}") from error

    async def put(self, brokers: "Brokers", address: str) -> AnswerT_co:
        """Send it, and read the answer."""
        response = await brokers.client.request(address, self.code, ext=self.ext, body=self.body)
        return self.answer(address, response)


@dataclass(frozen=True, slots=True)
class Answers(Generic[BrokerT, AnswerT]):
    """Hold what brokers answered, and why the others are silent, each in the order of asking."""

    answers: Mapping[BrokerT, AnswerT] = field(default_factory=dict)
    silent: Mapping[BrokerT, NoAnswer] = field(default_factory=dict)


class Brokers:
    """Speak to brokers over remoting connections that are kept open."""

    def __init__(self, client: RemotingClient) -> None:
        self.client = client

    async def ask(self, address: str, inquiry: Inquiry[AnswerT]) -> AnswerT:
        """Ask a broker.

        Raises:
            BrokerUnreachable: it can't be reached, or does not answer in time; a change that was
                sent may have been made nevertheless.
            BrokerRefused: the answer is an error, or can't be read; a change was not made.
            ChangeRefused: the broker did not make a change, nor will it.
            OperationFenced: a later attempt has made the change already.
        """
        if inquiry.patience_s is None:
            return await inquiry.put(self, address)
        try:
            async with asyncio.timeout(inquiry.patience_s):
                return await inquiry.put(self, address)
        except TimeoutError as error:
            reason = f"no answer within {inquiry.patience_s:g} s"
            raise BrokerUnreachable(address, reason) from error

    async def find(self, address: str, inquiry: Inquiry[AnswerT]) -> AnswerT | None:
        """Ask a broker; None is that it does not answer, for whatever reason."""
        try:
            return await self.ask(address, inquiry)
        except NoAnswer:
            return None

    async def ask_each(
        self,
        address: str,
        inquiries: Mapping[KeyT, Inquiry[AnswerT]],
        *,
        at_once_max: int = REQUESTS_AT_ONCE_MAX,
    ) -> dict[KeyT, AnswerT]:
        """Ask one broker for many things, some at a time; the first failure is that of all.

        Raises:
            NoAnswer: one of them failed, as `ask` says.
        """
        slots = asyncio.Semaphore(at_once_max)

        async def ask_one(inquiry: Inquiry[AnswerT]) -> AnswerT:
            async with slots:
                return await self.ask(address, inquiry)

        found = await asyncio.gather(*map(ask_one, inquiries.values()))
        return dict(zip(inquiries, found, strict=True))

    async def ask_all(
        self,
        brokers: Iterable[BrokerT],
        inquiry: Inquiry[AnswerT] | Callable[[BrokerT], Inquiry[AnswerT]],
        *,
        at_once_max: int = BROKERS_AT_ONCE_MAX,
    ) -> Answers[BrokerT, AnswerT]:
        """Ask many brokers the same, or each its own, some at a time."""
        return await Round(self, at_once_max=at_once_max).ask_all(brokers, inquiry)


class Round:
    """Ask many brokers for one purpose, `at_once_max` of them at a time.

    `patience_s` is how long all of it may take. A broker that can't be reached is not asked again.
    """

    def __init__(
        self,
        brokers: Brokers,
        *,
        at_once_max: int = BROKERS_AT_ONCE_MAX,
        patience_s: float | None = None,
    ) -> None:
        self._brokers, self._patience_s = brokers, patience_s
        self._slots = asyncio.Semaphore(at_once_max)
        now = asyncio.get_running_loop().time()
        self._deadline = None if patience_s is None else now + patience_s
        self.unreachable: dict[str, BrokerUnreachable] = {}

    async def ask(self, broker: Addressed, inquiry: Inquiry[AnswerT]) -> AnswerT | NoAnswer:
        """Ask a broker; the error says why it did not answer."""
        async with self._slots:
            if broker.address in self.unreachable:
                return self.unreachable[broker.address]
            try:
                async with asyncio.timeout_at(self._deadline):
                    return await self._brokers.ask(broker.address, inquiry)
            except TimeoutError:
                reason = f"no answer within {self._patience_s:g} s"
                error = BrokerUnreachable(broker.address, reason)
            except BrokerUnreachable as unreachable:
                error = unreachable
            except NoAnswer as refused:
                return refused
            self.unreachable[broker.address] = error
            return error

    async def ask_all(
        self,
        brokers: Iterable[BrokerT],
        inquiry: Inquiry[AnswerT] | Callable[[BrokerT], Inquiry[AnswerT]],
    ) -> Answers[BrokerT, AnswerT]:
        """Ask brokers the same, or each its own; none waits for another."""
        asked: dict[BrokerT, asyncio.Task[AnswerT | NoAnswer]] = {}
        try:
            for broker in brokers:
                own = inquiry if isinstance(inquiry, Inquiry) else inquiry(broker)
                asked[broker] = asyncio.create_task(self.ask(broker, own))
                # Hundreds begun at once would be answered at once, and all else would wait.
                await asyncio.sleep(0)
            outcomes = dict(zip(asked, await asyncio.gather(*asked.values()), strict=True))
        finally:
            for task in asked.values():
                task.cancel()
        return Answers(
            {
                one: outcome
                for one, outcome in outcomes.items()
                if not isinstance(outcome, NoAnswer)
            },
            {one: why for one, why in outcomes.items() if isinstance(why, NoAnswer)},
        )
