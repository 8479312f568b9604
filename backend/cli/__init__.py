"""Command line of Regent, a client of the REST door."""

import sys
from types import ModuleType
from typing import cast

# These imports must not leave their table. Where click is installed, httpx also imports its own
# command line and pygments. That would add a fifth to the start time of a read.
cast("dict[str, ModuleType | None]", sys.modules).setdefault("httpx._main", None)
