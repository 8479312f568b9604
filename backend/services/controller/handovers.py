"""Ask a living master for a handover before an operator's election replaces it (R10c).

The master confirms the messages that it has received, and lets its clients wait until it learns the
new master. The election does not depend on the answer: a master that does not answer soon is
replaced like a dead master, by the same rules (D9).
"""

import structlog

from backend.brokers.errors import NoAnswer
from backend.brokers.requests.replication import HandOver
from backend.domain.election import Ballot, elect_master
from backend.domain.errors import DomainError
from backend.services.controller.group_changes import BrokerGroupName, Controller, find_group

log = structlog.get_logger(__name__)


async def ask_for_handover(
    name: BrokerGroupName, ballot: Ballot, controller: Controller, *, expected_epoch: int | None
) -> None:
    """Ask the current master, if this election would replace it and it is alive.

    Raises:
        BrokerGroupAmbiguous: several clusters have a group of that name.
    """
    if controller.brokers is None:
        return
    view = await find_group(name, controller)
    if view is None or expected_epoch not in {None, view.group.master_epoch}:
        return
    group = view.group
    try:
        change = elect_master(group, view.liveness, ballot)
    except DomainError:
        # The election itself reports this, so there is no wait for a handover.
        return
    master = group.master
    if change is None or master is None or master.broker_id not in view.liveness.alive_ids:
        return
    try:
        await controller.brokers.ask(master.address, HandOver(master_epoch=group.master_epoch))
    except NoAnswer as error:
        log.info("master_hands_nothing_over", broker_name=group.name, reason=str(error))
