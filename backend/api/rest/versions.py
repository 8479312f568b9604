"""Send versions of editable objects as entity tags (RFC 9110, 8.8.3 and 13.1.1).

A tag depends only on the editable values, not on the figures beside them. So it is for `If-Match`,
and not for caching.
"""

from typing import Annotated, Any, Final

from fastapi import Header, Response

from backend.domain.version import VERSION_LENGTH

_TAG: Final = rf'^(\*|"[0-9a-f]{{{VERSION_LENGTH}}}")$'

IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        pattern=_TAG,
        description="ETag of the resource as it was read; refused (412) if the ETag has changed.",
    ),
]
TAGGED: Final[dict[str, Any]] = {
    "headers": {
        "ETag": {
            "description": "Version of the resource, for `If-Match`.",
            "schema": {"type": "string"},
        }
    }
}


def put_tag(response: Response, version: str) -> None:
    """Add the version of an object to the answer."""
    response.headers["ETag"] = f'"{version}"'


def expected_version(if_match: str | None) -> str | None:
    """Return the version that a request expects; `*` means any."""
    return None if if_match in {None, "*"} else if_match.strip('"')
