"""Change single properties of a `broker.conf`, and leave the rest of the file unchanged."""

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from backend.java_properties import change_properties_text, parse_properties_text

_NEW: Final = ".new"
_BACKUP: Final = ".bak"


class ConfigFile:
    """The file that a broker was started with."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, str]:
        """Return the properties in it.

        Raises:
            OSError: the file can't be read.
        """
        return parse_properties_text(self._text())

    def change(self, changes: Mapping[str, str | None]) -> None:
        """Write new values of some properties, None to remove one, durably; blocks until done.

        The former content is kept in a second file. Comments, order and all other lines stay.

        Raises:
            OSError: the disk refused; the former content is still there.
        """
        text = self._text()
        folder = self.path.parent
        new_path = folder / (self.path.name + _NEW)
        mode = self.path.stat().st_mode
        with new_path.open("w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), mode & 0o777)
            file.write(change_properties_text(text, changes))
            file.flush()
            os.fsync(file.fileno())
        backup = folder / (self.path.name + _BACKUP)
        backup.unlink(missing_ok=True)
        os.link(self.path, backup)
        # Replaced by a rename, so the file is complete after a crash at any time.
        new_path.replace(self.path)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _text(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            # An operator wrote it so since the start; the start would have reported the same error.
            raise OSError(errno.EILSEQ, "is not UTF-8 text", str(self.path)) from error
