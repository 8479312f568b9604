"""The settings of the agents that tests start."""

from pathlib import Path


def broker_properties(root: Path, **properties: str) -> dict[str, str]:
    return {
        "brokerClusterName": "TestCluster",
        "brokerName": "broker-t",
        "bindAddress": "127.0.0.1",
        "listenPort": "0",
        "brokerIP1": "127.0.0.1",
        "brokerIP2": "127.0.0.1",
        "storePathRootDir": str(root / "store"),
        "mappedFileSizeCommitLog": str(5 << 20),
        "mappedFileSizeConsumeQueue": "60000",
        "maxHashSlotNum": "1000",
        "maxIndexNum": "5000",
        "messageDelayLevel": "1s 1s 1s 1s 1s 2s",
        "flushIntervalCommitLog": "50",
        "mappedFileSizeTimerLog": str(1 << 20),
    } | properties
