"""A cluster in memory with logs of messages: the oracle of changes of logical queues.

A log is a dictionary from physical offsets to numbers of messages. The model beside it is the list
of acknowledged messages of each logical queue, in the order of their acknowledgements.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from backend.domain.logical_queue import broker_copy as on_broker
from backend.domain.logical_queue.broker_copy import BrokerTopic
from backend.domain.logical_queue.change import (
    ChangeState,
    MoveStep,
    QueueChange,
    RequestKind,
    decide,
    due_requests,
    with_activated,
    with_prepared,
    with_sealed,
    with_spread,
    with_unsealed,
    without_broker_group,
)
from backend.domain.logical_queue.commit import Seal
from backend.domain.logical_queue.expiry import (
    Sighting,
    carry_to_leader,
    close_forced,
    drop_oldest,
)
from backend.domain.logical_queue.lookup import (
    locate,
    locate_position,
    locate_strict,
    message_offset,
)
from backend.domain.logical_queue.mapping import (
    LogicalQueue,
    QueueCounts,
    TopicCopy,
    TopicMapping,
    copy_for,
)
from backend.domain.logical_queue.reading import PullCode, decide_pull, find_position
from backend.domain.logical_queue.route import StaticRoute, accept, merge
from backend.domain.logical_queue.segment import QueueBounds
from backend.domain.logical_queue.topic_checks import Observation, check_topic

NO_TIME = 0


@dataclass
class Log:
    """One physical queue: messages by offset; readers see those before `dispatched`."""

    first: int = 0
    end: int = 0
    dispatched: int = 0
    messages: dict[int, int] = field(default_factory=dict)

    @property
    def bounds(self):
        return QueueBounds(self.first, self.dispatched)

    def append(self, message):
        self.messages[self.end] = message
        self.end += 1
        return self.end - 1

    def expire(self, count):
        for _ in range(min(count, self.dispatched - self.first)):
            del self.messages[self.first]
            self.first += 1


@dataclass
class Broker:
    """One broker group: its state of the topic, its logs, and positions of consumer groups."""

    name: str
    topic: BrokerTopic | None = None
    logs: dict[int, Log] = field(default_factory=lambda: defaultdict(Log))
    positions: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    admitted: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    is_up: bool = True

    @property
    def retired_bounds(self):
        return {one: self.logs[one].bounds for one in (self.topic.retired if self.topic else ())}


class Cluster:
    """Brokers, the truth, one change at a time, a name server, producers and consumers."""

    def __init__(self, names):
        self.brokers = {name: Broker(name) for name in names}
        self.truth: TopicMapping | None = None
        self.change: QueueChange | None = None
        self.registered = {}
        self.route: StaticRoute | None = None
        self.message_count = 0
        # The model: acknowledged messages by logical queue and logical offset, and those lost by
        # an accepted overlap.
        self.acknowledged = defaultdict(dict)
        self.lost = set()
        self.removed = set()
        self.placed = {}
        # Stored although their producers got no answer, as when a broker dies.
        self.unanswered = set()
        self.next_expected = {}

    # Changes

    def begin(self, change):
        assert self.change is None or self.change.is_finished
        self.change = change
        self._commit()

    def step(self, *, loses_answer=False):
        """Carry out the first thing that is due; a lost answer leaves the change as it was."""
        change = self.change
        ready = [
            one.global_id
            for one in change.moves
            if change.state is ChangeState.MOVING
            and (one.step is MoveStep.SEALED)
            | (one.step is MoveStep.PREPARED and one.forced_start is not None)
        ]
        if ready:
            self.change = decide(change, ready[0])
            self._commit()
            return
        requests = due_requests(change)
        for request in requests:
            if not self.brokers[request.broker_group_name].is_up:
                if request.kind is RequestKind.SPREAD:
                    self.change = without_broker_group(self.change, request.broker_group_name)
                    self._commit()
                    return
                continue
            answered = self._ask(request)
            if answered is not None and not loses_answer:
                self.change = answered
                self._commit()
            return

    def finish(self):
        for _ in range(500):
            if self.change is None or self.change.is_finished:
                return
            self.step()
        raise AssertionError(f"the change does not end: {self.change}")

    def _commit(self):
        self.truth = self.change.after

    def _ask(self, request):
        broker, change = self.brokers[request.broker_group_name], self.change
        match request.kind:
            case RequestKind.PREPARE:
                if broker.topic is None:
                    self._store(broker, is_final=False, topic=change.before)
                broker.topic, answer = on_broker.prepare(
                    broker.topic,
                    request.global_id,
                    epoch=request.epoch,
                    bounds=broker.retired_bounds,
                )
                # Only a logical queue that was removed leaves positions, which the broker deletes.
                for places in broker.positions.values():
                    left = places.pop(answer.queue_id, None)
                    assert left is None or request.global_id in self.removed, "H-16"
                return with_prepared(change, request.global_id, answer)
            case RequestKind.SEAL:
                return self._seal(broker, request)
            case RequestKind.ACTIVATE:
                self._carry(change.before, change.after, request.global_id)
                self._store(broker, is_final=False)
                return with_activated(change, request.global_id)
            case RequestKind.SPREAD:
                for queue in change.after.queues:
                    if not change.moves and queue.leader_name == broker.name:
                        self._carry(change.before, change.after, queue.global_id)
                self._store(broker, is_final=True)
                self._carry_from(broker)
                return with_spread(change, broker.name)
            case RequestKind.UNSEAL:
                broker.topic = on_broker.unseal(
                    broker.topic, request.global_id, epoch=request.epoch
                )
                return with_unsealed(change, request.global_id)

    def _positions(self):
        groups = {group for one in self.brokers.values() for group in one.positions}
        return {group: self.positions_of(group) for group in groups}

    def _carry(self, before, after, global_id):
        for one in carry_to_leader(before, after, global_id, self._positions()):
            name, queue_id = one.place
            self.brokers[name].positions[one.consumer_group_name][queue_id] = one.physical_offset

    def _carry_from(self, broker):
        """Carry what groups committed at a source until it stored the new list, and clear it."""
        change = self.change
        for move in change.moves:
            if move.relocation.source != broker.name or change.state is not ChangeState.SPREADING:
                continue
            self._carry(change.before, change.after, move.global_id)
            live = {one.place for one in change.after.queue(move.global_id).segments}
            for segment in change.before.queue(move.global_id).segments:
                if segment.broker_group_name == broker.name and segment.place not in live:
                    for places in broker.positions.values():
                        places.pop(segment.queue_id, None)

    def _seal(self, broker, request):
        broker.topic = on_broker.seal(broker.topic, request.global_id, epoch=request.epoch)
        segment = broker.topic.mapping.queue(request.global_id).leader
        log = broker.logs[segment.queue_id]
        if broker.admitted[request.global_id] or log.dispatched < log.end:
            return None
        broker.topic = on_broker.finish_seal(
            broker.topic, request.global_id, Seal(log.end, NO_TIME, NO_TIME)
        )
        answer = broker.topic.seals[request.global_id].result
        return with_sealed(self.change, request.global_id, answer)

    def _store(self, broker, *, is_final, topic=None):
        copy = copy_for(topic or self.change.after, broker.name)
        counts = (topic or self.change.after).counts.get(broker.name, QueueCounts())
        broker.topic = on_broker.store(broker.topic, copy, counts, is_final=is_final)
        self._register(broker)

    def _register(self, broker):
        self.registered, _ = accept(self.registered, broker.name, broker.topic.mapping.registered)
        self.route = merge(self.registered, self.route)
        assert self.route is None or self.route.conflicts == {}, "INV-15"

    def return_of(self, name):
        """Bring a broker back: it gets the mapping before it serves, and ends what was forced."""
        broker = self.brokers[name]
        broker.is_up = True
        if self.truth is None or broker.topic is None:
            return []
        copy = copy_for(self.truth, name)
        broker.topic = on_broker.store(
            broker.topic, copy, self.truth.counts[name], is_final=self.is_idle
        )
        self._register(broker)
        overlaps = []
        for queue in self.truth.queues:
            for segment in queue.segments[:-1]:
                key = (queue.global_id, segment.generation)
                if segment.broker_group_name == name and key in self.truth.forced:
                    overlaps += self._close(broker, queue, segment)
        return overlaps

    def _close(self, broker, queue, segment):
        log = broker.logs[segment.queue_id]
        for message in broker.admitted.pop(queue.global_id, []):
            log.append(message)
            self.unanswered.add(message)
        log.dispatched = log.end
        self.truth, overlap = close_forced(self.truth, queue.global_id, segment.generation, log.end)
        if self.change is not None:
            self.change = None
        if overlap is None:
            return []
        self.lost |= {log.messages[at] for at in range(overlap.cut_end, overlap.physical_end)}
        return [overlap]

    @property
    def is_idle(self):
        return self.change is None or self.change.is_finished

    @property
    def bounds(self):
        """Give the bounds of all physical queues, by their places."""
        return {
            (name, queue_id): log.bounds
            for name, one in self.brokers.items()
            for queue_id, log in one.logs.items()
        }

    # Producers

    def admitting(self, global_id):
        """Give the brokers that take messages of a queue: one at most (P-ONE)."""
        return [
            one
            for one in self.brokers.values()
            if one.is_up and one.topic is not None and one.topic.admits_sends(global_id)
        ]

    def admit(self, global_id):
        """Start a send that the log does not contain yet."""
        for broker in self.admitting(global_id)[:1]:
            self.message_count += 1
            broker.admitted[global_id].append(self.message_count)

    def send(self, global_id):
        self.admit(global_id)
        return self.complete(global_id)

    def complete(self, global_id):
        """Append every admitted message of a queue, acknowledge it, and give its offset."""
        offset = None
        for broker in self.brokers.values():
            if not broker.is_up:
                continue
            for message in broker.admitted.pop(global_id, []):
                segment = broker.topic.mapping.queue(global_id).leader
                physical = broker.logs[segment.queue_id].append(message)
                self.placed[message] = (broker.name, segment.queue_id, physical)
                offset = segment.to_logical_loose(physical)
                known = self.acknowledged[global_id]
                assert offset >= 0
                assert offset > max(known, default=-1), "P-ORD"
                known[offset] = message
        return offset

    def dispatch(self):
        for broker in self.brokers.values():
            for log in broker.logs.values():
                log.dispatched = log.end

    # Consumers

    def leading_queue(self, global_id) -> LogicalQueue | None:
        """Give the list of the broker that serves reads of a queue."""
        for broker in self.brokers.values():
            if broker.is_up and broker.topic is not None and broker.topic.mapping.leads(global_id):
                return broker.topic.mapping.queue(global_id)
        return None

    def positions_of(self, group):
        return {
            (broker.name, queue_id): offset
            for broker in self.brokers.values()
            for queue_id, offset in broker.positions[group].items()
        }

    def commit(self, group, queue, logical):
        place = locate_position(queue, logical)
        segment = place.segment
        broker = self.brokers[segment.broker_group_name]
        if not broker.is_up:
            return False
        broker.positions[group][segment.queue_id] = place.physical_offset
        return True

    def consume(self, group, global_id, *, limit=1_000):
        """Read from the committed position on, and give the messages in the order of delivery.

        A group without a position starts at the least offset; later it always has one (H-15).
        """
        queue = self.leading_queue(global_id)
        if queue is None:
            return []
        reading = (group, global_id)
        position = find_position(queue, self.positions_of(group))
        if position is None:
            assert reading not in self.next_expected, "the position was lost"
            position = 0
        delivered = []
        for _ in range(limit):
            located = locate(queue, position)
            owner = self.brokers[located.segment.broker_group_name]
            if not owner.is_up:
                break
            log = owner.logs[located.segment.queue_id]
            answer = decide_pull(queue, located, log.bounds, earlier=log.bounds)
            if answer.code is PullCode.FOUND:
                message = log.messages[located.physical_offset]
                self._deliver(reading, position, message, delivered)
                position += 1
            elif answer.code is PullCode.WAIT:
                break
            else:
                assert answer.next_offset > position
                position = answer.next_offset
        if self.commit(group, queue, position):
            self.next_expected[reading] = max(position, self.next_expected.get(reading, 0))
        return delivered

    def _deliver(self, reading, position, message, delivered):
        """Check one delivery: the right message, in order, and no stored one was skipped."""
        _, global_id = reading
        known = self.acknowledged[global_id]
        assert known.get(position) == message or message in self.unanswered, "P-MAP"
        last = delivered[-1][0] if delivered else self.next_expected.get(reading, 0) - 1
        assert position > last, "delivered twice"
        for offset, other in known.items():
            if last < offset < position:
                assert not self.is_stored(global_id, offset), f"P-LOSS: {other}"
        delivered.append((position, message))

    def is_stored(self, global_id, logical):
        """Say whether the log to which a message was appended still has it."""
        message = self.acknowledged[global_id][logical]
        name, queue_id, physical = self.placed[message]
        log = self.brokers[name].logs[queue_id]
        return message not in self.lost and log.messages.get(physical) == message

    # Retention

    def expire(self, global_id):
        """Drop the oldest segment, if it has no data, with all that belongs to it."""
        queue = self.truth.queue(global_id)
        segment = queue.segments[0]
        broker = self.brokers[segment.broker_group_name]
        bounds = broker.logs[segment.queue_id].bounds
        found = drop_oldest(
            self.truth,
            global_id,
            (Sighting(0, bounds), Sighting(60_000, bounds)),
            self._positions(),
        )
        for one in found.carried:
            name, queue_id = one.place
            self.brokers[name].positions[one.consumer_group_name][queue_id] = one.physical_offset
        for places in broker.positions.values():
            places.pop(segment.queue_id, None)
        self.truth = found.topic
        self.change = None
        for name, one in self.brokers.items():
            copy = copy_for(self.truth, name)
            if one.topic is not None and global_id in copy.hosted:
                counts = self.truth.counts[name]
                one.topic = on_broker.store(one.topic, copy, counts, is_final=True)
        broker.topic = on_broker.retire(
            broker.topic, found.topic.retired[-1], epoch=self.truth.epoch, bounds=bounds
        )

    # Checks

    def findings(self):
        copies = {
            name: TopicCopy(one.topic.counts, one.topic.mapping, self.truth.topic_name)
            for name, one in self.brokers.items()
            if one.topic is not None
        }
        routes = {"n": self.registered}
        return check_topic(Observation(self.truth.topic_name, self.truth, copies, routes))

    def check_offsets(self):
        """Check that every stored message has one logical offset, in both directions (P-MAP)."""
        for queue in self.truth.queues:
            for segment in queue.segments:
                log = self.brokers[segment.broker_group_name].logs[segment.queue_id]
                for physical, message in log.messages.items():
                    logical = message_offset(queue, *segment.place, physical)
                    if logical is None or message in self.unanswered | self.lost:
                        continue
                    assert self.acknowledged[queue.global_id][logical] == message
                    back = locate_strict(queue, logical)
                    assert (back.segment, back.physical_offset) == (segment, physical)
