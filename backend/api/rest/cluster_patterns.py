"""Describe the patterns of clusters that roles and tokens are limited to."""

from typing import Annotated

from pydantic import Field

from backend.domain.cluster_scope import PATTERNS_MAX
from backend.domain.names import CLUSTER_NAME_BYTES_MAX
from backend.views.field_texts import CLUSTER_PATTERNS

Pattern = Annotated[str, Field(min_length=1, max_length=CLUSTER_NAME_BYTES_MAX)]
Patterns = Annotated[
    list[Pattern],
    Field(min_length=1, max_length=PATTERNS_MAX),
    CLUSTER_PATTERNS,
]
