"""Name a broker so that no failover changes the name: its group and the id that it keeps (D31).

Under a controller the id is the controller's. The controller gives ids from 1 on, and none twice.
Without a controller it is the id of the broker's settings, which no election changes: 0 is the
master there. Who registers as master under a controller registers the id 0 of the role, which is
no name: a lookup takes it as the present master.

The last hyphen ends the name of the group, and an id is written one way only. So a text names at
most one broker, whatever hyphens and digits the names of groups hold.
"""

import re
from dataclasses import dataclass
from typing import Final, Self

from backend.domain.errors import InvalidName
from backend.domain.names import check_broker_group_name

OWN_ID_MAX: Final = 2**63 - 1

# With a slash the former spelling, which links, scripts and recorded history still hold.
_NAME: Final = re.compile(r"(?P<group>.+)[-/](?P<id>0|[1-9][0-9]{0,18})", re.DOTALL)


@dataclass(frozen=True, slots=True, order=True)
class BrokerName:
    """Hold what a broker is called: `broker-a-2` is the broker 2 of the group `broker-a`."""

    broker_group_name: str
    own_id: int

    def __str__(self) -> str:
        return f"{self.broker_group_name}-{self.own_id}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a name, or its former spelling `broker-a/2`.

        Raises:
            InvalidName: no broker can be called so.
        """
        found = _NAME.fullmatch(text)
        if found is None or int(found["id"]) > OWN_ID_MAX:
            reason = "is not the name of a broker group, a hyphen and an id, as in broker-a-2"
            raise InvalidName(kind="broker", name=text, reason=reason)
        return cls(check_broker_group_name(found["group"]), int(found["id"]))
