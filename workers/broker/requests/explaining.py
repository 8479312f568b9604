"""Turn the error of a request into its answer."""

from typing import Final

import structlog
from regent_engine import Command, StoreError

from backend.remoting.command import answer
from backend.remoting.headers import InvalidHeader
from backend.remoting.java_json import InvalidJson
from backend.remoting.names import InvalidName
from backend.remoting.response_code import ResponseCode
from workers.broker.errors import Refusal, Unconfirmed

log = structlog.get_logger()

_FAULTS: Final[tuple[tuple[type[Exception], ResponseCode], ...]] = (
    (InvalidHeader, ResponseCode.SYSTEM_ERROR),
    (InvalidJson, ResponseCode.SYSTEM_ERROR),
    (InvalidName, ResponseCode.INVALID_PARAMETER),
    # Errors of writing state files, above all on a full disk.
    (OSError, ResponseCode.SERVICE_NOT_AVAILABLE),
)
_STORE_FAULTS: Final = {
    "illegal_message": ResponseCode.MESSAGE_ILLEGAL,
    "properties_too_large": ResponseCode.MESSAGE_ILLEGAL,
    "blank_properties": ResponseCode.MESSAGE_ILLEGAL,
    "corrupt": ResponseCode.SYSTEM_ERROR,
    # The same request would take as long again.
    "search_too_long": ResponseCode.SYSTEM_ERROR,
    "index_behind": ResponseCode.SYSTEM_BUSY,
    "queue_sealed": ResponseCode.NOT_LEADER_FOR_QUEUE,
}


def explain(command: Command, error: BaseException) -> bytes:
    """Return the answer that says what went wrong; an unexpected error is logged."""
    if isinstance(error, Refusal | Unconfirmed):
        return answer(command, code=error.code, remark=str(error), ext=error.ext)
    if isinstance(error, StoreError):
        code = _STORE_FAULTS.get(error.code, ResponseCode.SERVICE_NOT_AVAILABLE)
        log.warning("store_refused", request_code=command.code, code=error.code, reason=str(error))
        return answer(command, code=code, remark=f"{error.code}: {error}")
    for kind, code in _FAULTS:
        if isinstance(error, kind):
            return answer(command, code=code, remark=str(error))
    log.error("request_failed", request_code=command.code, exc_info=error)
    return answer(
        command, code=ResponseCode.SYSTEM_ERROR, remark=f"internal error: {type(error).__name__}"
    )
