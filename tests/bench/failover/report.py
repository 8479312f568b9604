"""Make figures with limits of failover rounds (targets.md 2: R10, R10b, R10c)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from tests.bench.failover.rounds import Kind, Round
from tests.bench.measure import Measure, median, spread

LEASE_S = 3.0
"""What a master of ours asks for by default."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What a kind is measured as."""

    id: str
    title: str
    ceiling: float
    target: float
    unit_s: float = 1.0
    """What the gap is divided by."""

    unit: str = " s"


FIGURES = {
    Kind.KILL: Figure("R10", "kill -9 of the master: longest gap", 0.30, 0.15),
    Kind.PAUSE: Figure("R10b", "pause of the master: gap / lease", 1.6, 1.25, LEASE_S, ""),
    Kind.PARTITION: Figure("R10b", "master cut off: gap / lease", 1.6, 1.25, LEASE_S, ""),
    Kind.STOP: Figure("R10c", "SIGTERM of the master: longest gap", 0.5, 0.05),
    Kind.ELECT: Figure("R10c", "another master elected: longest gap", 0.5, 0.05),
}


def measures_of(rounds: Sequence[Round]) -> list[Measure]:
    """Give one figure for each kind and group; the peer's have no limits."""
    return [
        measure
        for kind, figure in FIGURES.items()
        for measure in _measures_of_kind(figure, [one for one in rounds if one.kind == kind])
    ]


def _measures_of_kind(figure: Figure, rounds: Sequence[Round]) -> list[Measure]:
    by_group: dict[str, list[Round]] = {}
    for one in rounds:
        by_group.setdefault(one.group, []).append(one)
    peers = [_gaps(held) for label, held in by_group.items() if not _is_ours(label)]
    peer_s = median(peers[0]) if peers and peers[0] else None
    measures = []
    for label, held in by_group.items():
        measures.append(_measure(figure, label, held, peer_s))
        if _is_ours(label):
            lost = sum(one.lost for one in held)
            title = f"{label}: acknowledged and lost in {len(held)} rounds"
            measures.append(Measure(figure.id, title, lost, ceiling=0))
    return measures


def _measure(figure: Figure, label: str, rounds: list[Round], peer_s: float | None) -> Measure:
    gaps = _gaps(rounds)
    # Nothing valid is no success.
    value = median(gaps) / figure.unit_s if gaps else float("inf")
    is_ours = _is_ours(label)
    facts: dict[str, object] = {"rounds": len(gaps), "void": len(rounds) - len(gaps)}
    if gaps:
        facts["gaps"] = spread(gaps) + " s"
    if is_ours:
        facts["target"] = f"{figure.target:g}{figure.unit}"
        if peer_s is not None and gaps:
            facts["of stock's"] = round(median(gaps) / peer_s, 3)
    else:
        facts["acknowledged and lost"] = _losses(rounds)
    facts["refused"] = sum(one.refused for one in rounds)
    return Measure(
        figure.id,
        f"{label}: {figure.title}",
        value,
        figure.unit,
        ceiling=figure.ceiling if is_ours else None,
        facts=facts,
        blocks=[asdict(one) | {"is_void": one.is_void} for one in rounds],
    )


def _gaps(rounds: Sequence[Round]) -> list[float]:
    return [one.gap_s for one in rounds if not one.is_void]


def _is_ours(label: str) -> bool:
    return label.startswith("ours")


def _losses(rounds: Sequence[Round]) -> str:
    lost, in_time = sum(one.lost for one in rounds), sum(one.lost_in_time for one in rounds)
    return f"{lost} ({in_time} while their client waited)"
