"""The properties of a broker agent (our request 7010)."""

import msgspec

from backend.remoting.bodies.base import Body


class PropertyBody(Body, frozen=True, kw_only=True):
    """One property: its type, its bounds, when a change takes effect, and its values.

    `effect` is `live`, `restart` or `fixed`: immediately, after a restart, or only by editing the
    file. `stored` is the value in the file, None if the file has none.
    """

    name: str
    type_name: str
    effect: str
    value: str
    default: str
    stored: str | None = None
    low: int | None = None
    high: int | None = None
    choices: list[str] = msgspec.field(default_factory=list)


class PropertiesBody(Body, frozen=True, kw_only=True):
    """All properties that have an effect on a broker; without a file no property can be changed."""

    properties: list[PropertyBody]
    has_file: bool
