"""List the kinds of operations there are; a new kind is a new file and a line here."""

from typing import Final

from backend.services.operations import (
    adopt_replicas,
    cordon_broker,
    drain_broker,
    elect_master,
    forget_broker,
    forget_replicas,
    release_locks,
    uncordon_broker,
)
from backend.services.operations.kind import Kinds

KINDS: Final[Kinds] = {
    kind.name: kind
    for kind in (
        elect_master.KIND,
        forget_replicas.KIND,
        adopt_replicas.KIND,
        release_locks.KIND,
        cordon_broker.KIND,
        uncordon_broker.KIND,
        drain_broker.KIND,
        forget_broker.KIND,
    )
}
