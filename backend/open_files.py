"""Let a process open as many files as the system allows it.

Every client holds a connection, and a broker opens every file that it makes or flushes. The limit
that a shell or a service manager hands down is often 1 024, far below what the system allows.
"""

import contextlib
import resource


def allow_open_files() -> None:
    """Raise the limit of this process to what it may be raised to."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
