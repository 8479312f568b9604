"""Decide how a group that the control plane lost is restored from the reports of its brokers (D6).

The members of the former SyncStateSet are unknown. Two facts are known. Every member had all
acknowledged messages. Of two logs of one epoch, the shorter is the beginning of the longer. So the
longest log of the newest epoch contains all acknowledged messages, if every broker of the group is
present and none is still writing. A master that still serves has them too, whatever the others
report. Every other case is a doubt, and an operator must accept that messages may be lost.
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
    raise_protocol_version,
)

# A waiting broker sends a heartbeat every second. An older report may be outdated.
SILENCE_MAX_MS: Final = 30_000
# The next epochs must differ from all epochs of missing brokers.
EPOCHS_SKIPPED: Final = 1_000
EPOCH_MAX: Final = 2**31 - 1
NO_MASTER: Final = 0
# No broker reports the epoch of the set, and RocketMQ brokers ignore an epoch that is not greater
# than their own. One master epoch never has so many changes of the set, so the new epoch is always
# greater.
SET_EPOCHS_AN_EPOCH: Final = 2**16
SET_EPOCH_STEPS_MAX: Final = 2**14


@dataclass(frozen=True, slots=True)
class Candidate:
    """Hold a broker that claims an unknown id; `None` is a value that it did not report.

    An epoch of 0 means a log without epochs. The master id is the master that the broker knows:
    itself, or the broker that it follows. It is 0 if the broker knows no master.
    """

    broker_id: int
    address: str
    register_code: str | None
    silent_ms: int
    epoch: int | None = None
    max_offset: int | None = None
    master_id: int | None = None
    is_verified: bool | None = None
    protocol_version: int | None = None

    @property
    def is_master(self) -> bool:
        """Return whether the broker reports that it is master."""
        return self.master_id == self.broker_id


@dataclass(frozen=True, slots=True)
class AdoptionOrder:
    """Hold the brokers to adopt, the new master, and the facts that the operator states or accepts.

    `least_epoch` is used for brokers that reported no epoch.
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
    """Adopt brokers with the ids that they claim. A lost group is created again, without a master.

    Its epoch is greater than all known epochs, and its set has one member: the broker that may
    become master. So the next election can choose only this broker. `spare_codes` are bound to the
    ids of brokers that sent no code.

    Raises:
        AdoptionRefused: a broker is missing, or the known facts are not sufficient.
    """
    chosen = _choose(empty.name, candidates, order)
    replicas = {
        c.broker_id: Replica(
            c.broker_id,
            c.address,
            c.register_code or spare_codes[c.broker_id],
            c.protocol_version,
        )
        for c in chosen
    }
    if group is not None:
        _check_late(group, chosen, order)
        after = replace(group, replicas={**group.replicas, **replicas})
        return Change(ChangeKind.REPLICAS_ADOPTED, group, raise_protocol_version(after))
    epoch = _first_epoch(empty.name, candidates.values(), order)
    master_id = _choose_master(empty.name, candidates, chosen, order, empty.confirmed)
    master = candidates[master_id]
    is_held = not [*_doubts_of_log(master, empty.confirmed)]
    after = replace(
        empty,
        replicas=replicas,
        master_epoch=epoch,
        # An epoch that starts after the end of the log has no effect on later elections.
        confirmed=empty.confirmed
        if is_held
        else ConfirmedEnd(UNKNOWN_POSITION, _end_of(master).position),
        # Replicas with more data than the master may truncate it in the epoch of this election.
        loss_epoch=epoch + 1 if order.accepts_loss else empty.loss_epoch,
        sync_state_set=SyncStateSet(
            frozenset({master_id}), min(epoch, SET_EPOCH_STEPS_MAX) * SET_EPOCHS_AN_EPOCH
        ),
    )
    after = raise_protocol_version(after)
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
    """Refuse logs that may belong to another history than that of the group."""
    if order.master_id is not None:
        raise AdoptionRefused(group.name, "the group is known and has its master elected")
    for one in chosen:
        if one.broker_id in group.replicas or one.broker_id in group.retired_ids:
            raise AdoptionRefused(group.name, f"id {one.broker_id} was used already")
        version = one.protocol_version
        if version is not None and version < group.protocol_version:
            raise AdoptionRefused(
                group.name,
                f"broker {one.broker_id} is of protocol version {version}, and the group of"
                f" {group.protocol_version}: start it with a release of that version or later",
            )
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
    """Find the broker with all messages: the master of the newest epoch, or the longest log."""
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
    """Report a log that lacks data it had before, or data that was confirmed to the group (D27)."""
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
