"""Say how a request is refused: one code of the protocol and one sentence."""

from backend.remoting.response_code import ResponseCode


class Refusal(Exception):  # noqa: N818 - named for what it says, as all errors here
    """A request cannot be served; the dispatcher answers with the code and the sentence."""

    def __init__(self, code: ResponseCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
