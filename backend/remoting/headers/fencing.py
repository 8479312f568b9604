"""Fields of ours that a step of an operation adds to any request that changes something (D20).

A stock broker passes over fields that it does not know, and answers without them.
"""

from typing import Final

import msgspec

from backend.remoting.headers.base import Header
from backend.remoting.integers import Int64

FENCE_FIELD: Final = "regentFence"
"""What makes a request a step."""


class FenceHeader(Header, frozen=True, kw_only=True):
    """Whose change this is: an attempt with a lower fence than one seen for the target is refused.

    `step_key` is the same for every attempt at the change, so that it has one effect.
    """

    operation_id: str = msgspec.field(name="regentOperation")
    step_key: str = msgspec.field(name="regentStep")
    fence: Int64 = msgspec.field(name=FENCE_FIELD)


class EffectAnswer(Header, frozen=True, kw_only=True):
    """The value of what was changed, before and after, as JSON text; `null` is nothing there."""

    before: str = msgspec.field(name="regentBefore")
    after: str = msgspec.field(name="regentAfter")


class FencedAnswer(Header, frozen=True, kw_only=True):
    """The fence that a change of the target was last made under."""

    held_fence: Int64 = msgspec.field(name="regentHeldFence")
