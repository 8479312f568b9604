"""Compute versions of editable objects, so that no edit overwrites an unseen change.

A version is a digest of the editable values only: it does not change with the figures that are
shown beside them.
"""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from backend.domain.errors import VersionMoved

VERSION_LENGTH: Final = 32


def version_of(value: Any) -> str:
    """Return the version of a JSON value; data classes are their fields."""
    encoded = json.dumps(value, sort_keys=True, default=dataclasses.asdict)
    return hashlib.sha256(encoded.encode()).hexdigest()[:VERSION_LENGTH]


def version_by_group(settings: Mapping[str, Any]) -> str:
    """Return the version of the settings of each broker group."""
    return version_of(sorted(settings.items()))


def check_version(what: str, found: str, *, expected: str | None) -> None:
    """Refuse an edit of another version than the present one; None accepts any version.

    Raises:
        VersionMoved: the object was edited since then.
    """
    if expected is not None and expected != found:
        raise VersionMoved(what, expected=expected, found=found)
