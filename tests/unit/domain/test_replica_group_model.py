"""Random lives of a group beside a simple model: what must hold after any change at all."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from backend.domain.election import Ballot, Liveness, ReplicaReport, elect_master
from backend.domain.errors import BrokerIdRefused, DomainError
from backend.domain.replica_group import (
    ChangeKind,
    Replica,
    ReplicaGroup,
    SyncStateSetProposal,
    alter_sync_state_set,
    apply_broker_id,
    clean_replicas,
    lose_master,
    next_broker_id,
    prefer_master,
    register_replica,
)

EMPTY = ReplicaGroup("c", "g")
IDS = st.integers(0, 6)
ID_SETS = st.frozensets(st.integers(1, 6), max_size=5)


class GroupLife(RuleBasedStateMachine):
    """Does anything to a group in any order; the model is four plain facts."""

    def __init__(self):
        super().__init__()
        self.group = None
        self.alive = frozenset()
        # The model: which code was ever bound to an id, which master led each epoch, and the
        # heights.
        self.owner_of = {}
        self.leader_of = {}
        self.heights = (0, 0)
        self.elections = 0

    def take(self, change):
        if change is None:
            return
        before, self.group = self.group, change.after
        if self.group is None:
            self.owner_of, self.leader_of, self.heights, self.elections = {}, {}, (0, 0), 0
            return
        if before is not None and before.sync_state_set != self.group.sync_state_set:
            assert self.group.sync_state_set.epoch == before.sync_state_set.epoch + 1
        if change.kind is ChangeKind.MASTER_ELECTED:
            self.elections += 1
            assert self.leader_of.setdefault(self.group.master_epoch, self.group.master_id) == (
                self.group.master_id
            )

    def attempt(self, act):
        before = self.group
        try:
            self.take(act())
        except DomainError:
            assert self.group == before

    @rule(broker_id=IDS, code=st.sampled_from("xyz"))
    def apply(self, broker_id, code):
        replica = Replica(broker_id, code, f"{code};{broker_id}")
        try:
            self.take(apply_broker_id(self.group, EMPTY, replica))
        except BrokerIdRefused:
            return
        assert self.owner_of.setdefault(broker_id, code) == code

    @rule(code=st.sampled_from("xyz"))
    def apply_next(self, code):
        broker_id = next_broker_id(self.group)
        assert broker_id not in self.owner_of
        self.apply(broker_id, code)
        assert broker_id in self.group.replicas

    @rule(broker_id=IDS, address=st.sampled_from("pq"))
    def register(self, broker_id, address):
        self.attempt(
            lambda: register_replica(
                self.group, broker_group_name="g", broker_id=broker_id, address=address
            )
        )

    @rule(alive=ID_SETS)
    def live(self, alive):
        self.alive = alive

    @rule(members=ID_SETS, master=IDS, stale=st.integers(0, 1), stale_set=st.integers(0, 1))
    def alter(self, members, master, stale, stale_set):
        height, set_height = self.heights
        proposal = SyncStateSetProposal(master, height - stale, members, set_height - stale_set)
        before = self.group
        self.attempt(
            lambda: alter_sync_state_set(
                self.group, proposal, broker_group_name="g", alive_ids=self.alive
            )
        )
        if self.group is not before:
            assert (stale, stale_set, before.master_id) == (0, 0, master)
            assert members <= self.alive | before.sync_state_set.members

    @rule(
        broker_id=st.none() | IDS,
        designated=st.booleans(),
        unclean=st.booleans(),
        unverified=ID_SETS,
        offsets=st.lists(st.integers(0, 2**40), min_size=7, max_size=7),
    )
    def elect(self, broker_id, designated, unclean, unverified, offsets):
        if self.group is None:
            return
        reports = {
            i: ReplicaReport(0, 1, 1, offsets[i], is_verified=i not in unverified)
            for i in self.alive
        }
        ballot = Ballot(broker_id, is_designated=designated, allows_unclean=unclean)
        before = self.group
        self.attempt(lambda: elect_master(self.group, Liveness(reports), ballot))
        if self.group is before or before.master_epoch == 0:
            return
        winner, members = self.group.master_id, before.sync_state_set.members
        assert winner in self.alive
        assert unclean or winner in members
        rivals = members & self.alive - unverified
        if winner in unverified:
            assert not rivals
            assert unclean or members <= self.alive
            rivals = members & self.alive
            designated = False
        if winner in rivals and not designated:
            assert all(offsets[winner] >= offsets[i] for i in rivals)
            if winner != before.master_id:
                equals = {i for i in rivals if offsets[i] == offsets[winner]}
                assert before.preferred_id not in equals - {winner}

    @rule()
    def lose(self):
        if self.group is not None:
            self.take(lose_master(self.group))

    @rule(broker_id=st.none() | IDS)
    def prefer(self, broker_id):
        self.attempt(lambda: prefer_master(self.group, broker_group_name="g", broker_id=broker_id))

    @rule(ids=ID_SETS, living=st.booleans())
    def clean(self, ids, living):
        self.attempt(
            lambda: clean_replicas(
                self.group,
                broker_group_name="g",
                broker_ids=ids,
                cleans_living=living,
                alive_ids=self.alive,
            )
        )

    @invariant()
    def epochs_only_rise_and_the_master_epoch_counts_elections(self):  # V1, V2, V8, D4
        if self.group is None:
            return
        now = (self.group.master_epoch, self.group.sync_state_set.epoch)
        assert now[0] >= self.heights[0]
        assert now[1] >= self.heights[1]
        assert now[0] == self.elections
        self.heights = now

    @invariant()
    def a_master_is_in_the_set_and_the_set_is_of_replicas(self):  # V4, V5
        if self.group is None:
            return
        members = self.group.sync_state_set.members
        assert self.group.master_id is None or self.group.master_id in members
        assert members <= self.group.replicas.keys()
        assert self.group.preferred_id in {None, *self.group.replicas}

    @invariant()
    def an_id_belongs_to_one_broker_for_ever(self):  # V6, V7
        if self.group is None:
            return
        assert self.owner_of.keys() == self.group.replicas.keys() | self.group.retired_ids
        for broker_id, replica in self.group.replicas.items():
            assert replica.register_code == f"{self.owner_of[broker_id]};{broker_id}"


GroupLife.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestGroupLife = GroupLife.TestCase
