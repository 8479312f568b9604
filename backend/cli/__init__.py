"""Command line of Regent, a client of the REST door."""

import sys
from types import ModuleType
from typing import cast

# What stands so in the table can't be imported. Where click is installed httpx brings a command
# line of its own, with pygments and more: a fifth of what a read takes to start, for nothing.
cast("dict[str, ModuleType | None]", sys.modules).setdefault("httpx._main", None)
