"""The console's files, the headers around everything, and health."""

import pytest


async def test_the_page_is_served_for_every_address_of_the_console(stranger):
    for path in ("/", "/topics", "/clusters/main/topics/%25RETRY%25g", "/index.html"):
        answer = await stranger.get(path)
        assert (answer.status_code, "Regent" in answer.text) == (200, True), path
        assert answer.headers["cache-control"] == "no-cache"


async def test_a_file_named_by_its_content_may_be_kept_for_ever(stranger):
    answer = await stranger.get("/assets/app-1a2b.js")

    assert answer.status_code == 200
    assert "immutable" in answer.headers["cache-control"]
    assert "javascript" in answer.headers["content-type"]


async def test_a_file_that_is_gone_is_not_the_page(stranger):
    assert (await stranger.get("/assets/app-old.js")).status_code == 404


async def test_a_console_that_is_built_again_is_served_without_a_restart(stranger, console_dir):
    assert (await stranger.get("/")).status_code == 200
    (console_dir / "assets/app-1a2b.js").unlink()
    (console_dir / "index.html").unlink()

    meanwhile = [await stranger.get(path) for path in ("/", "/topics", "/assets/app-1a2b.js")]
    (console_dir / "assets/app-3c4d.js").write_text("new")
    (console_dir / "index.html").write_text("<title>Regent</title> anew")

    assert [answer.status_code for answer in meanwhile] == [404, 404, 404]
    assert (await stranger.get("/assets/app-3c4d.js")).text == "new"
    for path in ("/", "/topics"):
        assert "anew" in (await stranger.get(path)).text, path


@pytest.mark.parametrize(
    "path", ["/../secret", "/%2e%2e/secret", "/..%2fsecret", "/link", "/assets/../../secret"]
)
async def test_no_address_leads_out_of_the_folder(stranger, path):
    assert "outside" not in (await stranger.get(path)).text


async def test_every_answer_carries_the_safety_headers(stranger):
    for path in ("/", "/healthz", "/api/v1/clusters", "/assets/none"):
        headers = (await stranger.get(path)).headers
        assert "script-src 'self'" in headers["content-security-policy"], path
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


async def test_the_content_policy_lets_nothing_run_but_our_own_files(stranger, client):
    for answer in (await stranger.get("/"), await client.get("/api/v1/clusters")):
        parts = answer.headers["content-security-policy"].split("; ")
        policy = {name: set(sources) for name, *sources in map(str.split, parts)}

        assert policy["default-src"] == policy["base-uri"] == {"'none'"}
        assert policy["frame-ancestors"] == {"'none'"}
        assert policy["script-src"] == policy["connect-src"] == {"'self'"}
        assert policy["form-action"] == {"'self'"}
        assert policy["style-src"] == {"'self'", "'unsafe-inline'"}
        inline = [name for name, sources in policy.items() if "'unsafe-inline'" in sources]
        assert inline == ["style-src"]
        assert "unsafe-eval" not in str(policy)


async def test_answers_of_the_api_are_not_kept(client):
    assert (await client.get("/api/v1/clusters")).headers["cache-control"] == "no-store"


async def test_a_process_whose_store_is_away_lives_and_is_not_ready(stranger, database):
    async with database.begin() as connection:
        await connection.exec_driver_sql("ALTER TABLE clusters RENAME TO away")

    health, readiness = await stranger.get("/healthz"), await stranger.get("/readyz")

    assert (health.status_code, readiness.status_code) == (200, 503)


async def test_metrics_count_requests_by_route_and_show_the_name_server(stranger, client):
    await client.get("/api/v1/clusters/some-name")

    text = (await stranger.get("/metrics")).text

    assert 'route="/api/v1/clusters/{cluster_name}"' in text
    assert "some-name" not in text
    assert "regent_name_server_brokers 2.0" in text
    assert 'regent_name_server_answers_total{code="0",request="GET_ROUTEINFO_BY_TOPIC"} 5.0' in text
