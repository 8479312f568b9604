"""Carry out a change of logical queues step by step (logical-queues.md 9.4, 10.2).

A change is a value. Each answer of a broker gives the next value, and `due_requests` says what to
send. An answer that comes twice changes nothing, so a driver repeats whatever is due after a crash.

```
PLANNED ─prepare─▶ PREPARED ─seal─▶ SEALED ─decide─▶ DECIDED ─activate─▶ ACTIVE    of each queue
   └───────────────────┴──────────────┴─▶ roll back           then spread to all brokers, then done
```
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from backend.domain.logical_queue.commit import (
    Prepared,
    Seal,
    get_queue,
    with_end,
    with_successor,
)
from backend.domain.logical_queue.errors import QueueChangeRefused, SealedOffsetLost
from backend.domain.logical_queue.mapping import (
    EPOCH_STEP,
    LogicalQueue,
    QueueCounts,
    TopicMapping,
)
from backend.domain.logical_queue.placement import Relocation
from backend.domain.logical_queue.segment import (
    INT64_MAX,
)


class ChangeKind(StrEnum):
    """Name what a change does to a topic."""

    CREATE = "create"
    EXPAND = "expand"
    SHRINK = "shrink"
    MIGRATE = "migrate"
    REMAP = "remap"
    DELETE = "delete"
    CONVERT = "convert"
    IMPORT = "import"


class MoveStep(StrEnum):
    """Name how far the move of one logical queue is; the order is that of the protocol."""

    PLANNED = "planned"
    PREPARED = "prepared"
    SEALED = "sealed"
    DECIDED = "decided"
    ACTIVE = "active"


class ChangeState(StrEnum):
    """Name how far a change is as a whole."""

    MOVING = "moving"
    SPREADING = "spreading"
    DONE = "done"
    ROLLING_BACK = "rolling_back"
    ABORTED = "aborted"


class RequestKind(StrEnum):
    """Name a request to a broker."""

    PREPARE = "prepare"
    SEAL = "seal"
    ACTIVATE = "activate"
    SPREAD = "spread"
    UNSEAL = "unseal"


BEFORE_COMMIT: Final = frozenset({MoveStep.PLANNED, MoveStep.PREPARED, MoveStep.SEALED})


@dataclass(frozen=True, slots=True)
class QueueMove:
    """Hold the move of one logical queue, or its end if the topic gets fewer queues.

    `forced_start` is the logical start of the new segment if the source can't be asked. A queue
    that ends has its leader as source and destination, and is only sealed.
    """

    relocation: Relocation
    step: MoveStep = MoveStep.PLANNED
    prepared: Prepared | None = None
    seal: Seal | None = None
    forced_start: int | None = None
    is_unsealed: bool = False

    @property
    def global_id(self) -> int:
        """Return the logical queue that moves."""
        return self.relocation.global_id

    @property
    def is_end(self) -> bool:
        """Return whether the queue ends instead of moving."""
        return self.relocation.source == self.relocation.destination


@dataclass(frozen=True, slots=True)
class Request:
    """Hold a request that is due: its epoch fences requests of older changes."""

    kind: RequestKind
    broker_group_name: str
    epoch: int
    global_id: int | None = None


@dataclass(frozen=True, slots=True)
class QueueChange:
    """Hold a change of a topic: the mapping before, the present one, and how far it is.

    `after` is the truth from each commit point on. `converged` are the broker groups that stored
    it, and `stale` those that are down: they get it when they return.
    """

    kind: ChangeKind
    before: TopicMapping
    after: TopicMapping
    moves: tuple[QueueMove, ...] = ()
    state: ChangeState = ChangeState.MOVING
    converged: frozenset[str] = frozenset()
    stale: frozenset[str] = frozenset()

    @property
    def epoch(self) -> int:
        """Return the epoch of the change."""
        return self.after.epoch

    @property
    def topic_name(self) -> str:
        """Return the topic."""
        return self.after.topic_name

    @property
    def is_forced(self) -> bool:
        """Return whether a source was not asked for its end."""
        return any(one.forced_start is not None for one in self.moves)

    @property
    def is_finished(self) -> bool:
        """Return whether another change of the topic may begin."""
        return self.state in {ChangeState.DONE, ChangeState.ABORTED}

    @property
    def changed_queues(self) -> tuple[LogicalQueue, ...]:
        """Return the logical queues that are new, or have other segments than before."""
        former = {one.global_id: one for one in self.before.queues}
        return tuple(one for one in self.after.queues if former.get(one.global_id) != one)

    @property
    def is_committed(self) -> bool:
        """Return whether the change only goes forward."""
        is_open = self.state in {ChangeState.MOVING, ChangeState.ROLLING_BACK}
        return not is_open or any(one.step not in BEFORE_COMMIT for one in self.moves)

    @property
    def is_moved(self) -> bool:
        """Return whether all queues of the change have moved, at all brokers."""
        is_active = all(one.step is MoveStep.ACTIVE for one in self.moves)
        return self.state is ChangeState.DONE and is_active

    def move(self, global_id: int) -> QueueMove:
        """Return the move of a logical queue.

        Raises:
            QueueChangeRefused: the change does not move this queue.
        """
        for one in self.moves:
            if one.global_id == global_id:
                return one
        raise QueueChangeRefused(self.topic_name, f"no move of logical queue {global_id} is open")

    def with_move(self, move: QueueMove) -> "QueueChange":
        """Return the change with another state of one move."""
        moves = tuple(move if one.global_id == move.global_id else one for one in self.moves)
        return replace(self, moves=moves)


def next_epoch(topic: TopicMapping | None, *, now_ms: int, topic_name: str) -> int:
    """Return the epoch of a new change, in the full width of 64 bits (H-12).

    Raises:
        QueueChangeRefused: 64 bits hold no greater epoch.
    """
    epoch = max(now_ms, topic.epoch + EPOCH_STEP) if topic is not None else now_ms + EPOCH_STEP
    if epoch > INT64_MAX:
        raise QueueChangeRefused(topic_name, "no greater epoch is left")
    return epoch


def due_requests(change: QueueChange, *, parallel_max: int = 4) -> tuple[Request, ...]:
    """Return the requests to send now, in the order of their logical queues.

    At most `parallel_max` queues move at the same time. A move that only has to be decided has no
    request: the control plane calls `decide` in its transaction.
    """
    match change.state:
        case ChangeState.MOVING:
            return _requests_of_moves(change, parallel_max)
        case ChangeState.SPREADING:
            return _requests_to_spread(change)
        case ChangeState.ROLLING_BACK:
            return (*_requests_to_undo(change), *_requests_to_spread(change))
        case _:
            return ()


def with_prepared(change: QueueChange, global_id: int, answer: Prepared) -> QueueChange:
    """Take the answer of a destination (M1).

    Raises:
        QueueChangeRefused: the destination answered with another physical queue before.
    """
    move = change.move(global_id)
    if move.prepared is not None and move.prepared != answer:
        reason = f"{move.relocation.destination} first prepared {move.prepared}, then {answer}"
        raise QueueChangeRefused(change.topic_name, reason)
    if change.state is not ChangeState.MOVING or move.step is not MoveStep.PLANNED:
        return change
    return change.with_move(replace(move, step=MoveStep.PREPARED, prepared=answer))


def with_sealed(change: QueueChange, global_id: int, answer: Seal) -> QueueChange:
    """Take the answer of a source (M2); a repeated seal has to give the same end.

    Raises:
        SealedOffsetLost: a new master of the source lacks confirmed messages. QueueChangeRefused:
        the end lies before the start of the segment.
    """
    move = change.move(global_id)
    if move.seal is not None and answer.physical_end != move.seal.physical_end:
        raise SealedOffsetLost(
            change.topic_name,
            global_id,
            sealed=move.seal.physical_end,
            found=answer.physical_end,
        )
    if change.state is not ChangeState.MOVING or move.step is not MoveStep.PREPARED:
        return change
    source = get_queue(change.after, global_id).segments[-1]
    if answer.physical_end < source.physical_start:
        reason = f"{source} can't end at offset {answer.physical_end}"
        raise QueueChangeRefused(change.topic_name, reason)
    return change.with_move(replace(move, step=MoveStep.SEALED, seal=answer))


def decide(change: QueueChange, global_id: int) -> QueueChange:
    """Commit a move: the old segment ends, and the new one starts (M3).

    From here on the move only goes forward. A forced move is decided once it is prepared.

    Raises:
        QueueChangeRefused: the move is not sealed, or no logical offset is left.
    """
    move = change.move(global_id)
    if move.step not in BEFORE_COMMIT:
        return change
    is_ready = move.step is MoveStep.SEALED or (
        move.step is MoveStep.PREPARED and move.forced_start is not None
    )
    if not is_ready or change.state is not ChangeState.MOVING:
        reason = f"the move of logical queue {global_id} is {move.step}, not sealed"
        raise QueueChangeRefused(change.topic_name, reason)
    if move.is_end and move.seal is not None:
        after = with_end(change.after, global_id, move.seal)
        return with_activated(_decided_with(change, move, after), global_id)
    assert move.prepared is not None
    after = with_successor(
        change.after,
        global_id,
        move.relocation.destination,
        move.prepared,
        seal=move.seal,
        forced_start=move.forced_start,
    )
    return _decided_with(change, move, after)


def with_activated(change: QueueChange, global_id: int) -> QueueChange:
    """Take the answer of a destination that now leads (M4).

    Raises:
        QueueChangeRefused: the move is not decided.
    """
    move = change.move(global_id)
    if move.step in BEFORE_COMMIT:
        reason = f"the move of logical queue {global_id} is {move.step}, not decided"
        raise QueueChangeRefused(change.topic_name, reason)
    change = change.with_move(replace(move, step=MoveStep.ACTIVE))
    if all(one.step is MoveStep.ACTIVE for one in change.moves):
        return replace(change, state=ChangeState.SPREADING)
    return change


def with_spread(change: QueueChange, broker_group_name: str) -> QueueChange:
    """Take the answer of a broker group that stored the mapping of the change (M5, M6)."""
    converged = change.converged | {broker_group_name}
    stale = change.stale - {broker_group_name}
    return _finished(replace(change, converged=converged, stale=stale))


def without_broker_group(change: QueueChange, broker_group_name: str) -> QueueChange:
    """Go on without a broker group that is down: it gets the mapping before it registers again.

    Raises:
        QueueChangeRefused: queues still move, or the broker group leads new queues.
    """
    if change.state not in {ChangeState.SPREADING, ChangeState.ROLLING_BACK}:
        raise QueueChangeRefused(change.topic_name, "logical queues still move")
    known = {one.global_id for one in change.before.queues}
    if any(one.global_id not in known for one in change.after.led_by(broker_group_name)):
        raise QueueChangeRefused(change.topic_name, f"{broker_group_name} leads new logical queues")
    return _finished(replace(change, stale=change.stale | {broker_group_name}))


def next_destination(change: QueueChange, choices: Collection[str]) -> str | None:
    """Return the least loaded broker group for one more queue, among those that give none away."""
    sources = {one.relocation.source for one in change.moves}
    counts = {name: len(change.after.led_by(name)) for name in choices if name not in sources}
    for move in change.moves:
        if move.step in BEFORE_COMMIT and move.relocation.destination in counts:
            counts[move.relocation.destination] += 1
    return min(sorted(counts), key=lambda name: counts[name], default=None)


def redirect(change: QueueChange, global_id: int, destination: str) -> QueueChange:
    """Choose another destination for a queue whose first one died before the commit point.

    Raises:
        QueueChangeRefused: the move is decided, or the new destination gives queues away.
    """
    move = change.move(global_id)
    is_open = move.step in BEFORE_COMMIT and change.state is ChangeState.MOVING
    if not is_open or move.is_end:
        raise QueueChangeRefused(change.topic_name, f"logical queue {global_id} already moved")
    if destination in {one.relocation.source for one in change.moves}:
        raise QueueChangeRefused(change.topic_name, f"{destination} gives logical queues away")
    if move.relocation.destination == destination:
        return change
    relocation = replace(move.relocation, destination=destination)
    counts = {destination: QueueCounts(), **change.after.counts}
    changed = replace(change, after=replace(change.after, counts=counts))
    return changed.with_move(
        replace(move, relocation=relocation, step=MoveStep.PLANNED, prepared=None)
    )


def roll_back(change: QueueChange) -> QueueChange:
    """Undo a change before its first commit point, in a higher epoch.

    The seals are removed with the higher epoch, so every late request of the change is refused.

    Raises:
        QueueChangeRefused: a move is decided, or no greater epoch is left.
    """
    if change.state is ChangeState.ROLLING_BACK:
        return change
    if change.is_committed:
        raise QueueChangeRefused(change.topic_name, "the change is committed: it only goes forward")
    epoch = next_epoch(change.after, now_ms=0, topic_name=change.topic_name)
    after = replace(change.before, epoch=epoch, counts=change.after.counts)
    return replace(change, after=after, state=ChangeState.ROLLING_BACK)


def with_unsealed(change: QueueChange, global_id: int) -> QueueChange:
    """Take the answer of a source that takes messages again."""
    move = change.move(global_id)
    if change.state is not ChangeState.ROLLING_BACK:
        return change
    return _finished(change.with_move(replace(move, is_unsealed=True)))


def _decided_with(change: QueueChange, move: QueueMove, after: TopicMapping) -> QueueChange:
    return replace(change, after=after).with_move(replace(move, step=MoveStep.DECIDED))


def _finished(change: QueueChange) -> QueueChange:
    if set(change.after.counts) - change.converged - change.stale:
        return change
    match change.state:
        case ChangeState.SPREADING:
            return replace(change, state=ChangeState.DONE)
        case ChangeState.ROLLING_BACK if not _requests_to_undo(change):
            return replace(change, state=ChangeState.ABORTED)
        case _:
            return change


def _requests_of_moves(change: QueueChange, parallel_max: int) -> tuple[Request, ...]:
    pending = [one for one in change.moves if one.step is not MoveStep.ACTIVE]
    # A queue that is on its way comes first, so that no queue waits sealed behind others.
    order = sorted(pending, key=lambda one: (one.step is MoveStep.PLANNED, one.global_id))
    requests = [_request_of(change, one) for one in order[:parallel_max]]
    return tuple(one for one in requests if one is not None)


def _request_of(change: QueueChange, move: QueueMove) -> Request | None:
    epoch, route = change.epoch, move.relocation
    match move.step:
        case MoveStep.PLANNED:
            return Request(RequestKind.PREPARE, route.destination, epoch, move.global_id)
        case MoveStep.PREPARED if move.forced_start is None:
            return Request(RequestKind.SEAL, route.source, epoch, move.global_id)
        case MoveStep.DECIDED:
            return Request(RequestKind.ACTIVATE, route.destination, epoch, move.global_id)
        case _:
            return None


def _requests_to_spread(change: QueueChange) -> tuple[Request, ...]:
    left = sorted(set(change.after.counts) - change.converged - change.stale)
    return tuple(Request(RequestKind.SPREAD, name, change.epoch) for name in left)


def _requests_to_undo(change: QueueChange) -> tuple[Request, ...]:
    """Return the unseals that are left: a source can be sealed although its answer was lost."""
    return tuple(
        Request(RequestKind.UNSEAL, one.relocation.source, change.epoch, one.global_id)
        for one in change.moves
        if not one.is_unsealed and one.forced_start is None
    )
