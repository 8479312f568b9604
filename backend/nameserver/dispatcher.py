"""Find the processor of a request, and turn its answer or its error into a frame.

This is the one place of the remoting door with a broad `except`: every error of a processor becomes
an answer. The answer to an unexpected error has no details.
"""

import asyncio
import time
from collections.abc import Awaitable, Coroutine
from typing import Any, Final

import structlog
from sqlalchemy.exc import SQLAlchemyError

from backend.db.unstorable import UNSTORABLE, UNSTORABLE_TEXT
from backend.domain.controller_figures import HandleStatus
from backend.domain.errors import DomainError
from backend.nameserver.answer import Answer
from backend.nameserver.controller_requests import CONTROLLER_REQUESTS
from backend.nameserver.directory import Directory
from backend.nameserver.processors import PROCESSORS
from backend.remoting.command import Command, answer
from backend.remoting.headers import InvalidHeader
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.services.stock_codes import stock_code_of

UNKNOWN_REQUEST: Final = "UNKNOWN"
_NAMES: Final = {code: RequestCode(code).name for code in PROCESSORS}
UNEXPECTED_REMARK: Final = "the name server failed; its log says why"
UNAVAILABLE_REMARK: Final = "the database behind the controller does not answer; try again"
WAIT_MAX_S: Final = 5.0

log = structlog.get_logger(__name__)


def dispatch(
    command: Command, session: object, directory: Directory
) -> bytes | Coroutine[Any, Any, bytes]:
    """Answer one request with a frame, now or later; a one-way request gets an empty answer."""
    if command.is_response:
        # This process sends no requests over accepted connections, so it expects no response here.
        return b""
    started_at_ns = time.monotonic_ns()
    outcome = _process(command, session, directory)
    if isinstance(outcome, Answer):
        _tally(command, _status_of(outcome), started_at_ns, directory)
        return _finish(command, outcome, directory)
    return _await(command, outcome, directory, started_at_ns)


def refuse(command: Command, directory: Directory) -> bytes:
    """Answer that too many requests are waiting."""
    remark = "[REJECTREQUEST] too many requests wait for the database; try again"
    return _finish(command, Answer(ResponseCode.SYSTEM_BUSY, remark=remark), directory)


def _process(command: Command, session: object, directory: Directory) -> Answer | Awaitable[Answer]:
    processor = PROCESSORS.get(command.code)
    if processor is None:
        remark = f"request type {command.code} not supported"
        return Answer(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark)
    try:
        return processor(command, session, directory)
    except Exception as error:  # noqa: BLE001 - whatever went wrong becomes an answer
        return _explain(command, error)


async def _await(
    command: Command, outcome: Awaitable[Answer], directory: Directory, started_at_ns: int
) -> bytes:
    is_late = False
    try:
        async with asyncio.timeout(WAIT_MAX_S):
            found = await outcome
    except Exception as error:  # noqa: BLE001 - as above
        is_late = isinstance(error, TimeoutError)
        found = _explain(command, error)
    status = HandleStatus.TIMEOUT if is_late else _status_of(found)
    _tally(command, status, started_at_ns, directory)
    return _finish(command, found, directory)


def _status_of(outcome: Answer) -> HandleStatus:
    is_failed = outcome.code == ResponseCode.SYSTEM_ERROR
    return HandleStatus.FAILED if is_failed else HandleStatus.SUCCESS


def _tally(
    command: Command, status: HandleStatus, started_at_ns: int, directory: Directory
) -> None:
    name = CONTROLLER_REQUESTS.get(command.code)
    if name is not None:
        duration_us = (time.monotonic_ns() - started_at_ns) // 1000
        directory.controller_requests.note(name, status, duration_us)


def _finish(command: Command, outcome: Answer, directory: Directory) -> bytes:
    directory.answer_counts[_name(command.code), int(outcome.code)] += 1
    if command.is_oneway:
        return b""
    return answer(
        command, code=outcome.code, ext=outcome.ext, body=outcome.body, remark=outcome.remark
    )


def _explain(command: Command, error: Exception) -> Answer:
    if isinstance(error, DomainError):
        return Answer(stock_code_of(error), remark=str(error))
    if isinstance(error, (InvalidHeader, InvalidJson)):
        return Answer(ResponseCode.SYSTEM_ERROR, remark=str(error))
    if isinstance(error, UNSTORABLE):
        return Answer(ResponseCode.INVALID_PARAMETER, remark=UNSTORABLE_TEXT)
    if isinstance(error, (SQLAlchemyError, OSError, TimeoutError)):
        log.warning("database_unavailable", request=_name(command.code), error=str(error))
        return Answer(ResponseCode.SYSTEM_ERROR, remark=UNAVAILABLE_REMARK)
    log.error("request_failed", request=_name(command.code), exc_info=error)
    return Answer(ResponseCode.SYSTEM_ERROR, remark=UNEXPECTED_REMARK)


def _name(code: int) -> str:
    # Unknown codes share one name, so that a client can't fill the metrics with names.
    return _NAMES.get(code, UNKNOWN_REQUEST)
