"""Our fields, which a step of an operation adds to any request that changes something (D20).

A stock broker ignores unknown fields, and answers without them.
"""

from typing import Final

import msgspec

from backend.remoting.headers.base import Header
from backend.remoting.integers import Int64

FENCE_FIELD: Final = "regentFence"
"""The fields that mark a request as a step."""


class FenceHeader(Header, frozen=True, kw_only=True):
    """The attempt of a change: it is refused if its fence is lower than the last one of the target.

    `step_key` is the same for every attempt of a change, so that the change has one effect.
    """

    operation_id: str = msgspec.field(name="regentOperation")
    step_key: str = msgspec.field(name="regentStep")
    fence: Int64 = msgspec.field(name=FENCE_FIELD)


class EffectAnswer(Header, frozen=True, kw_only=True):
    """The value before and after the change, as JSON text; `null` means that there is none."""

    before: str = msgspec.field(name="regentBefore")
    after: str = msgspec.field(name="regentAfter")


class FencedAnswer(Header, frozen=True, kw_only=True):
    """The fence of the last change of the target."""

    held_fence: Int64 = msgspec.field(name="regentHeldFence")
