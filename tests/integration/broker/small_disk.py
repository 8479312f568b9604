"""A file system of its own for a store, small enough to be filled."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

DISK_BYTES = 40 << 20
BLOCK_BYTES = 4096
CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class SmallDisk:
    """A mounted ext4 image, and a file that takes the room a test wants to be gone."""

    root: Path

    @property
    def store(self) -> Path:
        return self.root / "store"

    @property
    def free_bytes(self) -> int:
        figures = os.statvfs(self.root)
        return figures.f_bavail * figures.f_frsize

    def fill(self, *, free_bytes: int = 0) -> None:
        """Take room until no more than so much is free; 0 takes the last block there is."""
        with self._ballast.open("ab") as file:
            size = file.tell()
            for chunk in (CHUNK_BYTES, BLOCK_BYTES):
                while self.free_bytes - chunk >= free_bytes:
                    try:
                        os.posix_fallocate(file.fileno(), size, chunk)
                    except OSError:
                        break
                    size += chunk
        os.sync()

    def clear(self) -> None:
        """Give the room back."""
        self._ballast.unlink()

    @property
    def _ballast(self) -> Path:
        return self.root / "ballast"


@contextmanager
def mounted(directory: Path) -> Iterator[SmallDisk]:
    """Make an ext4 image, and mount it until the block ends.

    Raises:
        AssertionError: this machine does not let us, so that nothing can be shown.
    """
    image, root = directory / "disk.img", directory / "disk"
    root.mkdir()
    with image.open("wb") as file:
        file.truncate(DISK_BYTES)
    # Nothing is reserved for root, which would else go on where other users' disk is full.
    _run("mkfs.ext4", "-q", "-F", "-m", "0", "-b", str(BLOCK_BYTES), str(image))
    _run("mount", "-o", "loop", str(image), str(root))
    try:
        yield SmallDisk(root)
    finally:
        # Lazily: whatever a failing test left open must not keep it mounted for ever.
        _run("umount", "--lazy", str(root))


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (
        f"{' '.join(command)}: {done.stderr.strip()}. The tests of full disks mount a file as one: "
        "run them as root where there are loop devices (modprobe loop) and e2fsprogs."
    )
