"""Send requests to the REST API, and turn its errors into texts for a terminal."""

import contextlib
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote

import httpx
from httpx_sse import EventSource, ServerSentEvent

from backend.cli.errors import CommandError, ExitCode, ServerUnreachable
from backend.cli.local_session import LocalSession, json_object
from backend.cli.reader import outlive_reader
from backend.cli.target import LOCAL_USER, Options, Target, find_target

TIMEOUT: Final = httpx.Timeout(15, connect=5)
PAGE_SIZE: Final = 200
_SWALLOWED: Final = frozenset({"", ".", ".."})
_EXIT_CODES: Final[Mapping[int, ExitCode]] = {
    HTTPStatus.NOT_FOUND: ExitCode.NOT_FOUND,
    HTTPStatus.UNAUTHORIZED: ExitCode.NOT_ALLOWED,
    HTTPStatus.FORBIDDEN: ExitCode.NOT_ALLOWED,
    HTTPStatus.BAD_REQUEST: ExitCode.USAGE,
    HTTPStatus.UNPROCESSABLE_ENTITY: ExitCode.USAGE,
    HTTPStatus.CONFLICT: ExitCode.REFUSED,
    HTTPStatus.PRECONDITION_FAILED: ExitCode.REFUSED,
}

LISTS: Final[Mapping[str, str]] = {
    "api_token_not_found": "regent token list",
    "broker_group_not_controlled": "regent replica list",
    "broker_group_not_found": "regent broker list",
    "broker_not_registered": "regent replica list",
    "broker_unknown": "regent broker list",
    "capacity_report_not_found": "regent capacity list",
    "client_not_found": "regent client list",
    "cluster_not_found": "regent cluster list",
    "consumer_group_not_found": "regent group list",
    "dead_letters_not_found": "regent message dlq list GROUP",
    "lock_not_found": "regent lock list",
    "transaction_not_found": "regent transaction list",
    "waiting_message_not_found": "regent timer list",
    "message_not_found": "regent message find TOPIC --key KEY",
    "operation_not_found": "regent operation list",
    "route_not_found": "regent topic list",
    "session_not_found": "regent session list",
    "share_leases_not_found": "regent queue share list",
    "share_queue_not_found": "regent queue share list",
    "shared_messages_not_found": "regent queue share list",
    "setting_not_found": "regent broker config get GROUP",
    "static_topic_not_found": "regent topic list",
    "topic_not_found": "regent topic list",
    "user_not_found": "regent user list",
}
"""The command that lists the valid names, by the code of the error."""

SEND_UNANSWERED: Final = "send_unanswered"
"""The error code for a message that may be stored."""

# The request may have taken effect.
_AFTER_SENDING: Final = (httpx.ReadTimeout, httpx.ReadError, httpx.RemoteProtocolError)


class RestClient:
    """Connect to a server with a token, or to a local cluster with a session."""

    def __init__(self, target: Target, *, transport: httpx.BaseTransport | None = None) -> None:
        self.target = target
        headers = {"User-Agent": "regent"}
        if target.token:
            headers["Authorization"] = f"Bearer {target.token}"
        self._http = httpx.Client(
            base_url=f"{target.server}/api/v1",
            headers=headers,
            # The token is the only credential.
            cookies=CookieJar(policy=DefaultCookiePolicy(allowed_domains=())),
            timeout=TIMEOUT,
            transport=transport,
            # Certificates take longer to load than a command takes, and only https needs them.
            verify=not target.server.startswith("http:"),
            # Proxy settings of the environment do not apply to the address of a cluster.
            trust_env=False,
        )
        self._own_session: LocalSession | None = None
        if target.local is not None:
            sign_in = _signing_in(LOCAL_USER, target.local.password)
            request = self._http.build_request("POST", "/session", **sign_in)
            self._own_session = LocalSession(request, target.local.session_path)
            self._http.auth = self._own_session

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._own_session is not None and self._own_session.is_passing:
            # A session that is left open expires.
            with contextlib.suppress(CommandError):
                self._call("DELETE", "/session")
        self._http.close()

    @property
    def signs_in_itself(self) -> bool:
        """Return whether an ended session is replaced by a new one without a prompt."""
        return self._own_session is not None

    def sign_in(self, name: str, password: str) -> dict[str, Any]:
        """Open a session and return it with its token."""
        session: dict[str, Any] = self._call("POST", "/session", **_signing_in(name, password))
        return session

    def get(self, path: str, **parameters: Any) -> Any:
        """Read one resource."""
        return self._call("GET", path, params=_present(parameters))

    @contextlib.contextmanager
    def stream(self, path: str, **parameters: Any) -> Iterator[Iterator[ServerSentEvent]]:
        """Open a stream and yield its server-sent events; silence is a lost connection.

        Raises:
            CommandError: the server refuses.
            httpx.HTTPError: the server can't be reached, or the connection is lost.
        """
        headers = {"Accept": "text/event-stream"}
        with self._http.stream("GET", path, params=_present(parameters), headers=headers) as answer:
            if not answer.is_success:
                answer.read()
                raise self._refusal(answer)
            yield EventSource(answer).iter_sse()

    def lines(self, path: str, **parameters: str | None) -> Iterator[str]:
        """Yield the lines of a file as they arrive; a truncated file is an error."""
        try:
            with self._http.stream("GET", path, params=_present(parameters)) as answer:
                if not answer.is_success:
                    answer.read()
                    raise self._refusal(answer)
                yield from _lines(answer)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error

    def post(
        self, path: str, body: Mapping[str, Any] | None = None, *, key: str | None = None
    ) -> Any:
        """Send a command; with the same key, a repeated request has one effect."""
        outlive_reader()
        arguments: dict[str, Any] = {} if body is None else {"json": body}
        if key is not None:
            arguments["headers"] = {"Idempotency-Key": key}
        return self._call("POST", path, **arguments)

    def put(self, path: str, body: Mapping[str, Any]) -> Any:
        """Replace one value."""
        outlive_reader()
        return self._call("PUT", path, json=body)

    def delete(self, path: str, **parameters: str | int | None) -> Any:
        """Delete one resource, or several."""
        outlive_reader()
        return self._call("DELETE", path, params=_present(parameters))

    def pages(
        self, path: str, *, limit: int, page_size: int = PAGE_SIZE, **parameters: Any
    ) -> Iterator[dict[str, Any]]:
        """Yield the pages of a list, up to a limit of items.

        Messages have no last page, since later messages may follow: `has_more` ends their pages.
        """
        after: str | None = None
        has_more = True
        while has_more and limit > 0:
            page = self.get(path, limit=min(limit, page_size), after=after, **parameters)
            yield page
            after = page["next"]
            limit -= len(page["items"])
            has_more = page.get("has_more", after is not None)

    def list(self, path: str, *, limit: int, **parameters: Any) -> Iterator[dict[str, Any]]:
        """Yield the items of a list, page after page, up to a limit."""
        for page in self.pages(path, limit=limit, **parameters):
            yield from page["items"]

    def _call(self, method: str, path: str, **arguments: Any) -> Any:
        try:
            response = self._http.request(method, path, **arguments)
        except UnicodeEncodeError as error:
            raise _not_a_text(str(error.object)[:200]) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            if method == "POST" and isinstance(error, _AFTER_SENDING):
                raise self._unanswered(error) from error
            raise self._unreachable(error) from error
        if response.is_success:
            return self._content(response)
        raise self._refusal(response)

    def _content(self, response: httpx.Response) -> Any:
        if not response.content:
            return None
        try:
            return response.json()
        except ValueError as error:
            raise CommandError(
                f"{self.target.server} is not a Regent control plane",
                why=f"its answer is {response.headers.get('content-type', 'no JSON')}",
                next_step="check --server and REGENT_URL, or the context: regent context show",
            ) from error

    def _unanswered(self, error: Exception) -> CommandError:
        return CommandError(
            f"{self.target.server} has not said whether it was done",
            why=f"{error or type(error).__name__}",
            next_step="look whether it was before trying again",
            exit_code=ExitCode.OUTCOME_UNKNOWN,
        )

    def _unreachable(self, error: Exception) -> ServerUnreachable:
        return ServerUnreachable(
            f"cannot reach the control plane at {self.target.server}",
            why=f"{error or type(error).__name__} (the address is from {self.target.origin})",
            next_step=self.target.restart or "check the address: regent whoami --server URL",
        )

    def _refusal(self, response: httpx.Response) -> CommandError:
        body = _error_body(response)
        status, code = response.status_code, str(json_object(response).get("code"))
        if code == SEND_UNANSWERED:
            return _unknown_send(json_object(response))
        next_step = LISTS.get(code)
        if status == HTTPStatus.UNAUTHORIZED:
            next_step = self.target.login
        elif status == HTTPStatus.TOO_MANY_REQUESTS:
            next_step = f"wait {response.headers.get('retry-after', '60')} s, then try again"
        elif status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            next_step = "try again, then look into the control plane's log"
        return CommandError(
            body or f"{self.target.server} answered {status} {response.reason_phrase}",
            why=_faults(response),
            next_step=next_step,
            exit_code=_EXIT_CODES.get(status, ExitCode.FAILED),
            code=code,
        )


def connect(options: Options) -> RestClient:
    """Return a client of the server that the options mean."""
    return RestClient(find_target(options))


def segment(name: str) -> str:
    """Return a name as one segment of a path.

    Raises:
        CommandError: URL normalization would remove the segment, and address another resource.
    """
    if name in _SWALLOWED:
        raise CommandError(
            f"{name!r} is not a name",
            why="in an address it would stand for another resource",
            next_step="give the name as the list shows it",
            exit_code=ExitCode.USAGE,
        )
    try:
        return quote(name, safe="")
    except UnicodeEncodeError as error:
        raise _not_a_text(name) from error


def _not_a_text(text: str) -> CommandError:
    return CommandError(
        f"{text.encode(errors='backslashreplace').decode()!r} is not UTF-8 text",
        why="it can't be sent to a control plane",
        next_step="check the arguments, and the encoding of the terminal",
        exit_code=ExitCode.USAGE,
    )


def _unknown_send(problem: Mapping[str, Any]) -> CommandError:
    topic, key = problem["facts"]["topic_name"], problem["facts"]["unique_key"]
    return CommandError(
        str(problem["detail"]),
        next_step=f"regent message find {topic} --unique-key {key}",
        exit_code=ExitCode.OUTCOME_UNKNOWN,
    )


def _signing_in(name: str, password: str) -> dict[str, Any]:
    return {"params": {"token": "true"}, "json": {"name": name, "password": password}}


def _present(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value is not None}


def _lines(answer: httpx.Response) -> Iterator[str]:
    """Split at line feeds only: JSON may contain the other line ends of Unicode."""
    rest = ""
    for text in answer.iter_text():
        *whole, rest = f"{rest}{text}".split("\n")
        yield from whole
    if rest:
        yield rest


def _error_body(response: httpx.Response) -> str | None:
    detail = json_object(response).get("detail")
    return str(detail) if detail else None


def _faults(response: httpx.Response) -> str | None:
    faults = json_object(response).get("facts")
    if not isinstance(faults, list):
        return None
    return "; ".join(
        f"{'.'.join(fault.get('at', []))}: {fault.get('reason')}"
        for fault in faults
        if isinstance(fault, dict)
    )
