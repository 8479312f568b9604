"""Show the mapping file of a static topic."""

from dataclasses import dataclass
from typing import Annotated, Self

from backend.domain.logical_queue.stock_json import PlanFile, PlanFileKind, encode_plan_file
from backend.views.field_texts import TOPIC_NAME
from backend.views.graph_forms import Int64, Text


@dataclass(frozen=True, slots=True)
class QueueMappingFileOut:
    """The mapping of a static topic in the form of RocketMQ's tools, which an import reads."""

    topic_name: Annotated[str, TOPIC_NAME]
    epoch: Annotated[Int64, Text("Version of the mapping. Each change increases it.")]
    kind: Annotated[PlanFileKind, Text("`REMAPPING` while queues move.")]
    document: Annotated[str, Text("Text of the file: JSON, without a line break at its end.")]

    @classmethod
    def of(cls, plan: PlanFile) -> Self:
        """Show a file."""
        return cls(plan.topic_name, plan.epoch, plan.kind, encode_plan_file(plan))
