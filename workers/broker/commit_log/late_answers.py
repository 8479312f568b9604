"""Answer sends of stored messages that are not confirmed or flushed (storage-and-ha.md 9)."""

from typing import Final

from regent_engine import Decoder

from backend.remoting.command import answer
from backend.remoting.connection import FRAME_SIZE_MAX, HEADER_WRITTEN_MAX
from backend.remoting.response_code import ResponseCode
from workers.broker.replication.acknowledgement import Outcome

_DEPOSED: Final = (
    "this broker is no longer the master, so it is unknown whether the message is kept:"
    " send it again to the new master"
)
_CODES: Final = {
    # A success with a status: the message is stored, and may be lost.
    Outcome.LATE: (ResponseCode.FLUSH_SLAVE_TIMEOUT, "not every replica holds the message yet"),
    Outcome.DEPOSED: (ResponseCode.SERVICE_NOT_AVAILABLE, _DEPOSED),
    Outcome.UNFLUSHED: (
        ResponseCode.FLUSH_DISK_TIMEOUT,
        "the message is stored, but not on the disk yet",
    ),
}


def without_messages(frames: bytes) -> bytes:
    """Change answers of POP into answers that there is no message: their clients ask again."""
    replies = Decoder(FRAME_SIZE_MAX, header_size_max=HEADER_WRITTEN_MAX).receive(frames)
    fields = dict.fromkeys(("popTime", "invisibleTime", "reviveQid", "restNum"), "0")
    code, remark = ResponseCode.POLLING_TIMEOUT, "NO_MESSAGE_IN_QUEUE"
    return b"".join(answer(one, code=code, remark=remark, ext=fields) for one in replies)


def unconfirmed(frames: bytes, outcome: Outcome) -> bytes:
    """Change answers of success into answers with the status of the messages."""
    code, remark = _CODES[outcome]
    replies = Decoder(FRAME_SIZE_MAX, header_size_max=HEADER_WRITTEN_MAX).receive(frames)
    return b"".join(
        answer(reply, code=code, ext=reply.ext, remark=remark)
        if reply.code == ResponseCode.SUCCESS
        else answer(reply, code=reply.code, ext=reply.ext, remark=reply.remark, body=reply.body)
        for reply in replies
    )
