"""Decide how a group comes back that the control plane lost, from what its brokers say (D6).

Nobody knows any more who was in the SyncStateSet. What is known: every member held all that was
acknowledged, and logs of one epoch are beginnings of one another. So the longest log of the newest
epoch lacks nothing acknowledged, once every broker of the group is there and none goes on writing;
a master that still serves lacks nothing either, whatever the others say. Everything else is a
doubt, and then an operator must accept that messages may be lost.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from backend.domain.errors import AdoptionRefused
from backend.domain.replica_group import (
    FIRST_BROKER_ID,
    UNKNOWN_POSITION,
    Change,
    ChangeKind,
    ConfirmedEnd,
    Replica,
    ReplicaGroup,
    SyncStateSet,
)

# A broker that waits speaks every second; what was said longer ago may no longer be so.
SILENCE_MAX_MS: Final = 30_000
# The epochs that follow must differ from any that a broker which is not there holds.
EPOCHS_SKIPPED: Final = 1_000
EPOCH_MAX: Final = 2**31 - 1
NO_MASTER: Final = 0
# Nobody tells the set's epoch, and stock brokers ignore one that is not greater than theirs. So
# many changes of a set are not reached within one master epoch, and another loss is further on.
SET_EPOCHS_AN_EPOCH: Final = 2**16
SET_EPOCH_STEPS_MAX: Final = 2**14


@dataclass(frozen=True, slots=True)
class Candidate:
    """Hold a broker that claims an id nobody knows here; `None` is what it did not tell.

    An epoch of 0 is that of a log without any; a master id names who serves as master for all
    that the broker knows, itself or whom it follows, and is 0 when it knows of none.
    """

    broker_id: int
    address: str
    register_code: str | None
    silent_ms: int
    epoch: int | None = None
    max_offset: int | None = None
    master_id: int | None = None
    is_verified: bool | None = None

    @property
    def is_master(self) -> bool:
        """Tell whether it says that it serves as master."""
        return self.master_id == self.broker_id


@dataclass(frozen=True, slots=True)
class AdoptionOrder:
    """Say whom an operator takes in, who shall be master, and what the operator knows or accepts.

    `least_epoch` stands for the epochs of those who told none.
    """

    broker_ids: frozenset[int]
    master_id: int | None = None
    least_epoch: int | None = None
    accepts_loss: bool = False


def adopt_replicas(
    group: ReplicaGroup | None,
    empty: ReplicaGroup,
    candidates: Mapping[int, Candidate],
    order: AdoptionOrder,
    *,
    spare_codes: Mapping[int, str],
) -> Change:
    """Take brokers in under the ids they claim; a lost group begins again, without a master yet.

    It begins in an epoch beyond all that are known, and with a set of the one who may become
    master, so that the election that follows can only choose that one. `spare_codes` are bound to
    the ids of those who told no code.

    Raises:
        AdoptionRefused: somebody is not there, or what is known does not suffice.
    """
    chosen = _choose(empty.name, candidates, order)
    replicas = {
        c.broker_id: Replica(c.broker_id, c.address, c.register_code or spare_codes[c.broker_id])
        for c in chosen
    }
    if group is not None:
        _check_late(group, chosen, order)
        after = replace(group, replicas={**group.replicas, **replicas})
        return Change(ChangeKind.REPLICAS_ADOPTED, group, after)
    epoch = _first_epoch(empty.name, candidates.values(), order)
    master_id = _choose_master(empty.name, candidates, chosen, order, empty.confirmed)
    master = candidates[master_id]
    is_held = not [*_doubts_of_log(master, empty.confirmed)]
    after = replace(
        empty,
        replicas=replicas,
        master_epoch=epoch,
        # An epoch that begins behind the end of the log counts for no later election.
        confirmed=empty.confirmed
        if is_held
        else ConfirmedEnd(UNKNOWN_POSITION, _end_of(master).position),
        # Replicas that keep more than the master may cut it in the epoch of its election.
        loss_epoch=epoch + 1 if order.accepts_loss else empty.loss_epoch,
        sync_state_set=SyncStateSet(
            frozenset({master_id}), min(epoch, SET_EPOCH_STEPS_MAX) * SET_EPOCHS_AN_EPOCH
        ),
    )
    return Change(ChangeKind.REPLICAS_ADOPTED, empty, after, resets_confirmed=True)


def _choose(
    broker_group_name: str, candidates: Mapping[int, Candidate], order: AdoptionOrder
) -> list[Candidate]:
    if not order.broker_ids:
        raise AdoptionRefused(broker_group_name, "name the brokers to adopt")
    for broker_id in sorted(order.broker_ids):
        found = candidates.get(broker_id)
        if found is None:
            raise AdoptionRefused(broker_group_name, f"no broker {broker_id} waits for adoption")
        if found.silent_ms > SILENCE_MAX_MS:
            reason = f"broker {broker_id} has been silent for {found.silent_ms // 1000} s"
            raise AdoptionRefused(broker_group_name, f"{reason}: start it, or leave it out")
        if found.epoch is None and order.least_epoch is None:
            reason = f"broker {broker_id} did not report the newest epoch of its log"
            raise AdoptionRefused(broker_group_name, f"{reason}: name one that is not smaller")
    return [candidates[broker_id] for broker_id in sorted(order.broker_ids)]


def _check_late(group: ReplicaGroup, chosen: Collection[Candidate], order: AdoptionOrder) -> None:
    """Refuse logs that may continue another history than the group's."""
    if order.master_id is not None:
        raise AdoptionRefused(group.name, "the group is known and has its master elected")
    for one in chosen:
        if one.broker_id in group.replicas or one.broker_id in group.retired_ids:
            raise AdoptionRefused(group.name, f"id {one.broker_id} was used already")
        epoch = order.least_epoch if one.epoch is None else one.epoch
        if epoch is not None and epoch > group.master_epoch:
            raise AdoptionRefused(
                group.name,
                f"the log of broker {one.broker_id} is of epoch {epoch}, but the group is in epoch"
                f" {group.master_epoch}. The group's log may be the wrong one. Forget the group,"
                " then adopt all its brokers, with this broker among them",
            )


def _first_epoch(
    broker_group_name: str, candidates: Collection[Candidate], order: AdoptionOrder
) -> int:
    epochs = [c.epoch for c in candidates if c.epoch is not None]
    epoch = max([*epochs, order.least_epoch or 0]) + EPOCHS_SKIPPED
    if epoch >= EPOCH_MAX:
        raise AdoptionRefused(broker_group_name, f"no epoch is left after {epoch - EPOCHS_SKIPPED}")
    return epoch


def _choose_master(
    broker_group_name: str,
    candidates: Mapping[int, Candidate],
    chosen: list[Candidate],
    order: AdoptionOrder,
    confirmed: ConfirmedEnd,
) -> int:
    if order.master_id is not None and order.master_id not in order.broker_ids:
        raise AdoptionRefused(
            broker_group_name, f"broker {order.master_id} is not among those adopted"
        )
    by_facts = _best(chosen)
    master_id = order.master_id if by_facts is None or order.master_id else by_facts.broker_id
    if master_id is None:
        raise AdoptionRefused(broker_group_name, "no known fact names a master: name one")
    doubts = [*_doubts(candidates, chosen), *_doubts_of_log(candidates[master_id], confirmed)]
    if by_facts is not None and master_id != by_facts.broker_id:
        doubts += _doubts_of(candidates[master_id], by_facts)
    if doubts and not order.accepts_loss:
        raise AdoptionRefused(
            broker_group_name,
            f"{'; '.join(doubts)}: acknowledged messages may be lost; to go on, accept the loss",
        )
    return master_id


def _best(chosen: list[Candidate]) -> Candidate | None:
    """Find who lacks nothing: who serves as master of the newest epoch, else the longest log."""
    if any(c.epoch is None or c.max_offset is None for c in chosen):
        return None
    newest = max(c.epoch or 0 for c in chosen)
    serving = [c for c in chosen if c.is_master and c.epoch == newest]
    if len(serving) == 1:
        return serving[0]
    return max(chosen, key=lambda c: (_length(c), -c.broker_id))


def _doubts(candidates: Mapping[int, Candidate], chosen: list[Candidate]) -> Iterator[str]:
    ids = {c.broker_id for c in chosen}
    missing = sorted(set(range(FIRST_BROKER_ID, max(candidates) + 1)) - ids)
    if missing:
        named = ", ".join(str(i) for i in missing[:10])
        yield f"broker {named} is not adopted and may hold more messages"
    for one in chosen:
        if one.epoch is None or one.max_offset is None:
            yield f"how long the log of broker {one.broker_id} is, is not known"
        elif one.master_id is None:
            yield f"whether broker {one.broker_id} still serves as master is not known"
        elif one.master_id not in {NO_MASTER, *ids}:
            yield f"broker {one.broker_id} follows {one.master_id}, which is not adopted"


def _doubts_of_log(master: Candidate, confirmed: ConfirmedEnd) -> Iterator[str]:
    """Doubt a log that lacks what it held before, or what was confirmed to the group (D27)."""
    if master.is_verified is False:
        yield f"the log of broker {master.broker_id} may lack its end, according to its own files"
    end = _end_of(master)
    if confirmed.is_known and end.is_known and not confirmed.is_held_by(end.epoch, end.position):
        missing = confirmed.missing_bytes(end.position)
        what = f"{missing} bytes" if missing else "the newest epoch"
        yield f"the log of broker {master.broker_id} lacks {what} of what was confirmed"


def _end_of(candidate: Candidate) -> ConfirmedEnd:
    if candidate.epoch is None or candidate.max_offset is None:
        return ConfirmedEnd()
    # Heartbeats report a log without epochs as one of an unknown epoch.
    return ConfirmedEnd(candidate.epoch or UNKNOWN_POSITION, candidate.max_offset)


def _doubts_of(master: Candidate, best: Candidate) -> Iterator[str]:
    if best.is_master:
        yield f"broker {best.broker_id} serves as master, not {master.broker_id}"
    elif _length(master) != _length(best):
        yield f"the log of broker {best.broker_id} is newer or longer than {master.broker_id}'s"


def _length(candidate: Candidate) -> tuple[int, int]:
    return (candidate.epoch or 0, candidate.max_offset or 0)
