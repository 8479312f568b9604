"""Write the agent's log to standard error, as JSON in containers and as text elsewhere."""

import logging
import os
import sys

import structlog


def configure_log() -> None:
    """Set up structlog once for the process; `REGENT_LOG_FORMAT=json` selects JSON lines."""
    renderer: structlog.typing.Processor
    if os.environ.get("REGENT_LOG_FORMAT") == "json":
        renderer = structlog.processors.JSONRenderer()
    else:
        renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
