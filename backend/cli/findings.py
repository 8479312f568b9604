"""The commands `regent finding …`: broken invariants, their begin, and advice."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from cyclopts import App, Parameter

from backend.cli.clusters import ClusterName, Limit
from backend.cli.output import (
    pairs_text,
    print_items,
    print_json,
    print_line,
    time_text,
)
from backend.cli.reader import print_note
from backend.cli.rest import connect
from backend.cli.target import Options
from backend.cli.words import WORDS
from backend.domain.finding import FindingCode

finding = App(name=["finding", "findings"], help="Show broken invariants of clusters, with advice.")


@finding.command(name="list")
def list_findings(
    *,
    cluster: ClusterName = None,
    code: Annotated[FindingCode | None, WORDS] = None,
    all: Annotated[bool, Parameter(negative="")] = False,  # noqa: A002 - the option's name
    limit: Limit = 50,
    options: Options = Options(),
) -> None:
    """List broken invariants, the newest first, with evidence and advice.

    A broker that is down becomes a finding within five seconds. The finding ends when the broker
    returns or is forgotten. A running replica becomes a finding after one minute outside its
    SyncStateSet.

    Examples:
        regent finding list
        regent finding list --all --cluster DefaultCluster
        regent finding list --code two_masters -o json

    Args:
        cluster: Only findings of this cluster.
        code: Only findings of this kind.
        all: List ended findings too.
        limit: Maximum number of findings.
        options: Which server, and how to print.
    """
    is_open = None if all else "true"
    with connect(options) as client:
        found = list(
            client.list("/findings", limit=limit, cluster_name=cluster, code=code, is_open=is_open)
        )
    if options.output == "json":
        print_json(found)
        return
    if not found:
        print_line("there is no finding" if all else "no finding is open")
        print_note(
            "a finding is a broken invariant, a broker that is down or a group without a writer; to"
            " see whether all is well now: regent status"
        )
        return
    print_items(
        {
            "SEVERITY": "severity",
            "FINDING": "code",
            "CLUSTER": "cluster_name",
            "ON": "subject",
            "SINCE": ("since", time_text),
            "UNTIL": lambda one: time_text(one["closed_at"]) if one["closed_at"] else "now",
            "EVIDENCE": lambda one: one["sentence"] or pairs_text(one["evidence"]),
        },
        found,
    )
    for first, *others in _by_code(found):
        print_line(f"\n{first['code']}: {first['title']}\n  next: {first['advice']}")
        if others:
            print_line(f"  likewise: {', '.join(one['subject'] for one in others)}")


def _by_code(found: Sequence[Mapping[str, Any]]) -> Iterable[list[Mapping[str, Any]]]:
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for one in found:
        kinds.setdefault(one["code"], []).append(one)
    return kinds.values()
