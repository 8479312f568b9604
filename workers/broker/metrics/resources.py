"""Measure the resources that this process uses."""

import os
from dataclasses import dataclass
from pathlib import Path

from workers.broker.configuration.settings import BrokerSettings


@dataclass(frozen=True, slots=True)
class Disk:
    """The size of the file system below a path."""

    path: Path
    total_bytes: int
    used_bytes: int
    free_bytes: int

    @property
    def usable_bytes(self) -> int:
        """Return the space for ordinary processes: the system reserves the rest of a disk."""
        return self.used_bytes + self.free_bytes

    @property
    def used_ratio(self) -> float:
        """Return `used_percent` as a ratio, in the form of stock's tools."""
        return self.used_percent / 100

    @property
    def used_percent(self) -> int:
        """Return the used share of the space for ordinary processes, rounded up."""
        return -(-self.used_bytes * 100 // self.usable_bytes) if self.usable_bytes else 100


@dataclass(frozen=True, slots=True)
class StoreDisks:
    """The file systems of the log, and of queues and index: usually the same one."""

    log: Disk
    queues: Disk

    @property
    def fuller(self) -> Disk:
        """Return the fuller one: a store accepts no message without space on both."""
        return max(self.log, self.queues, key=lambda disk: disk.used_percent)


def store_disks_of(settings: BrokerSettings) -> StoreDisks:
    """Measure the file systems of a store; its log may have another directory."""
    queues, log_dir = disk_of(settings.root_dir), settings.commit_log_dir
    return StoreDisks(queues if log_dir is None else disk_of(log_dir), queues)


def disk_of(path: Path) -> Disk:
    """Measure the file system below a path; free is the space for an ordinary process."""
    figures = os.statvfs(path)
    return Disk(
        path=path,
        total_bytes=figures.f_blocks * figures.f_frsize,
        used_bytes=(figures.f_blocks - figures.f_bfree) * figures.f_frsize,
        free_bytes=figures.f_bavail * figures.f_frsize,
    )


def memory_bytes() -> int:
    """Measure the memory of the machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")


def resident_bytes() -> int:
    """Measure resident memory without mapped files, which belong to the page cache."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()
    resident, shared = int(pages[1]), int(pages[2])
    return (resident - shared) * os.sysconf("SC_PAGESIZE")
