"""Two control planes over one Postgres, asked at once: each epoch is one election (D1, D4)."""

import asyncio

from sqlalchemy import text

from tests.integration.nameserver.broker_peer import BrokerPeer, make_f3

ASKED_COUNT = 25


async def elect_in_turn(peer, first_id):
    answers = [
        await peer.elect((first_id + i) % 3 + 1, designateElect="true") for i in range(ASKED_COUNT)
    ]
    return [
        (int(a.ext["masterEpoch"]), int(a.ext["masterBrokerId"])) for a in answers if not a.code
    ]


async def test_elections_asked_of_two_control_planes_have_an_epoch_each(
    start_server, connect, database
):
    servers = [await start_server(unclean_election_allowed=True) for _ in range(2)]
    brokers = [BrokerPeer(await connect(servers[i % 2]), i) for i in (1, 2, 3)]
    await make_f3(brokers)
    operators = [BrokerPeer(await connect(server), 1) for server in servers * 2]

    answered = await asyncio.gather(
        *(elect_in_turn(operator, i) for i, operator in enumerate(operators))
    )

    async with database.connect() as connection:
        rows = await connection.execute(
            text(
                "SELECT master_epoch, master_id FROM replica_group_changes"
                " WHERE kind = 'master_elected' ORDER BY id"
            )
        )
        elected = [tuple(row) for row in rows]
    assert [epoch for epoch, _ in elected] == list(range(1, len(elected) + 1))
    # The first was that of F3.
    assert sorted(told for one in answered for told in one) == elected[1:]
    assert len(elected) > ASKED_COUNT
