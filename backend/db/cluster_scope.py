"""Choose rows by the clusters that somebody reaches, as `ClusterScope.includes` does."""

from sqlalchemy import ColumnElement, false, or_

from backend.domain.cluster_scope import ANY, ClusterScope

_ESCAPE = "\\"


def reached(scope: ClusterScope, column: ColumnElement[str]) -> list[ColumnElement[bool]]:
    """Give the conditions under which a column names a cluster that is reached; none for all."""
    return [
        # A limit without a pattern lets nothing pass.
        or_(false(), *(column.like(_like(pattern), escape=_ESCAPE) for pattern in limit))
        for limit in scope.limits
    ]


def _like(pattern: str) -> str:
    # A name may hold `%` and `_`, which LIKE takes for any letters and any letter.
    escaped = pattern.replace("%", _ESCAPE + "%").replace("_", _ESCAPE + "_")
    return escaped.replace(ANY, "%")
