"""List the kinds of operations there are; a new kind is a new file and a line here."""

from typing import Final

from backend.services.operations import (
    adopt_replicas,
    elect_master,
    forget_replicas,
    prefer_master,
)
from backend.services.operations.kind import Kinds

KINDS: Final[Kinds] = {
    kind.name: kind
    for kind in (
        elect_master.KIND,
        prefer_master.KIND,
        forget_replicas.KIND,
        adopt_replicas.KIND,
    )
}
