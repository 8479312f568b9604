"""Print the error, its cause and the next step, and exit with a code for scripts."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Name the exit codes of commands (console-and-cli.md 2.1)."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    REFUSED = 3
    NOT_FOUND = 4
    NOT_ALLOWED = 5
    PARTLY_DONE = 6
    OUTCOME_UNKNOWN = 7
    STILL_RUNNING = 8
    DEGRADED = 10
    CRITICAL = 11
    HEALTH_UNKNOWN = 12
    INTERRUPTED = 130
    # The code of a process that SIGPIPE ended, as with most programs.
    READER_GONE = 141


class CommandError(Exception):
    """End a command with the error, its cause if known, and the next command to try.

    `code` is the error code of the server, if the server refused.
    """

    def __init__(
        self,
        what: str,
        *,
        why: str | None = None,
        next_step: str | None = None,
        exit_code: ExitCode = ExitCode.FAILED,
        code: str | None = None,
    ) -> None:
        super().__init__(what)
        self.what, self.why, self.next_step = what, why, next_step
        self.exit_code, self.code = exit_code, code

    def __str__(self) -> str:
        lines = [f"error: {self.what}"]
        if self.why:
            lines.append(f"  why:  {self.why}")
        if self.next_step:
            lines.append(f"  next: {self.next_step}")
        return "\n".join(lines)


class CommandEnded(Exception):
    """End a command whose exit code is part of its answer, without an error message."""

    def __init__(self, exit_code: ExitCode) -> None:
        super().__init__(exit_code.name)
        self.exit_code = exit_code


class ServerUnreachable(CommandError):
    """The server does not answer; it may answer again later."""
