"""Let structlog print tracebacks as Python does.

Its own form, coloured and with all local variables, takes a second of the processor for each, in
which an event loop is blocked.
"""

import structlog


def log_plainly() -> None:
    """Keep structlog's settings of tests, except the form of tracebacks."""
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*structlog.get_config()["processors"][:-1], plain])
