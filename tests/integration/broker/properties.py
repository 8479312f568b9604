"""The settings of the agents that tests start."""

from pathlib import Path
from typing import Final

SEGMENT_BYTES: Final = 5 << 20
"""Room for the largest message. A broker makes all pages of a segment before it starts."""


def broker_properties(root: Path, **properties: str) -> dict[str, str]:
    return {
        "brokerClusterName": "TestCluster",
        "brokerName": "broker-t",
        "bindAddress": "127.0.0.1",
        "listenPort": "0",
        "brokerIP1": "127.0.0.1",
        "brokerIP2": "127.0.0.1",
        "storePathRootDir": str(root / "store"),
        "mappedFileSizeCommitLog": str(SEGMENT_BYTES),
        "mappedFileSizeConsumeQueue": "60000",
        "maxHashSlotNum": "1000",
        "maxIndexNum": "5000",
        "messageDelayLevel": "1s 1s 1s 1s 1s 2s",
        "flushIntervalCommitLog": "50",
        "mappedFileSizeTimerLog": str(1 << 20),
    } | properties
