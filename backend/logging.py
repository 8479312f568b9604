"""Configure structured logs once per process.

A line is a past-tense event with its facts as keys. Lines go to standard error: as JSON in a
container, coloured and aligned at a terminal. The standard library's records, uvicorn's among
them, take the same form.
"""

import logging
import sys

import structlog
from structlog.typing import Processor

from backend.settings import LogFormat


def configure_logging(log_format: LogFormat, *, level: int = logging.INFO) -> None:
    """Send structlog's and the standard library's records to standard error in one form."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    # Written straight away: by way of the standard library, a line takes twice as long.
    structlog.configure(
        processors=[*shared, *_renderers(log_format)],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=_NamedLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_renderers(log_format),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    # Each request has its own closing line; uvicorn's would be a second one.
    logging.getLogger("uvicorn.access").disabled = True


class _NamedLogger(structlog.WriteLogger):
    """Write lines to standard error, under a module's name."""

    def __init__(self, name: str = "regent") -> None:
        super().__init__(sys.stderr)
        self.name = name


def _renderers(log_format: LogFormat) -> list[Processor]:
    if log_format is LogFormat.JSON:
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    return [
        structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(),
            # The pretty form prints every local variable: pages a failure, and secrets with them.
            exception_formatter=structlog.dev.plain_traceback,
        )
    ]
