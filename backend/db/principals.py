"""Find the user of a session or an API token.

Every request begins with this. So it uses the pipeline, which needs a fifth of the processor time.
"""

from datetime import datetime
from functools import reduce
from typing import Final
from uuid import UUID

import msgspec

from backend.db.pipeline import Pipeline, Statement
from backend.domain.access import Credential, Principal
from backend.domain.cluster_scope import ClusterScope
from backend.domain.user import Role

_FIND_BY_SESSION: Final = Statement(
    "find_by_session",
    """
SELECT json_build_object(
           'user_id', u.id, 'user_name', u.name, 'roles', json_build_array(u.role),
           'patterns', json_build_array(u.cluster_patterns),
           'must_change_password', u.password_expires_at IS NOT NULL,
           'credential_id', s.id, 'expires_at', s.expires_at, 'last_used_at', s.last_used_at)
  FROM sessions AS s JOIN users AS u ON u.id = s.user_id
 WHERE s.token_hash = decode(:token_hash, 'hex')
   AND s.expires_at > CAST(:at AS timestamptz)
   AND u.disabled_at IS NULL
""",
)
# The role and the clusters of a token never exceed the present ones of its owner.
_FIND_BY_TOKEN: Final = Statement(
    "find_by_token",
    """
SELECT json_build_object(
           'user_id', u.id, 'user_name', u.name, 'roles', json_build_array(t.role, u.role),
           'patterns', json_build_array(u.cluster_patterns, t.cluster_patterns),
           'must_change_password', u.password_expires_at IS NOT NULL,
           'credential_id', t.id, 'expires_at', t.expires_at, 'last_used_at', t.last_used_at,
           'credential_name', t.name, 'is_read_only', t.is_read_only)
  FROM api_tokens AS t JOIN users AS u ON u.id = t.user_id
 WHERE t.token_hash = decode(:token_hash, 'hex')
   AND t.expires_at > CAST(:at AS timestamptz)
   AND u.disabled_at IS NULL
""",
)
_STATEMENTS: Final = {
    Credential.SESSION: _FIND_BY_SESSION,
    Credential.TOKEN: _FIND_BY_TOKEN,
}


class _Row(msgspec.Struct):
    user_id: int
    user_name: str
    roles: list[Role]
    patterns: list[list[str]]
    must_change_password: bool
    credential_id: UUID
    expires_at: datetime
    last_used_at: datetime | None
    credential_name: str | None = None
    is_read_only: bool = False


_DECODER: Final = msgspec.json.Decoder(_Row)


async def find(
    pipeline: Pipeline, credential: Credential, token_hash: bytes, *, at: datetime
) -> tuple[Principal, datetime | None] | None:
    """Find the user of a valid credential at an instant, and its last use.

    A disabled user has neither sessions nor tokens.

    Raises:
        OperationalError: Postgres does not answer.
    """
    found = await pipeline.fetch(
        _STATEMENTS[credential], {"token_hash": token_hash.hex(), "at": at}
    )
    if not found:
        return None
    row = _DECODER.decode(found[0][0])
    principal = Principal(
        user_id=row.user_id,
        user_name=row.user_name,
        role=reduce(Role.at_most, row.roles),
        credential=credential,
        credential_id=row.credential_id,
        expires_at=row.expires_at,
        must_change_password=row.must_change_password,
        is_read_only=row.is_read_only,
        clusters=ClusterScope.of(*row.patterns),
        credential_name=row.credential_name,
    )
    return principal, row.last_used_at
