"""Show what differs between Postgres, brokers and name servers in a static topic."""

from dataclasses import dataclass
from typing import Annotated, Self

from backend.domain.logical_queue.differences import MappingDifference
from backend.services.logical_queue.consistency import Consistency
from backend.views.copying import Copied
from backend.views.field_texts import TOPIC_NAME
from backend.views.graph_forms import Int64, Text


@dataclass(frozen=True, slots=True)
class MappingDifferenceOut(Copied[MappingDifference]):
    """A difference, and what to do about it."""

    name: Annotated[str, Text("Number of the broken invariant, or name of the difference.")]
    rule: Annotated[str, Text("What should be so.")]
    where: Annotated[str, Text("Where it is not so.")]
    what: Annotated[str, Text("What is there instead.")]
    broker_group_name: Annotated[
        str | None, Text("Broker group that it is about. Null if it is about several.")
    ]
    next_step: Annotated[str, Text("What to do next.")]


@dataclass(frozen=True, slots=True)
class NotComparedOut:
    """A broker group or a name server that was not compared."""

    name: Annotated[str, Text("Name of the broker group, or address of the name server.")]
    why: Annotated[str, Text("Why it was not compared.")]


@dataclass(frozen=True, slots=True)
class StaticTopicCheckOut:
    """The differences in one static topic.

    During a change, routes and epochs are not compared: they follow each step a moment later.
    """

    topic_name: Annotated[str, TOPIC_NAME]
    sound: Annotated[bool, Text("Whether everything was compared, and nothing differs.")]
    changing: Annotated[bool, Text("Whether a change of the topic is unfinished.")]
    epoch: Annotated[
        Int64 | None, Text("Version of the mapping. Null if the control plane has no mapping.")
    ]
    differences: Annotated[list[MappingDifferenceOut], Text("What differs.")]
    not_compared: Annotated[
        list[NotComparedOut], Text("Broker groups and name servers that did not answer.")
    ]

    @classmethod
    def of(cls, found: Consistency) -> Self:
        """Show the result of a check."""
        silent = [*found.silent.items(), *found.silent_servers.items()]
        return cls(
            topic_name=found.topic_name,
            sound=found.is_sound,
            changing=found.unfinished is not None,
            epoch=None if found.truth is None else found.truth.epoch,
            differences=[MappingDifferenceOut.of(one) for one in found.differences],
            not_compared=[NotComparedOut(name, why) for name, why in silent],
        )
