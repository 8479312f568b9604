"""Make the log of a broker without a group the beginning of the group's log.

That log belongs to no epoch, so replicas that copy it could not compare their logs later. So the
broker makes it epoch 0 with its next start, before the group's first election. Only the log that
founds a group may have epoch 0: two different logs in one epoch would be taken for equal.
"""

from backend.durable_files import replace_file
from backend.rules.mode_switch import ORDER_NAME, SwitchOrder
from backend.supervisor.layout import GroupLayout

EPOCH_FILE_NAME = "epochFileCheckpoint"


def found(group: GroupLayout) -> None:
    """Order the first broker to found the group, if the group is new and the store holds a log.

    Raises:
        OSError: the disk refused the write.
    """
    founder = group.brokers[0]
    segments = any((founder.store_path / "commitlog").glob("[0-9]*"))
    is_new = not any(broker.identity_path.exists() for broker in group.brokers)
    has_epochs = (founder.store_path / EPOCH_FILE_NAME).exists()
    if group.is_replicated and is_new and segments and not has_epochs:
        replace_file(founder.store_path / ORDER_NAME, SwitchOrder(founds=True).encode())
