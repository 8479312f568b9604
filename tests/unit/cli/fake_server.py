"""The REST door as far as the command line sees it."""

import httpx

SERVER = "http://regent.test:8080"
SESSION = {"name": "admin", "role": "admin", "expires_at": "2026-03-02T12:00:00Z"}


def refusal(status: int, code: str, message: str, facts=None) -> httpx.Response:
    body = {"status": status, "code": code, "detail": message, "facts": facts}
    headers = {"Content-Type": "application/problem+json"}
    return httpx.Response(status, json=body, headers=headers)


def event_stream(text: str) -> httpx.Response:
    return httpx.Response(200, text=text, headers={"Content-Type": "text/event-stream"})


def quiet_events(request: httpx.Request) -> httpx.Response:
    """Answer as a server does where nothing happens: it says that it is there, and no more."""
    if request.headers.get("Accept") == "text/event-stream":
        return event_stream("id: 7\n\n")
    return httpx.Response(200, json={"items": [], "newest_number": 7})


class FakeServer:
    """Answer requests from a table and remember them."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, str], list] = {}
        self.requests: list[httpx.Request] = []

    def on(self, method: str, path: str, *answers) -> None:
        self.answers[method, path] = list(answers)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        # As it came: a request that is sent again with another token is the same object.
        seen = httpx.Request(
            request.method, request.url, headers=request.headers, content=request.content
        )
        self.requests.append(seen)
        path = request.url.raw_path.decode().split("?")[0].removeprefix("/api/v1")
        answers = self.answers.get((request.method, path))
        if answers is None and path == "/events":
            return quiet_events(request)
        if answers is None:
            return refusal(404, "not_found", f"no {path}")
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer if isinstance(answer, httpx.Response) else httpx.Response(200, json=answer)
