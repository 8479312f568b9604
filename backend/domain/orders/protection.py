"""Say what can be ordered of the protection from deletion."""

from dataclasses import dataclass
from typing import Annotated

from backend.domain.orders.parameter import ClusterName, Parameter
from backend.domain.protection import Resource, ResourceKind


@dataclass(frozen=True, slots=True)
class ChangeProtection:
    """Protect what is named from deletion, or lift that; a broker's name is `GROUP/ADDRESS`."""

    cluster_name: ClusterName
    resource_kind: Annotated[ResourceKind, Parameter("Kind of the protected resource.")]
    resource_name: Annotated[
        str, Parameter("Name of the topic or consumer group; of a broker, `GROUP/ADDRESS`.")
    ]
    is_protected: Annotated[bool, Parameter("Protect the resource, or remove its protection.")] = (
        True
    )

    @property
    def target(self) -> str:
        """Name the resource."""
        return self.resource_name

    @property
    def resource(self) -> Resource:
        """Return what is meant."""
        return Resource(self.cluster_name, self.resource_kind, self.resource_name)

    @property
    def what(self) -> str:
        """Name the kind and the name of the resource, for people."""
        return f"{self.resource_kind.replace('_', ' ')} {self.resource_name}"
