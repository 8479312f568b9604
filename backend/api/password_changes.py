"""Change one's own password through any door, as slowly as signing in for who guesses the old."""

from starlette.requests import HTTPConnection

from backend.api.context import ApiContext, name_author, peer_of
from backend.domain.access import Principal
from backend.services.access.users import change_password


async def change_own_password(
    principal: Principal,
    connection: HTTPConnection,
    door: str,
    *,
    old_password: str,
    new_password: str,
    context: ApiContext,
) -> int:
    """Replace one's own password; return how many other sessions ended.

    Raises:
        TooManyAttempts: somebody guesses the old one.
        InvalidPassword: the old one is wrong, or the new one is no good.
    """
    caller, name = peer_of(connection), principal.user_name
    with context.attempts.attempt(caller=caller, name=name):
        return await change_password(
            principal,
            name_author(principal, connection, door),
            old_password=old_password,
            new_password=new_password,
            verifier=context.verifier,
            database=context.database,
            clock=context.clock,
        )
