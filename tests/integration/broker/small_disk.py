"""A separate file system for a store, small enough to be filled, or on a disk that fails."""

import os
import shutil
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
    _make(image)
    with _mounted(image, root):
        yield SmallDisk(root)


@dataclass(frozen=True)
class FailingDisk:
    """A mounted ext4 image which itself lies where room can run out: then writes to it fail."""

    root: Path
    _image: Path

    @property
    def store(self) -> Path:
        return self.root / "store"

    def fail(self) -> None:
        """Let every write fail to what was never written before."""
        with self._ballast.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(BLOCK_BYTES))
            except OSError:
                return

    def work(self) -> None:
        """Let writes succeed again."""
        self._ballast.unlink()

    @contextmanager
    def after_power_cut(self, directory: Path) -> Iterator[Path]:
        """Mount what the disk has by now, without what only memory has; give the store in it."""
        image, root = directory / "power-cut.img", directory / "power-cut"
        shutil.copyfile(self._image, image)
        root.mkdir()
        with _mounted(image, root):
            yield root / "store"

    @property
    def _ballast(self) -> Path:
        return self._image.parent / "ballast"


@contextmanager
def failing(directory: Path) -> Iterator[FailingDisk]:
    """Make an ext4 image without a journal in a file system of 64 MiB, and mount both.

    Raises:
        AssertionError: this machine does not let us, so that nothing can be shown.
    """
    outer, root = directory / "outer", directory / "failing"
    outer.mkdir()
    root.mkdir()
    image = outer / "disk.img"
    _run("mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES + (24 << 20)}", "tmpfs", str(outer))
    try:
        _make(image, "-O", "^has_journal")
        with _mounted(image, root):
            yield FailingDisk(root, image)
    finally:
        _run("umount", "--lazy", str(outer))


@contextmanager
def _mounted(image: Path, root: Path) -> Iterator[None]:
    _run("mount", "-o", "loop", str(image), str(root))
    try:
        yield
    finally:
        # Lazily: whatever a failing test left open must not keep it mounted for ever.
        _run("umount", "--lazy", str(root))


def _make(image: Path, *options: str) -> None:
    with image.open("wb") as file:
        file.truncate(DISK_BYTES)
    # Nothing is reserved for root, which would else go on where other users' disk is full.
    _run("mkfs.ext4", "-q", "-F", "-m", "0", *options, "-b", str(BLOCK_BYTES), str(image))


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (
        f"{' '.join(command)}: {done.stderr.strip()}. The tests of full disks mount a file as one: "
        "run them as root where there are loop devices (modprobe loop) and e2fsprogs."
    )
