"""Define which clusters a user or a token reaches.

A pattern is the name of a cluster in which `*` means any number of letters, also none.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, Self

from backend.domain.access_errors import InvalidClusterPattern
from backend.domain.errors import Forbidden
from backend.domain.names import CLUSTER_NAME_BYTES_MAX

ANY: Final = "*"
ALL_CLUSTERS: Final = (ANY,)
PATTERNS_MAX: Final = 20

# The letters of a cluster's name, and `*`: nothing else that `fnmatch` knows.
_PATTERN: Final = re.compile(r"[%|a-zA-Z0-9_.*-]+")


@dataclass(frozen=True, slots=True)
class ClusterScope:
    """Hold the clusters within reach: those whose name fits a pattern of every limit.

    The patterns of a user are one limit, and those of a token are another, so neither extends the
    other. Without a limit every cluster is within reach, and also objects without a cluster.
    """

    limits: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, *limits: Sequence[str]) -> Self:
        """Make a scope of some lists of patterns."""
        return cls(tuple(tuple(one) for one in limits if not _is_all(one)))

    @property
    def is_limited(self) -> bool:
        """Return whether some cluster may be out of reach."""
        return bool(self.limits)

    def includes(self, cluster_name: str) -> bool:
        """Return whether a cluster is within reach; the empty name means no cluster."""
        return all(
            any(fnmatchcase(cluster_name, pattern) for pattern in limit) for limit in self.limits
        )

    def require(self, cluster_name: str) -> None:
        """Check that a cluster is within reach.

        Raises:
            Forbidden: it is out of reach, whether the cluster exists or not.
        """
        if not self.includes(cluster_name):
            raise Forbidden(f"only the clusters {self} are within reach")

    def __str__(self) -> str:
        """Name the clusters to people."""
        return ", of these ".join(", ".join(limit) for limit in self.limits) or ANY


EVERYWHERE: Final = ClusterScope()


def check_patterns(patterns: Sequence[str]) -> tuple[str, ...]:
    """Return patterns as they are stored: if one means all clusters, only `*` is kept.

    Raises:
        InvalidClusterPattern: there is no pattern, there are too many, or one fits no cluster name.
    """
    if not 1 <= len(patterns) <= PATTERNS_MAX:
        raise InvalidClusterPattern(f"give 1 to {PATTERNS_MAX} cluster patterns, or {ANY} for all")
    for pattern in patterns:
        if len(pattern) > CLUSTER_NAME_BYTES_MAX or _PATTERN.fullmatch(pattern) is None:
            problem = f"{pattern[:300]!r} is no cluster's name, with or without {ANY}"
            raise InvalidClusterPattern(problem)
    return ALL_CLUSTERS if _is_all(patterns) else tuple(patterns)


def _is_all(patterns: Sequence[str]) -> bool:
    return any(pattern and not pattern.strip(ANY) for pattern in patterns)
