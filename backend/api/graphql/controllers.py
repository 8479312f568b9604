"""Present the controllers, and the brokers that wait for their lost group to come back."""

from dataclasses import asdict
from datetime import datetime
from typing import Self

import strawberry

from backend.api.graphql.scalars import Int64, int64
from backend.domain import replica_group as group_domain
from backend.services.adoptions import StoredCandidate
from backend.services.controllers import ControllerPeer as PeerView
from backend.services.controllers import ControllerSetting as SettingView
from backend.services.controllers import ControllerView


@strawberry.type
class AdoptionCandidate:
    """Present a broker that claims an id of a lost group; null is what it did not tell.

    `masterId` is who serves as master for all that it knows, and 0 when it knows of none.
    """

    cluster_name: str
    group_name: str
    broker_id: Int64
    address: str
    has_code: bool
    epoch: int | None
    max_offset: Int64 | None
    master_id: Int64 | None
    is_verified: bool | None
    first_heard_at: datetime
    heard_at: datetime

    @classmethod
    def of(cls, stored: StoredCandidate) -> Self:
        """Present a candidate."""
        one = stored.candidate
        return cls(
            cluster_name=stored.cluster_name,
            group_name=stored.group_name,
            broker_id=Int64(one.broker_id),
            address=one.address,
            has_code=one.register_code is not None,
            epoch=one.epoch,
            max_offset=int64(one.max_offset),
            master_id=int64(one.master_id),
            is_verified=one.is_verified,
            first_heard_at=stored.first_heard_at,
            heard_at=stored.heard_at,
        )


@strawberry.type
class ControllerPeer:
    """Present a process of the control plane that hears replicas."""

    id: strawberry.ID
    is_self: bool
    heard_replica_count: int
    last_heard_at: datetime

    @classmethod
    def of(cls, peer: PeerView) -> Self:
        """Present a peer."""
        return cls(
            id=strawberry.ID(str(peer.id)),
            is_self=peer.is_self,
            heard_replica_count=peer.heard_replica_count,
            last_heard_at=peer.last_heard_at,
        )


@strawberry.type
class ControllerSetting:
    """Present a setting that decides elections or operations, with its variable."""

    name: str
    stock_name: str | None
    value: str
    default: str
    variable: str
    description: str

    @classmethod
    def of(cls, setting: SettingView) -> Self:
        """Present a setting."""
        return cls(**asdict(setting))


@strawberry.type
class Controller:
    """Present a process of the control plane; each may carry out every request, so each leads."""

    address: str
    is_leader: bool
    lease_policy: group_domain.LeasePolicy
    allows_unclean_election: bool
    group_count: int
    masterless_group_count: int
    peers: list[ControllerPeer]
    settings: list[ControllerSetting]

    @classmethod
    def of(cls, found: ControllerView) -> Self:
        """Present a controller."""
        return cls(
            address=found.address,
            is_leader=found.is_leader,
            lease_policy=found.lease_policy,
            allows_unclean_election=found.allows_unclean_election,
            group_count=found.group_count,
            masterless_group_count=found.masterless_group_count,
            peers=[ControllerPeer.of(peer) for peer in found.peers],
            settings=[ControllerSetting.of(setting) for setting in found.settings],
        )
