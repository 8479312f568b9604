"""Have structlog print tracebacks as Python does.

In its own form, coloured and with all local variables, each one takes a second of the processor, in
which an event loop stands still.
"""

import structlog


def log_plainly() -> None:
    """Keep structlog's settings of tests but for the form of tracebacks."""
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*structlog.get_config()["processors"][:-1], plain])
