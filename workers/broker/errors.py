"""Say how a request is refused, or has an end that nobody knows: a code and one sentence."""

from backend.remoting.response_code import ResponseCode


class Refusal(Exception):  # noqa: N818 - named for what it says, as all errors here
    """A request cannot be served; the dispatcher answers with the code and the sentence."""

    def __init__(self, code: ResponseCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class Unconfirmed(Exception):  # noqa: N818 - named for what it says, as all errors here
    """A change was made here, and may survive or not: who asks again is told once that is known."""

    def __init__(self, code: ResponseCode, reason: str) -> None:
        super().__init__(f"{reason}: ask again")
        self.code = code
