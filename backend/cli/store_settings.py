"""The settings that the store's files depend on: from options, broker.conf, or stock's defaults."""

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from backend.cli.errors import CommandError, ExitCode
from backend.java_properties import parse_properties_text

INDEX_SLOTS: Final = 5_000_000
INDEX_ENTRIES: Final = 20_000_000
# As brokers accept it.
FILE_SIZE_MAX: Final = 1 << 31
# Stock uses signed 32-bit integers for these, and for the size of an index file.
_COUNT_MAX: Final = (1 << 31) - 1
_INDEX_FILE_BYTES_MAX: Final = (1 << 31) - 1
_DELAY_LEVEL: Final = re.compile(r"([0-9]{1,9})([smhd])")
_DELAY_LEVEL_COUNT_MAX: Final = 1024
_UNIT_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_WHOLE: Final = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """The settings of a broker that determine the layout of its store's files.

    Attributes:
        commit_log: storePathCommitLog; None is the directory `commitlog` of the store.
        delay_levels_ms: messageDelayLevel, in milliseconds; None is stock's.
        index_slots: maxHashSlotNum.
        index_entries: maxIndexNum.
        queue_file_size: mappedFileSizeConsumeQueue, in bytes.
        crc: enabledAppendPropCRC: whether records end in a checksum that has to fit.
    """

    commit_log: Path | None = None
    delay_levels_ms: list[int] | None = None
    index_slots: int = INDEX_SLOTS
    index_entries: int = INDEX_ENTRIES
    queue_file_size: int | None = None
    crc: bool = False

    @property
    def index_file_bytes(self) -> int:
        """The size of an index file, in bytes (storage-and-ha.md 4.1)."""
        return 40 + 4 * self.index_slots + 20 * self.index_entries

    @property
    def crc_property(self) -> str:
        """The engine's name of the `crc` value."""
        return "verified" if self.crc else "off"


def settings_of(
    config: Path | None, *, delay_levels: str | None = None, **options: Any
) -> StoreSettings:
    """Combine the options with the values of broker.conf; options come first.

    Args:
        config: The broker.conf, if it is to be asked.
        delay_levels: The delay levels as a broker.conf has them.
        options: Further options by the names of the settings; None, and a flag that is not set,
            say nothing.

    Raises:
        CommandError: the file can't be read, or a broker refuses a value.
    """
    found = {} if config is None else _read(config)
    found |= {
        name: value for name, value in options.items() if value is not None and value is not False
    }
    if delay_levels is not None:
        try:
            found["delay_levels_ms"] = _delay_levels_ms(delay_levels)
        except ValueError as error:
            raise CommandError(
                f"--delay-levels {delay_levels!r}: {error}",
                next_step="write levels as in broker.conf: --delay-levels '1s 5s 10s 1m 2h'",
                exit_code=ExitCode.USAGE,
            ) from error
    settings = StoreSettings(**found)
    _refuse_index_shape(settings)
    return settings


def _delay_levels_ms(text: str) -> list[int]:
    words = text.split()
    if not 1 <= len(words) <= _DELAY_LEVEL_COUNT_MAX:
        raise ValueError(
            f"{len(words)} delay levels are none that a broker takes: 1 to {_DELAY_LEVEL_COUNT_MAX}"
        )
    levels = []
    for word in words:
        found = _DELAY_LEVEL.fullmatch(word)
        if found is None:
            raise ValueError(f"{word!r} is no delay level")
        levels.append(int(found[1]) * _UNIT_MS[found[2]])
    return levels


def _refuse_index_shape(settings: StoreSettings) -> None:
    """Refuse numbers for which the files of an index would be too large."""
    size = settings.index_file_bytes
    if size > _INDEX_FILE_BYTES_MAX:
        raise CommandError(
            f"no index file has {settings.index_slots} slots and {settings.index_entries} entries",
            why=f"it would have {size} bytes, and brokers make none of over"
            f" {_INDEX_FILE_BYTES_MAX}",
            next_step="give --index-slots and --index-entries as broker.conf has maxHashSlotNum and"
            " maxIndexNum, or leave them out if it sets neither",
            exit_code=ExitCode.USAGE,
        )


def _whole(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not _WHOLE.fullmatch(text) or not low <= int(text) <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return int(text)

    return read


def _flag(text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise ValueError("must be true or false")
    return text.lower() == "true"


def _directory(text: str) -> Path:
    if "," in text:
        raise ValueError("names several directories, and a log in one is all that can be read")
    return Path(text)


_PROPERTIES: Final[dict[str, tuple[str, Callable[[str], Any]]]] = {
    "commit_log": ("storePathCommitLog", _directory),
    "delay_levels_ms": ("messageDelayLevel", _delay_levels_ms),
    "index_slots": ("maxHashSlotNum", _whole(1, _COUNT_MAX)),
    "index_entries": ("maxIndexNum", _whole(2, _COUNT_MAX)),
    "queue_file_size": ("mappedFileSizeConsumeQueue", _whole(20, FILE_SIZE_MAX)),
    "crc": ("enabledAppendPropCRC", _flag),
}
assert _PROPERTIES.keys() == {field.name for field in fields(StoreSettings)}


def _read(config: Path) -> dict[str, Any]:
    try:
        properties = parse_properties_text(config.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(
            f"the configuration {config} could not be read",
            why=str(error),
            next_step="give the file that the broker is started with (-c), or leave out --config",
            exit_code=ExitCode.NOT_FOUND,
        ) from error
    found = {}
    for name, (title, read) in _PROPERTIES.items():
        if text := properties.get(title):
            try:
                found[name] = read(text)
            except ValueError as error:
                raise CommandError(
                    f"{config}: {title}={text}: {error}",
                    next_step="mend the file, or leave out --config and give options instead",
                    exit_code=ExitCode.USAGE,
                ) from error
    return found
