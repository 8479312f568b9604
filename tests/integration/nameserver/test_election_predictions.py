"""What one process foretells of an election is what another one answers to the request (1002)."""

from collections import Counter

from backend.nameserver import failover
from backend.nameserver.replica_report_writer import ReplicaReportWriter
from backend.services.controller.group_changes import BrokerGroupName, find_group
from tests.integration.nameserver.broker_peer import BrokerPeer
from tests.integration.services.controller_driver import ControllerDriver
from tests.integration.services.written_groups import write_group
from tests.unit.domain.generated_elections import (
    DONE,
    NO_WINNER,
    REFUSED,
    STAYS,
    UNKNOWN,
    Case,
    foretell,
    generate_cases,
)

SEED, CASE_COUNT = 77, 150
NO_WINNER_ID = -1


async def show_life(client, case):
    """Have the replicas heard that are alive; each is answered once Postgres has it."""
    for broker_id, told in case.liveness.reports.items():
        answer = await BrokerPeer(client, broker_id, group=case.group.name).lease(
            epoch=str(told.epoch),
            maxOffset=str(told.max_offset),
            confirmOffset=str(told.confirm_offset),
            heartbeatTimeoutMills=str(told.timeout_ms),
            electionPriority=str(told.priority),
            isVerified=str(told.is_verified).lower(),
            isCordoned=str(told.is_cordoned).lower(),
        )
        assert answer.code == 0


async def ask(client, case):
    ballot = case.ballot
    peer = BrokerPeer(client, 1, group=case.group.name)
    asked_id = NO_WINNER_ID if ballot.broker_id is None else ballot.broker_id
    answer = await peer.elect(asked_id, designateElect=str(ballot.is_designated).lower())
    return answer.code, (await read(peer))


async def read(peer):
    told = (await peer.info()).ext.get("masterBrokerId")
    return None if told is None else int(told)


async def test_a_request_is_answered_as_another_process_foretold(
    database, start_server, connect, monkeypatch
):
    # Some groups are without a master: none may be elected before it is requested.
    monkeypatch.setattr(failover, "MASTERLESS_SCAN_INTERVAL_S", 3_600.0)
    # Within its first lease a process would not yet believe that who is silent is gone.
    monkeypatch.setattr(ReplicaReportWriter, "listened_ms", 3_600_000)
    clients = {
        allows: await connect(await start_server(unclean_election_allowed=allows))
        for allows in (False, True)
    }
    # It hears no broker itself: it reads all its facts.
    other, seen = ControllerDriver(database), Counter()
    for case in generate_cases(SEED, CASE_COUNT):
        client = clients[case.ballot.allows_unclean]
        await write_group(database, case.group, lease_left_ms=case.liveness.lease_left_ms)
        await show_life(client, case)
        view = await find_group(BrokerGroupName(case.group.name, "c"), other.controller)

        told = foretell(Case(view.group, view.liveness, case.ballot))
        done = await ask(client, case)

        assert told == done, case
        seen[done[0]] += 1

    assert set(seen) == {DONE, NO_WINNER, STAYS, REFUSED, UNKNOWN}
