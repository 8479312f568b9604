"""Name the versions of what people edit, so that nobody overwrites what they have not seen.

A version is a digest of what can be edited and of nothing else: figures that are shown beside it
may move, and it stays.
"""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from backend.domain.errors import VersionMoved

VERSION_LENGTH: Final = 32


def version_of(value: Any) -> str:
    """Name the version of a value that JSON can hold; data classes are their fields."""
    encoded = json.dumps(value, sort_keys=True, default=dataclasses.asdict)
    return hashlib.sha256(encoded.encode()).hexdigest()[:VERSION_LENGTH]


def version_by_group(settings: Mapping[str, Any]) -> str:
    """Name the version of what each broker group is set to."""
    return version_of(sorted(settings.items()))


def check_version(what: str, found: str, *, expected: str | None) -> None:
    """Refuse an edit of another version than the present one; without one any will do.

    Raises:
        VersionMoved: it was edited since.
    """
    if expected is not None and expected != found:
        raise VersionMoved(what, expected=expected, found=found)
