"""Choose rows by the clusters within reach, as `ClusterScope.includes` does."""

from sqlalchemy import ColumnElement, false, or_

from backend.domain.cluster_scope import ANY, ClusterScope

_ESCAPE = "\\"


def reached(scope: ClusterScope, column: ColumnElement[str]) -> list[ColumnElement[bool]]:
    """Return the conditions that a column names a cluster within reach; none for all clusters."""
    return [
        # A limit without a pattern accepts no cluster.
        or_(false(), *(column.like(_like(pattern), escape=_ESCAPE) for pattern in limit))
        for limit in scope.limits
    ]


def _like(pattern: str) -> str:
    # A name may contain `%` and `_`, which are wildcards in LIKE.
    escaped = pattern.replace("%", _ESCAPE + "%").replace("_", _ESCAPE + "_")
    return escaped.replace(ANY, "%")
