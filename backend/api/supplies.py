"""Supply questions with the dependencies of the process, and with the caller."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import HTTPConnection

from backend.api.context import ApiContext, listener_of, name_author
from backend.domain.access import Principal
from backend.questions.question import Question


@dataclass(frozen=True, slots=True)
class Caller:
    """Hold the caller, the connection, the dependencies and the door."""

    api: ApiContext
    principal: Principal
    connection: HTTPConnection
    door: str


SUPPLIES: Final[Mapping[str, Callable[[Caller], Any]]] = {
    "author": lambda caller: name_author(caller.principal, caller.connection, caller.door),
    "brokers": lambda caller: caller.api.brokers,
    "client_snapshots": lambda caller: caller.api.client_snapshots,
    "clock": lambda caller: caller.api.clock,
    "controller": lambda caller: caller.api.name_server.controller,
    "database": lambda caller: caller.api.database,
    "find_route": lambda caller: caller.api.name_server.find_route,
    "listener": lambda caller: listener_of(caller.api),
    "name_server": lambda caller: caller.api.name_server.describe(),
    "operations": lambda caller: caller.api.operations,
    "principal": lambda caller: caller.principal,
    "redis": lambda caller: caller.api.redis,
    "retention": lambda caller: caller.api.settings.retention,
    "second_person": lambda caller: caller.api.settings.second_person,
    "within": lambda caller: caller.principal.clusters,
}
"""The names of keyword-only parameters of questions, and their sources."""


async def ask(question: Question, given: Mapping[str, Any], caller: Caller) -> Any:
    """Answer a question."""
    supplied = {name: SUPPLIES[name](caller) for name in question.supplied}
    return await question.ask(**given, **supplied)
