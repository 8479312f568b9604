"""Name a broker by its group and its own id, so that no failover changes the name (D31).

Under a controller, the controller assigns the id. It assigns ids from 1 on, and none twice. Without
a controller, the id is that of the broker's settings, and 0 is the master. A master under a
controller registers with the id 0 of its role. This id is no name: a lookup takes it as the present
master.

The last hyphen ends the name of the group, and an id has only one spelling. So a text names at most
one broker, also if names of groups contain hyphens and digits.
"""

import re
from dataclasses import dataclass
from typing import Final, Self

from backend.domain.errors import InvalidName
from backend.domain.names import check_broker_group_name

OWN_ID_MAX: Final = 2**63 - 1

# The spelling with a slash is the former one, which links, scripts and recorded history contain.
_NAME: Final = re.compile(r"(?P<group>.+)[-/](?P<id>0|[1-9][0-9]{0,18})", re.DOTALL)


@dataclass(frozen=True, slots=True, order=True)
class BrokerName:
    """Hold the name of a broker: `broker-a-2` is the broker 2 of the group `broker-a`."""

    broker_group_name: str
    own_id: int

    def __str__(self) -> str:
        return f"{self.broker_group_name}-{self.own_id}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a name, or its former spelling `broker-a/2`.

        Raises:
            InvalidName: the text is no name of a broker.
        """
        found = _NAME.fullmatch(text)
        if found is None or int(found["id"]) > OWN_ID_MAX:
            reason = "is not the name of a broker group, a hyphen and an id, as in broker-a-2"
            raise InvalidName(kind="broker", name=text, reason=reason)
        return cls(check_broker_group_name(found["group"]), int(found["id"]))
