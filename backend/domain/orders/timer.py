"""Say what can be ordered of messages that wait for a time."""

from dataclasses import dataclass
from typing import Annotated

from backend.domain.orders.parameter import ClusterName, Parameter
from backend.rules.recall_handle import decode_recall_handle


@dataclass(frozen=True, slots=True)
class RecallMessage:
    """Recall a message that waits for a time: no consumer gets it."""

    cluster_name: ClusterName
    recall_handle: Annotated[
        str,
        Parameter(
            "Handle of the message, as its producer got it with the send result.",
            option="handle",
            length_min=1,
            length_max=2000,
        ),
    ]

    @property
    def target(self) -> str:
        """Name the message by its unique key, or by a handle that can't be read."""
        try:
            return decode_recall_handle(self.recall_handle).unique_key
        except ValueError:
            return self.recall_handle
