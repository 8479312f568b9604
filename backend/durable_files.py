"""Replace small files so that a crash at any time leaves the former content or the new one, whole.

The new content is written beside the file, synced and renamed, and the directory is synced.
"""

import os
from pathlib import Path
from typing import Final

_NEW: Final = ".new"


def replace_file(
    path: Path,
    content: bytes,
    *,
    backup_path: Path | None = None,
    mode: int | None = None,
    is_durable: bool = True,
) -> None:
    """Replace the content of a file, or make the file; blocks until the content is on the disk.

    Args:
        path: The file; its directory exists.
        content: The new content.
        backup_path: The place for the former content, if there is one. At each moment the file and
            its backup, once there is one, have a whole content.
        mode: The permissions of the new file; those of a new file by default.
        is_durable: Without it, a crash of the machine may lose the new content, or both.

    Raises:
        OSError: the disk refused; the former content is still there.
    """
    new_path = _beside(path)
    with new_path.open("wb") as file:
        if mode is not None:
            os.fchmod(file.fileno(), mode)
        file.write(content)
        if is_durable:
            file.flush()
            os.fsync(file.fileno())
    if backup_path is not None and path.exists():
        _link(path, backup_path)
    new_path.replace(path)
    if is_durable:
        sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make the entries of a directory durable.

    Raises:
        OSError: the disk refused.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _link(path: Path, other: Path) -> None:
    """Give a file a second name in place of another file."""
    new_path = _beside(other)
    new_path.unlink(missing_ok=True)
    os.link(path, new_path)
    new_path.replace(other)
    # A rename does nothing where both names are of one file already, as after a crash.
    new_path.unlink(missing_ok=True)


def _beside(path: Path) -> Path:
    return path.with_name(path.name + _NEW)
