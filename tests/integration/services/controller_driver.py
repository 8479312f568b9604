"""A controller over a real database, with a witness that hears the brokers of the test."""

from dataclasses import dataclass, field
from uuid import UUID, uuid4

from backend.clients.clock import SystemClock
from backend.domain.election import Ballot, ReplicaReport
from backend.domain.replica_group import SyncStateSetProposal
from backend.services.controller import elections, replica_groups
from backend.services.controller.elections import ElectionRequest
from backend.services.controller.group_changes import BrokerGroupName, Controller
from backend.services.controller.replica_reports import record_replica_reports

NAME = BrokerGroupName("g", "c")


@dataclass
class FakeHeartbeatSource:
    heard: dict[int, ReplicaReport] = field(default_factory=dict)
    id: UUID = field(default_factory=uuid4)
    promised_ms: int = 0

    def reports_of(self, _cluster_name, _group_name):
        return self.heard

    def promise_lease(self, _key):
        return self.promised_ms


class ControllerDriver:
    """Speaks of the group g of the cluster c in few words."""

    def __init__(self, database, **changes):
        self.heartbeat_source = FakeHeartbeatSource()
        values = {
            "database": database,
            "clock": SystemClock(),
            "heartbeat_source": self.heartbeat_source,
        }
        self.controller = Controller(**(values | changes))

    def hear(self, *ids, **told):
        self.heartbeat_source.heard = {i: ReplicaReport(0, 10_000, **told) for i in ids}

    async def record(self, database, *keys, lease=(), **told):
        """Have this process hear some replicas and write that down; give whose leases it got."""
        self.hear(*(key[2] for key in keys), **told)
        heard = {key: self.heartbeat_source.heard[key[2]] for key in keys}
        return await record_replica_reports(
            heard,
            lease_asked={key: heard[key] for key in lease},
            heard_by=self.heartbeat_source.id,
            database=database,
        )

    async def apply(self, broker_id, code=None, cluster="c", group="g"):
        code = code or f"10.0.0.{broker_id}:10911;1"
        command = replica_groups.ApplyBrokerId(cluster, group, broker_id, code)
        await replica_groups.apply_for_broker_id(command, self.controller)

    async def view(self, name=NAME):
        return await replica_groups.describe_group(name, self.controller)

    async def group(self):
        return (await self.view()).group

    async def next_id(self, cluster="c"):
        return await replica_groups.find_next_broker_id(
            BrokerGroupName("g", cluster), self.controller
        )

    async def elect(self, broker_id=None, *, designated=False, name=NAME):
        ballot = Ballot(broker_id, is_designated=designated)
        return await elections.elect(ElectionRequest(name, ballot, "test"), self.controller)

    async def replace_lost(self):
        return await elections.replace_lost_master(NAME, self.controller, cause="test")

    async def alter(self, members, *, epoch, master=1, master_epoch=1):
        proposal = SyncStateSetProposal(master, master_epoch, frozenset(members), epoch)
        return await replica_groups.alter_set(NAME, proposal, self.controller)

    async def clean(self, ids="", *, living=False):
        command = replica_groups.CleanReplicas(NAME, ids, living)
        await replica_groups.clean(command, self.controller)

    async def make_f3(self):
        """Make F3 of control-plane.md 9: 1, 2, 3 alive, master 1 in epoch 1, all in the set."""
        for broker_id in (1, 2, 3):
            await self.apply(broker_id)
        self.hear(1, 2, 3)
        await self.elect(1)
        await self.alter({1, 2, 3}, epoch=1)
