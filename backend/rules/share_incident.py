"""Name what can happen to a member's share queues, and to its topics (queue-ownership.md 4.12)."""

from enum import StrEnum
from typing import Final


class IncidentKind(StrEnum):
    """Name what happened to a member."""

    CANNOT_STORE = "cannot_store"
    """Its disk failed: it stores no record from the position on."""

    CANNOT_APPLY = "cannot_apply"
    """Its copy of the record at the position is damaged."""

    RECORD_LEFT_OUT = "record_left_out"
    """The record was written damaged, so each member leaves it out."""

    LEASE_FENCED = "lease_fenced"
    """Another member has a later lease epoch."""

    LEASE_LAPSED = "lease_lapsed"
    """The control plane did not renew its lease in time."""

    OWNER_LOST = "owner_lost"
    """The control plane hears no more of the owner."""

    MESSAGES_LOST = "messages_lost"
    """The messages of a topic that is not replicated were lost with its former master."""


LASTING: Final = frozenset(
    {IncidentKind.CANNOT_STORE, IncidentKind.CANNOT_APPLY, IncidentKind.RECORD_LEFT_OUT}
)
"""Incidents that are open until the member is well again. The others are over at once."""
