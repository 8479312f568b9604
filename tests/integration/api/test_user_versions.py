"""A change of a user applies to the version that was read; clusters have
`agents/test_versions.py`."""

from tests.integration.api.access import USERS


async def test_two_who_edit_one_user_do_not_overwrite_each_other(client, ask):
    await client.post(USERS, json={"name": "anna", "role": "viewer"})
    seen = (await client.get(f"{USERS}/anna")).headers["ETag"]
    first = await client.put(
        f"{USERS}/anna/role", json={"role": "operator"}, headers={"If-Match": seen}
    )

    second = await client.put(
        f"{USERS}/anna/role", json={"role": "admin"}, headers={"If-Match": seen}
    )

    assert (first.status_code, first.headers["ETag"] != seen) == (200, True)
    assert (second.status_code, second.json()["code"]) == (412, "version_moved")
    graph = (await ask('{ user(name: "anna") { role version } }'))["user"]
    assert graph == {"role": "OPERATOR", "version": first.headers["ETag"].strip('"')}
    entries = (await client.get("/api/v1/audit")).json()["items"]
    assert [entry["action"] for entry in entries] == ["user.change_role", "user.add"]
    answer = await client.get(f"{USERS}/nobody")
    assert (answer.status_code, answer.json()["code"]) == (404, "user_not_found")
    assert (await ask('{ user(name: "nobody") { role } }'))["user"] is None
