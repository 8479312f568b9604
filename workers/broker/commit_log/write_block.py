"""Why a broker refuses messages that its store would accept, and the answers to producers."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from backend.remoting.response_code import ResponseCode


class WriteBlock(StrEnum):
    """The reasons to refuse messages although the store would accept them."""

    STOPPING = "the broker is stopping"
    FLUSH_FAILED = "a flush to the disk failed; repair the disk, then restart the broker"
    DISK_FULL = "the disk is nearly full: make room, or lower fileReservedTime"
    NOT_MASTER = "this broker is not the master of its group: ask for the route again"
    RETURNING = "this broker is not online yet: it takes over what its replicas did meanwhile"
    HANDING_OVER = "another broker becomes master of the group: ask for the route again"
    TOO_FEW_REPLICAS = "fewer replicas are in sync than minInSyncReplicas requires"


DELIVERY_BLOCKS: Final = (WriteBlock.DISK_FULL, WriteBlock.NOT_MASTER)
"""The reasons for which messages that are due wait, too; the first one is reported."""

REFUSAL_CODES: Final[Mapping[WriteBlock, ResponseCode]] = {
    WriteBlock.TOO_FEW_REPLICAS: ResponseCode.SYSTEM_ERROR
}
"""The answers that are not SERVICE_NOT_AVAILABLE (storage-and-ha.md 9.6)."""
