"""Change the password of the caller through any door, with the same limits as signing in."""

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
    """Replace the password of the caller; return how many other sessions ended.

    Raises:
        TooManyAttempts: there were too many wrong passwords. InvalidPassword: the old password is
        wrong, or the new password is invalid.
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
