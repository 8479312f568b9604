"""Ask brokers, by address: one broker, one broker for many things, or many brokers at once.

A question is a type: a `Request` is one remoting request, any other `Inquiry` consists of several
requests to the same broker. `backend.brokers.requests` holds them.
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
"""Maximum number of concurrent requests to one broker that is asked for many things."""

AnswerT = TypeVar("AnswerT")
AnswerT_co = TypeVar("AnswerT_co", covariant=True)
KeyT = TypeVar("KeyT")


class Addressed(Protocol):
    """Describe an object that has the address of a broker."""

    @property
    def address(self) -> str:
        """Return the address of the broker, as host:port."""
        ...


BrokerT = TypeVar("BrokerT", bound=Addressed)


class Inquiry(ABC, Generic[AnswerT_co]):
    """Describe a question to one broker, which takes one or more requests.

    `patience_s` limits the time of all requests together; without it, each request has the client's
    deadline.
    """

    __slots__ = ()
    patience_s: ClassVar[float | None] = None

    @abstractmethod
    async def put(self, brokers: "Brokers", address: str) -> AnswerT_co:
        """Ask the broker at an address; raises the errors of `Brokers.ask`."""


class Request(Inquiry[AnswerT_co]):
    """Declare one remoting request: its code, its fields, and how to read the answer.

    A request changes nothing, so it can be repeated; a request that changes something is a
    `Change`. The header has the fields of `header_type` that the request has under the same names.
    The response code `absence` means that there is nothing: then `nothing` is the answer. Answers
    with a code of `also_read` are read like a success. `answer_timeout_s` is longer than the
    client's deadline for requests that the peer carries out before it answers.
    """

    __slots__ = ()
    code: ClassVar[RequestCode]
    header_type: ClassVar[type[Header] | None] = None
    absence: ClassVar[int | None] = None
    nothing: ClassVar[Any] = None
    also_read: ClassVar[frozenset[int]] = frozenset()
    answer_timeout_s: ClassVar[float | None] = None

    @property
    def header(self) -> Header | None:
        """Return the header; None means a request without fields."""
        if self.header_type is None:
            return None
        names = [one for one in self.header_type.__struct_fields__ if hasattr(self, one)]
        return self.header_type(**{name: getattr(self, name) for name in names})

    @property
    def ext(self) -> dict[str, str]:
        """Return all fields as the text map of the frame."""
        return {} if self.header is None else encode_header(self.header)

    @property
    def body(self) -> bytes:
        """Return the body."""
        return b""

    @abstractmethod
    def read(self, response: Command) -> AnswerT_co:
        """Read the answer of a success.

        Raises:
            UnexpectedAnswer: the answer lacks a required part.
            ValueError: the answer can't be read.
        """

    def answer(self, address: str, response: Command) -> AnswerT_co:
        """Return the value of a response.

        Raises:
            BrokerRefused: the response is an error, or can't be read.
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
        """Send the request, and read the answer."""
        response = await brokers.client.request(
            address,
            self.code,
            ext=self.ext,
            body=self.body,
            answer_timeout_s=self.answer_timeout_s,
        )
        return self.answer(address, response)


@dataclass(frozen=True, slots=True)
class Answers(Generic[BrokerT, AnswerT]):
    """Hold the answers of brokers, and the errors of the silent brokers, in the order of asking."""

    answers: Mapping[BrokerT, AnswerT] = field(default_factory=dict)
    silent: Mapping[BrokerT, NoAnswer] = field(default_factory=dict)


class Brokers:
    """Send requests to brokers over persistent remoting connections."""

    def __init__(self, client: RemotingClient) -> None:
        self.client = client

    async def ask(self, address: str, inquiry: Inquiry[AnswerT]) -> AnswerT:
        """Ask a broker.

        Raises:
            BrokerUnreachable: the broker can't be reached, or does not answer in time; a change
                that was sent may have been made.
            BrokerRefused: the answer is an error, or can't be read; a change was not made.
            ChangeRefused: the broker did not make a change, and never will.
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
        """Ask a broker; return None if it does not answer, for any reason."""
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
        """Ask one broker for many things, with bounded concurrency; the first error ends all.

        Raises:
            NoAnswer: one of the requests failed, as `ask` describes.
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
        """Ask many brokers the same, or each a different question, with bounded concurrency."""
        return await Round(self, at_once_max=at_once_max).ask_all(brokers, inquiry)


class Round:
    """Ask many brokers for one purpose, at most `at_once_max` of them at a time.

    `patience_s` limits the total time. A broker that can't be reached is not asked again.
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
        """Ask a broker; the error is the reason why it did not answer."""
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
        """Ask brokers the same, or each a different question; no broker waits for another."""
        asked: dict[BrokerT, asyncio.Task[AnswerT | NoAnswer]] = {}
        try:
            for broker in brokers:
                own = inquiry if isinstance(inquiry, Inquiry) else inquiry(broker)
                asked[broker] = asyncio.create_task(self.ask(broker, own))
                # Hundreds of concurrent requests would be answered at once, and delay all other
                # tasks.
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
