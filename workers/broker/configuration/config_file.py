"""Change single properties of a `broker.conf`, and leave the rest of the file unchanged."""

import errno
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from backend.durable_files import replace_file
from backend.java_properties import change_properties_text, parse_properties_text

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
        replace_file(
            self.path,
            change_properties_text(text, changes).encode(),
            backup_path=self.path.with_name(self.path.name + _BACKUP),
            mode=self.path.stat().st_mode & 0o777,
        )

    def _text(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            # An operator wrote it so since the start; the start would have reported the same error.
            raise OSError(errno.EILSEQ, "is not UTF-8 text", str(self.path)) from error
