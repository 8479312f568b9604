"""How the command line ends when its reader leaves early (console-and-cli.md 2.1)."""

import http.server
import json
import os
import subprocess
import sys
import threading
from functools import partial
from itertools import product

import pytest

from tests.long_form import few
from tests.unit.cli.test_orders import operation

TALK = """
from backend.cli.app import app, main
app.command(lambda: print("a line"), name="talk")
main(["talk"])
"""
REGENT = ("-c", "from backend.cli.app import main; main()")
PLANNED = operation()
DONE = {**PLANNED, "state": "done", "outcome": "all as intended"}


class Control(http.server.BaseHTTPRequestHandler):
    """Answers as a control plane with one operation, and remembers what it was asked."""

    def do_GET(self):
        self._answer({"items": [PLANNED], "next": None} if self._ends("/operations") else self.plan)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.asked.append((self.path, json.loads(body)))
        self._answer(PLANNED if self._ends("/operations") else self.end)

    def log_message(self, *_):
        pass

    def _ends(self, path):
        return self.path.partition("?")[0].endswith(path)

    def _answer(self, body):
        content = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def control():
    """Serve a control plane; give its address and what it was asked to change."""
    handler = type("Handler", (Control,), {"asked": [], "plan": PLANNED, "end": DONE})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield handler, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def run_unread(*arguments, url="http://127.0.0.1:1", closes_errors=False):
    """Run a command whose reader is gone before its first byte."""
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [sys.executable, *arguments],
        stdout=writer,
        stderr=writer if closes_errors else subprocess.PIPE,
        env={**os.environ, "REGENT_URL": url, "REGENT_TOKEN": "t"},
        check=False,
        timeout=60,
    )
    os.close(writer)
    return ended


run_regent = partial(run_unread, *REGENT)


@pytest.mark.parametrize(
    "arguments", [("-c", TALK), (*REGENT, "--help"), (*REGENT, "topic", "create", "--help")]
)
def test_what_only_looks_ends_with_its_reader_as_by_sigpipe_and_without_a_trace(arguments):
    ended = run_unread(*arguments)

    assert (ended.returncode, ended.stderr) == (141, b"")


@pytest.mark.parametrize("form", few(["table", "json", "yaml"], 2))
def test_a_list_without_a_reader_is_no_failure_and_not_done(control, form):
    _, url = control

    ended = run_regent("operation", "list", "-o", form, url=url)

    assert (ended.returncode, ended.stderr) == (141, b"")


@pytest.mark.parametrize(
    ("command", "closes_errors", "form"),
    few(
        product(
            [
                ("topic", "create", "orders", "--cluster", "c"),
                ("operation", "confirm", PLANNED["id"]),
            ],
            [False, True],
            ["table", "json"],
        ),
        3,
    ),
)
def test_an_order_is_carried_out_without_a_reader(control, command, form, closes_errors):
    handler, url = control
    gate = ("--yes", "--reason", "planned", "--accept-loss")

    ended = run_regent(*command, *gate, "-o", form, url=url, closes_errors=closes_errors)

    assert ended.returncode == 0, ended.stderr
    assert handler.asked[-1][0].endswith(f"/operations/{PLANNED['id']}/confirm")


def test_an_order_that_fails_says_so_without_a_reader(control):
    handler, url = control
    handler.end = {**DONE, "state": "partly", "outcome": "one of two"}
    order = ("topic", "create", "orders", "--cluster", "c", "--yes", "--reason", "planned")

    ended = run_regent(*order, "--accept-loss", url=url)

    assert ended.returncode == 6
    assert b"is partly" in ended.stderr


def test_a_preview_without_a_reader_confirms_nothing(control):
    handler, url = control

    ended = run_regent("topic", "create", "orders", "--cluster", "c", "--dry-run", url=url)

    assert ended.returncode == 0
    assert [path for path, _ in handler.asked] == ["/api/v1/operations"]
