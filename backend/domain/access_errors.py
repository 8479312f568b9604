"""Define the errors of users, sessions and tokens.

Further classes of `errors.py`, under the same rules.
"""

from uuid import UUID

from backend.domain.errors import DomainError, ErrorKind


class PasswordChangeRequired(DomainError, kind=ErrorKind.FORBIDDEN):
    """The caller signed in with a one-time password, which must be replaced first."""

    code = "password_change_required"

    def __init__(self) -> None:
        super().__init__("replace the one-time password first: regent user password")


class InvalidPassword(DomainError, kind=ErrorKind.INVALID):
    """A new password breaks the rules."""

    code = "invalid_password"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class InvalidClusterPattern(DomainError, kind=ErrorKind.INVALID):
    """A pattern fits no possible cluster name, or there is no pattern at all."""

    code = "invalid_cluster_pattern"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class InvalidTokenScope(DomainError, kind=ErrorKind.INVALID):
    """The scope or the lifetime of the requested token is too large."""

    code = "invalid_token_scope"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UserNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """No user has the name."""

    code = "user_not_found"

    def __init__(self, user_name: str) -> None:
        super().__init__(f"no user {user_name[:300]!r}")
        self.user_name = user_name


class UserAlreadyExists(DomainError, kind=ErrorKind.CONFLICT):
    """A user has the name already."""

    code = "user_already_exists"

    def __init__(self, user_name: str) -> None:
        super().__init__(f"a user {user_name!r} is there already")
        self.user_name = user_name


class LastAdministrator(DomainError, kind=ErrorKind.CONFLICT):
    """Without this user there would be no administrator."""

    code = "last_administrator"

    def __init__(self, user_name: str) -> None:
        reason = f"{user_name!r} is the last administrator of all clusters who can sign in"
        super().__init__(f"{reason}; add one first")
        self.user_name = user_name


class SessionNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """No open session has the id, or it belongs to another user."""

    code = "session_not_found"

    def __init__(self, session_id: UUID) -> None:
        super().__init__(f"no open session {session_id}")
        self.session_id = session_id


class ApiTokenNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """No token has the id, or it belongs to another user."""

    code = "api_token_not_found"

    def __init__(self, token_id: UUID) -> None:
        super().__init__(f"no token {token_id}")
        self.token_id = token_id


class ApiTokenAlreadyExists(DomainError, kind=ErrorKind.CONFLICT):
    """The user already has a token of this name."""

    code = "api_token_already_exists"

    def __init__(self, name: str) -> None:
        super().__init__(f"a token {name!r} is there already; revoke it, or choose another name")
        self.name = name


class TooManyApiTokens(DomainError, kind=ErrorKind.CONFLICT):
    """The user has the maximum number of tokens."""

    code = "too_many_api_tokens"

    def __init__(self, count_max: int) -> None:
        super().__init__(f"a user has {count_max} tokens at most; revoke one first")
        self.count_max = count_max
