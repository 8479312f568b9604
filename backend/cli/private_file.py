"""Write what only its owner may read, such as a token; a file is there whole or not at all."""

import os
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Replace a file by one of mode 600 with this text.

    Raises:
        OSError: it can't be written.
    """
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    # Made unreadable to others before the first token is in it.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
