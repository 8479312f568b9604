"""A request that says more than its resource takes, or whose name got lost, has no effect."""

import pytest

V1 = "/api/v1"


@pytest.mark.parametrize(
    ("path", "parameter", "hint"),
    [
        # Case B11.
        ("/findings", "since", "there are after, cluster_name, code, is_open, limit"),
        ("/findings", "cluster", "did you mean cluster_name?"),
        ("/events", "From", "unknown parameter"),
        ("/clusters", "limits", "did you mean limit?"),
        ("/clusters/main", "limit", "this resource takes none"),
        ("/clusters/main/topics", "Limit", "did you mean limit?"),
        ("/operations", "state_", "unknown parameter"),
        ("/session", "token", "this resource takes none"),
    ],
)
async def test_an_unknown_parameter_is_refused_with_those_that_exist(
    client, register, path, parameter, hint
):
    await register()

    answer = await client.get(V1 + path, params={parameter: "1"})

    assert answer.status_code == 422
    problem = answer.json()
    assert problem["code"] == "invalid_input"
    assert problem["facts"][0]["at"] == ["query", parameter]
    assert hint in problem["facts"][0]["reason"]


async def test_an_unknown_parameter_of_a_deed_keeps_it_from_being_done(client, stranger):
    # Case B11: also without a sign-in.
    ended = await client.delete(f"{V1}/sessions", params={"everywhere": "true", "user": "anna"})
    entered = await stranger.post(
        f"{V1}/session", params={"tokens": "true"}, json={"name": "a", "password": "b"}
    )

    assert (ended.status_code, entered.status_code) == (422, 422)
    assert (await client.get(f"{V1}/session")).status_code == 200


async def test_an_unknown_field_of_a_body_is_refused(stranger):
    # Case B11.
    body = {"name": "a", "password": "b", "remember": True}

    answer = await stranger.post(f"{V1}/session", json=body)

    assert answer.status_code == 422
    assert answer.json()["facts"][0]["at"] == ["body", "remember"]


@pytest.mark.parametrize("path", ["/sessions/", "/sessions", "/sessions//", "/sessions/%2E"])
async def test_a_name_that_got_lost_ends_no_session(client, path):
    # Case B7.
    answer = await client.delete(V1 + path)

    assert answer.status_code in {404, 405, 422}
    assert (await client.get(f"{V1}/session")).status_code == 200


async def test_an_encoded_slash_is_part_of_a_name(client, register):
    # Case B9.
    await register()

    answer = await client.get(f"{V1}/clusters/main/topics/a%2fb%2Fc")
    group = await client.get(f"{V1}/clusters/a%2Fb/topics")

    assert "topic 'a/b/c' holds '/'" in answer.json()["detail"]
    assert "cluster 'a/b' holds '/'" in group.json()["detail"]
