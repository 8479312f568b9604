"""Scenarios of the stock Java client.

One that a test only waits for runs in a process that is kept for later ones: a start takes most of
the processor time of a short scenario. One that a test accompanies has a separate process.
"""

import json
import subprocess
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.interop.java import Program, class_path, jvm_options

RESULT_TIMEOUT_S = 150.0
EVENT = '{"event"'

_idle: Final[defaultdict[tuple[str, str], list[Program]]] = defaultdict(list)
"""Kept processes that run no scenario, by version and properties; they end with this process."""


class ScenarioError(AssertionError):
    """A scenario saw something else than the protocol promises."""


@dataclass(frozen=True, slots=True)
class StockClient:
    """One version of the stock client, built and ready to run.

    Attributes:
        version: Its release.
        name_server: The address it is pointed at.
        home: Takes the client's own log files.
    """

    version: str
    name_server: str
    home: Path

    @property
    def label(self) -> str:
        """The version in letters that a topic name may have."""
        return "v" + self.version.replace(".", "-")

    def run(self, scenario: str, /, *, system: dict[str, str] | None = None, **options: Any) -> Any:
        """Run a scenario to its end and return the facts of its result.

        Raises:
            AssertionError: the scenario failed, or took too long.
        """
        idle = _idle[self.version, str(system)]
        try:
            program = idle.pop()
        except IndexError:
            program = Program(self._program(system or {}), {}, self.home / "errors")
        late = threading.Timer(RESULT_TIMEOUT_S, program.kill)
        late.start()
        try:
            output = program.run(self._scenario(scenario, options))
        finally:
            late.cancel()
        idle.append(program)
        return [_event(line) for line in output.splitlines() if line.startswith(EVENT)][-1]

    @contextmanager
    def start(
        self,
        scenario: str,
        /,
        *,
        system: dict[str, str] | None = None,
        **options: Any,
    ) -> Iterator["RunningScenario"]:
        """Start a scenario; it is ended with the block if it has not ended by itself."""
        command = [*self._program(system or {}), *self._scenario(scenario, options)]
        with running(f"{scenario} of client {self.version}", command) as started:
            yield started

    def _program(self, system: dict[str, str]) -> tuple[str, ...]:
        module = f"client-{self.version}"
        properties = {
            "user.home": str(self.home),
            "rocketmq.client.logRoot": str(self.home),
            "rocketmq.client.logLevel": "WARN",
            "com.rocketmq.remoting.client.connect.timeout": "10000",
            **system,
        }
        return (
            *("java", *jvm_options(module)),
            *(f"-D{name}={value}" for name, value in properties.items()),
            *("-cp", class_path(module), "regent.interop.Main"),
        )

    def _scenario(self, scenario: str, options: dict[str, Any]) -> list[str]:
        return [scenario, "--name-server", self.name_server, *option_words(options)]


def option_words(options: Mapping[str, Any]) -> Iterator[str]:
    """Write options as words of a command; a list is an option that is repeated."""
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            yield from (f"--{name.replace('_', '-')}", str(one))


@contextmanager
def running(title: str, command: Sequence[str]) -> Iterator["RunningScenario"]:
    """Run a program that prints events, at most for the length of a block."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    started = RunningScenario(title, process)
    try:
        yield started
    finally:
        started.close()


class RunningScenario:
    """A scenario's process and the events it has printed."""

    def __init__(self, title: str, process: subprocess.Popen[str]) -> None:
        self._title = title
        self._process = process
        self._events: list[dict[str, Any]] = []
        self._errors = ""
        self._changed = threading.Condition()
        self._readers = (
            threading.Thread(target=self._read_events, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        )
        for reader in self._readers:
            reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def check_alive(self) -> None:
        """Raise if the scenario has ended."""
        if self._has_ended():
            raise ScenarioError(f"{self._title}: {self._describe()}")

    @property
    def event_count(self) -> int:
        return len(self._events)

    def wait_for(
        self,
        accepts: Callable[[dict[str, Any]], bool],
        *,
        timeout_s: float,
    ) -> dict[str, Any]:
        """Return the newest event as soon as it is one that is accepted."""

        def has_come() -> bool:
            return self._has_ended() or bool(self._events and accepts(self._events[-1]))

        with self._changed:
            came = self._changed.wait_for(has_come, timeout_s)
            if came and self._events and accepts(self._events[-1]):
                return self._events[-1]
        raise ScenarioError(f"{self._title}: {self._describe()}")

    def result(self, timeout_s: float = RESULT_TIMEOUT_S) -> dict[str, Any]:
        """Wait for the scenario's end and return the facts of its result."""
        with self._changed:
            self._changed.wait_for(self._has_ended, timeout_s)
            if self._has_ended() and self._events[-1]["event"] == "result":
                return self._events[-1]
        raise ScenarioError(f"{self._title}: {self._describe()}")

    def write_line(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for reader in self._readers:
            reader.join()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()

    def _has_ended(self) -> bool:
        return bool(self._events) and self._events[-1]["event"] in ("result", "failed", "ended")

    def _describe(self) -> str:
        last = self._events[-1] if self._events else {}
        reason = last.get("reason", f"nothing more after {last}")
        return f"{reason}\n{self._errors[-4000:]}"

    def _read_events(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(EVENT):
                self._add(_event(line))
            if self._has_ended():
                break
        with self._changed:
            if not self._has_ended():
                code = self._process.wait()
                reason = f"the process ended with {code} and no result"
                self._events.append({"event": "ended", "reason": reason})
            self._changed.notify_all()

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._errors += line

    def _add(self, event: dict[str, Any]) -> None:
        with self._changed:
            self._events.append(event)
            self._changed.notify_all()


def _event(line: str) -> dict[str, Any]:
    """Read a line, or make an end of one that is no JSON, which is then the test's error."""
    try:
        return json.loads(line)
    except json.JSONDecodeError:
        return {"event": "ended", "reason": f"the process printed what is no JSON: {line}"}
