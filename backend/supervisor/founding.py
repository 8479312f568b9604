"""Make the log of a broker without a group the beginning of the group's log.

That log belongs to no epoch, so replicas that copy it could not compare their logs later. So it
becomes epoch 0 before the group's first election (FORMAT.md section 8). Only the log that founds a
group may have epoch 0: two different logs in one epoch would be taken for equal.
"""

import os
import zlib

from backend.supervisor.layout import GroupLayout

EPOCH_FILE_NAME = "epochFileCheckpoint"


def found(group: GroupLayout) -> None:
    """Record epoch 0 in the first broker's store, if the group is new and the store holds a log.

    Raises:
        OSError: the disk refused the write.
    """
    founder = group.brokers[0]
    path = founder.store_path / EPOCH_FILE_NAME
    segments = sorted((founder.store_path / "commitlog").glob("[0-9]*"))
    is_new = not any(broker.identity_path.exists() for broker in group.brokers)
    if not (group.is_replicated and is_new and segments) or path.exists():
        return
    lines = f"0-{int(segments[0].name)}\n"
    checksum = zlib.crc32(lines.encode()) & 0x7FFFFFFF
    new_path = path.with_name(path.name + ".new")
    with new_path.open("w", encoding="ascii") as file:
        file.write(f"1\n{checksum}\n{lines}")
        file.flush()
        os.fsync(file.fileno())
    new_path.replace(path)
