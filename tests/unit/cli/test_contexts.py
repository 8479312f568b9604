"""Servers by name: which one is meant, what is kept of it, and who may read that."""

import io
import json
import stat
import threading

import pytest

from backend.cli.app import run
from backend.cli.context_file import Context, change_contexts, context_path, read_contexts
from tests.unit.cli.fake_server import SERVER, SESSION, refusal

PROD, STAGING = "http://prod.test:8080", "http://staging.test:8080"
TOPICS = {"items": [{"name": "orders", "kind": "normal", "protection": None}], "next": None}


@pytest.fixture
def contexts(server):
    """Keep two contexts, the second in use, and answer as both servers."""
    server.on("GET", "/session", SESSION)
    for cluster in ("east", "west"):
        server.on("GET", f"/clusters/{cluster}/topics", TOPICS)
    with change_contexts() as kept:
        kept.put(Context("prod", PROD, "prod-token", cluster="east"))
        kept.put(Context("staging", STAGING, "staging-token", cluster="west", output="json"))
        kept.current = "staging"
    return server


def last(server):
    request = server.requests[-1]
    return request.url.host, request.headers["Authorization"].removeprefix("Bearer ")


@pytest.mark.parametrize(
    ("environment", "words", "meant"),
    [
        ({}, [], ("staging.test", "staging-token")),
        ({"REGENT_CONTEXT": "prod"}, [], ("prod.test", "prod-token")),
        ({"REGENT_URL": PROD}, [], ("prod.test", "prod-token")),
        ({"REGENT_URL": PROD, "REGENT_CONTEXT": "staging"}, [], ("prod.test", "prod-token")),
        ({"REGENT_TOKEN": "t"}, [], ("staging.test", "t")),
        ({"REGENT_URL": STAGING}, ["--context", "prod"], ("prod.test", "prod-token")),
        (
            {"REGENT_URL": STAGING, "REGENT_CONTEXT": "prod"},
            ["--context", "prod"],
            ("prod.test", "prod-token"),
        ),
        ({"REGENT_TOKEN": "t"}, ["--context", "prod"], ("prod.test", "prod-token")),
        ({"REGENT_TOKEN": "t"}, ["--context", "prod", "--token", "t"], ("prod.test", "t")),
        ({"REGENT_CONTEXT": "prod"}, ["--server", STAGING], ("staging.test", "staging-token")),
        ({"REGENT_CONTEXT": "nowhere"}, ["--server", PROD], ("prod.test", "prod-token")),
    ],
)
def test_what_is_typed_comes_before_the_environment_and_that_before_what_is_kept(
    contexts, monkeypatch, environment, words, meant
):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert run(["whoami", *words]) == 0
    assert last(contexts) == meant


@pytest.mark.parametrize(
    ("environment", "words", "cluster"),
    [
        ({}, [], "west"),
        ({}, ["--context", "prod"], "east"),
        ({"REGENT_CLUSTER": "east"}, [], "east"),
        ({"REGENT_CLUSTER": "north"}, ["--cluster", "east"], "east"),
    ],
)
def test_a_context_names_the_cluster_where_nothing_else_does(
    contexts, monkeypatch, environment, words, cluster
):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert run(["topic", "list", *words]) == 0
    assert [one.url.path for one in contexts.requests] == [f"/api/v1/clusters/{cluster}/topics"]


@pytest.mark.usefixtures("contexts")
@pytest.mark.parametrize(
    ("environment", "words", "begin"),
    [
        ({}, [], "["),
        ({}, ["--context", "prod"], "NAME"),
        ({}, ["-o", "table"], "NAME"),
        ({"REGENT_OUTPUT": "yaml"}, [], "- name"),
        ({"REGENT_OUTPUT": "yaml"}, ["-o", "json"], "["),
    ],
)
def test_a_context_chooses_the_form_where_nothing_else_does(
    monkeypatch, capsys, environment, words, begin
):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert run(["topic", "list", *words]) == 0
    assert capsys.readouterr().out.startswith(begin)


@pytest.mark.usefixtures("contexts")
def test_an_unknown_context_is_an_error_with_what_to_do_next(capsys, monkeypatch):
    codes = [run(["topic", "list", "--context", "stagin"])]
    monkeypatch.setenv("REGENT_CONTEXT", "nowhere")
    codes += [run(["topic", "list"]), run(["context", "use", "nowhere"])]

    reported = capsys.readouterr().err
    assert codes == [4, 4, 4]
    assert (
        "error: no context 'stagin'\n  why:  did you mean staging?\n  next: regent context list\n"
    ) in reported
    assert reported.count("error: no context 'nowhere'") == 2


@pytest.mark.parametrize(
    "words",
    [
        ["--context", "prod", "--server", STAGING],
        ["--context", "prod", "--data", "."],
        ["--server", STAGING, "--data", "."],
    ],
)
def test_two_places_are_not_named_at_once(contexts, words, capsys):
    assert run(["whoami", *words]) == 2
    assert contexts.requests == []
    assert "each name a server" in capsys.readouterr().err


def test_an_order_goes_to_the_context_that_is_named(contexts, capsys):
    contexts.on("POST", "/operations", refusal(403, "forbidden", "the role may only read"))

    code = run(["topic", "create", "orders", "--context", "prod", "--yes"])

    assert code == 5
    assert last(contexts) == ("prod.test", "prod-token")
    assert f"of cluster east at {PROD}" in capsys.readouterr().err


def test_signing_in_keeps_a_context_and_puts_it_to_use(server, monkeypatch):
    server.on("POST", "/session", {**SESSION, "token": "fresh"})

    def sign_in(*words):
        monkeypatch.setattr("sys.stdin", io.StringIO("pass word\n"))
        code = run(["login", "--password-stdin", *words])
        return code, read_contexts().current

    assert sign_in("--server", SERVER) == (0, "regent.test")
    assert sign_in("--server", "http://regent.test:9") == (0, "regent.test-9")
    assert sign_in("--server", SERVER) == (0, "regent.test")
    assert sign_in("--server", PROD, "--context", "prod") == (0, "prod")
    assert sign_in("--context", "regent.test") == (0, "regent.test")
    assert sign_in("--server", STAGING, "--context", "prod") == (3, "regent.test")
    assert sorted(read_contexts().by_name) == ["prod", "regent.test", "regent.test-9"]
    assert read_contexts().get("prod").server == PROD


def test_logging_out_forgets_the_token_and_keeps_the_context(contexts):
    contexts.on("DELETE", "/session", {})

    assert run(["logout", "--context", "prod"]) == 0
    assert last(contexts) == ("prod.test", "prod-token")
    kept = read_contexts()
    assert (kept.get("prod").token, kept.get("prod").cluster) == (None, "east")
    assert (kept.get("staging").token, kept.current) == ("staging-token", "staging")
    assert run(["logout", "--context", "prod"]) == 5


@pytest.mark.usefixtures("contexts")
def test_contexts_are_shown_without_their_tokens(capsys):
    codes = [run(["context", *words]) for words in (["list"], ["show"], ["show", "prod"])]
    codes += [run(["context", "list", "-o", form]) for form in ("json", "yaml", "name")]

    output = capsys.readouterr().out
    assert codes == [0] * 6
    assert "-token" not in output
    assert output.endswith("prod\nstaging\n")
    assert "*  staging  http://staging.test:8080  session     west     json" in output


@pytest.mark.usefixtures("contexts")
def test_contexts_are_used_set_renamed_and_deleted(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("rgt_new\n"))

    codes = [
        run(["context", *words])
        for words in (
            ["use", "prod"],
            ["set", "prod", "--cluster", "", "--output", "yaml"],
            ["set", "staging", "--server", "https://other.test/", "--cluster", "north"],
            ["set", "ci", "--server", SERVER, "--token-stdin"],
            ["rename", "prod", "production"],
            ["delete", "staging", "--confirm", "staging"],
        )
    ]

    kept = read_contexts()
    assert codes == [0] * 6
    assert kept.current == "production"
    assert kept.by_name == {
        "production": Context("production", PROD, "prod-token", None, "yaml"),
        "ci": Context("ci", SERVER, "rgt_new"),
    }


@pytest.mark.usefixtures("contexts")
def test_a_token_does_not_follow_its_context_to_another_server():
    assert run(["context", "set", "prod", "--server", "https://other.test/"]) == 0

    assert read_contexts().get("prod") == Context("prod", "https://other.test", None, "east")


@pytest.mark.usefixtures("contexts")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["use", "nowhere"], 4),
        (["show", "nowhere"], 4),
        (["delete", "nowhere", "--confirm", "nowhere"], 4),
        (["delete", "prod"], 3),
        (["delete", "prod", "--confirm", "staging"], 3),
        (["rename", "prod", "staging"], 3),
        (["rename", "prod", "a b"], 2),
        (["set", "new"], 2),
        (["set", "-x", "--server", PROD], 2),
        (["set", "prod", "--server", "prod.test"], 2),
        (["set", "prod", "--output", "xml"], 2),
    ],
)
def test_what_is_refused_changes_nothing(words, code):
    before = context_path().read_bytes()

    assert run(["context", *words]) == code
    assert context_path().read_bytes() == before


@pytest.mark.usefixtures("contexts")
def test_only_its_owner_may_read_the_file(capsys):
    path = context_path()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.chmod(0o644)

    code = run(["whoami"])

    assert code == 5
    assert f"next: chmod 600 {path}" in capsys.readouterr().err


@pytest.mark.usefixtures("contexts")
@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"contexts": []}', '{"contexts": {"a": {}}}',
                '{"contexts": {"a": {"server": 1}}}', "\xff"],
)  # fmt: skip
def test_a_file_that_is_none_of_ours_is_left_as_it_is(content, capsys):
    path = context_path()
    path.write_text(content, encoding="latin-1")

    codes = [run(["whoami"]), run(["context", "set", "new", "--server", PROD])]

    assert codes == [1, 1]
    assert path.read_text(encoding="latin-1") == content
    assert capsys.readouterr().err.count(f"cannot read the contexts in {path}") == 2


@pytest.mark.usefixtures("server")
def test_of_changes_at_once_none_is_lost():
    def add(number):
        with change_contexts() as contexts:
            contexts.put(Context(f"c{number}", SERVER))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(json.loads(context_path().read_text())["contexts"]) == 20
