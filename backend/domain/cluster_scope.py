"""Say which clusters somebody reaches: the one notion that users and their tokens are limited by.

A pattern is a cluster's name in which `*` stands for any letters, none included.
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
    """Hold which clusters are reached: those whose name fits a pattern of every limit.

    A user's patterns are one limit and those of their token another, so neither widens the other.
    Without a limit every cluster is reached, and what is of none.
    """

    limits: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, *limits: Sequence[str]) -> Self:
        """Make a scope of some lists of patterns."""
        return cls(tuple(tuple(one) for one in limits if not _is_all(one)))

    @property
    def is_limited(self) -> bool:
        """Tell whether some cluster may be out of reach."""
        return bool(self.limits)

    def includes(self, cluster_name: str) -> bool:
        """Tell whether a cluster is reached; the empty name stands for what is of none."""
        return all(
            any(fnmatchcase(cluster_name, pattern) for pattern in limit) for limit in self.limits
        )

    def require(self, cluster_name: str) -> None:
        """Let pass who reaches a cluster.

        Raises:
            Forbidden: it is out of reach, whether there is such a cluster or not.
        """
        if not self.includes(cluster_name):
            raise Forbidden(f"only the clusters {self} are within reach")

    def __str__(self) -> str:
        """Name the clusters to people."""
        return ", of these ".join(", ".join(limit) for limit in self.limits) or ANY


EVERYWHERE: Final = ClusterScope()


def check_patterns(patterns: Sequence[str]) -> tuple[str, ...]:
    """Return patterns as they are kept: one of them that means all clusters leaves `*` alone.

    Raises:
        InvalidClusterPattern: there is none, too many, or one that no cluster's name fits.
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
