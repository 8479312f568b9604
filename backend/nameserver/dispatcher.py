"""Find the processor of a request and turn what it says, or raises, into an answer.

This is the one place of the remoting door with a broad `except`: whatever goes wrong in a
processor becomes an answer, and what we did not foresee is told without its inside.
"""

from typing import Final

import structlog

from backend.domain.errors import DomainError
from backend.nameserver.answer import Answer
from backend.nameserver.directory import Directory
from backend.nameserver.errors import ANSWERS
from backend.nameserver.processors import PROCESSORS
from backend.remoting.command import Command, answer
from backend.remoting.headers import InvalidHeader
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode

UNKNOWN_REQUEST: Final = "UNKNOWN"
UNEXPECTED_REMARK: Final = "the name server failed; its log says why"

log = structlog.get_logger(__name__)


def dispatch(command: Command, session: object, directory: Directory) -> bytes:
    """Answer one request as a frame; a one-way request is carried out and not answered."""
    if command.is_response:
        # We ask brokers nothing yet, so an answer belongs to no question of ours.
        return b""
    outcome = _process(command, session, directory)
    directory.answer_counts[_name(command.code), int(outcome.code)] += 1
    if command.is_oneway:
        return b""
    return answer(
        command, code=outcome.code, ext=outcome.ext, body=outcome.body, remark=outcome.remark
    )


def _process(command: Command, session: object, directory: Directory) -> Answer:
    processor = PROCESSORS.get(command.code)
    if processor is None:
        remark = f"request type {command.code} not supported"
        return Answer(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark)
    try:
        return processor(command, session, directory)
    except DomainError as error:
        code = ANSWERS.get(type(error), ResponseCode.SYSTEM_ERROR)
        return Answer(code, remark=str(error))
    except (InvalidHeader, InvalidJson) as error:
        return Answer(ResponseCode.SYSTEM_ERROR, remark=str(error))
    except Exception:
        log.exception("request_failed", request=_name(command.code))
        return Answer(ResponseCode.SYSTEM_ERROR, remark=UNEXPECTED_REMARK)


def _name(code: int) -> str:
    # Codes that nobody knows share one name, so that a stranger can't fill the metrics.
    return RequestCode(code).name if code in PROCESSORS else UNKNOWN_REQUEST
