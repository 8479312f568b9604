"""Write a file that only its owner may read, such as a token; the write is atomic."""

import os
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Replace a file by a file of mode 600 with this text.

    Raises:
        OSError: the file can't be written.
    """
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    # The mode is set before the file holds a token.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
