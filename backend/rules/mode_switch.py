"""Describe the order by which a broker takes another mode of its group with its next start (D16).

The order is a file in the store of the broker. The local supervisor writes one, too: a broker from
before its group had a controller founds the group.
"""

import json
from dataclasses import asdict, dataclass, replace
from typing import Final, Self

ORDER_NAME: Final = ".modeSwitch"


@dataclass(frozen=True, slots=True)
class SwitchOrder:
    """Hold whether the broker makes its whole log epoch 0, and whether that is done.

    `others` are the members from which a master takes over what they did while it was absent.
    """

    founds: bool = False
    is_founded: bool = False
    others: tuple[str, ...] = ()

    def encode(self) -> bytes:
        """Write the order as the content of its file."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def decode(cls, content: bytes) -> Self:
        """Read the content of the file.

        Raises:
            ValueError: the content is no order.
        """
        given = json.loads(content)
        try:
            return cls(bool(given["founds"]), bool(given["is_founded"]), tuple(given["others"]))
        except (KeyError, TypeError) as error:
            raise ValueError(f"{content[:100]!r} is no order") from error

    def founded(self) -> Self:
        """Return the rest of the order, once the group is founded."""
        return replace(self, is_founded=True)
