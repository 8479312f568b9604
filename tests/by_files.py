"""Which tests one process has where several run them."""

from typing import Final

from xdist.scheduler import LoadFileScheduling

SHARING_A_RECORDING: Final = frozenset(
    f"tests/interop/test_{name}.py" for name in ("chaos", "consumers", "messages", "vectors")
)
"""They add to what passed between clients and cluster, and the last one looks at it."""


class ByFiles(LoadFileScheduling):
    """Keeps a file together, whose fixtures are dear to make: a cluster takes half a minute.

    Groups (`--dist loadgroup`) do nothing: xdist 3.8 writes them where pytest 9.2 does not look.
    """

    def _split_scope(self, nodeid: str) -> str:
        path: str = super()._split_scope(nodeid)
        return "recording" if path in SHARING_A_RECORDING else path
