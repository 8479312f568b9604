"""Mark a message that escapes to another broker group, so that its target stores it once (D17)."""

from collections.abc import Mapping
from typing import Final

from regent_engine import Command

from workers.broker.commit_log.message import UNIQUE_KEY

ESCAPED_FROM: Final = "REGENT_ESCAPED_FROM"
"""The property with the key: cluster, broker group and log position of the waiting message.

Copies of the message, such as its retries, have the property as well.
"""

ESCAPES: Final = "regentEscapes"
"""The field of a request with the message itself; requests with its copies lack the field."""


def is_escape(command: Command, properties: Mapping[str, str]) -> bool:
    """Return whether a send is a message that escapes, which its target stores once."""
    named = ESCAPED_FROM in properties and UNIQUE_KEY in properties
    return named and ESCAPES in command.ext
