"""Define the errors of requests: a refusal, or an unknown outcome, with code and sentence."""

from backend.remoting.response_code import ResponseCode


class Refusal(Exception):
    """A request is refused; the dispatcher answers with the code and the sentence."""

    def __init__(self, code: ResponseCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class Unconfirmed(Exception):
    """A change was made here and may be lost; a repeated request gets the known outcome later."""

    def __init__(self, code: ResponseCode, reason: str) -> None:
        super().__init__(f"{reason}: ask again")
        self.code = code
