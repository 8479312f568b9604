"""Commands of stock's mqadmin become regent's, and what can't is refused by name."""

import json
import os
import shlex

import pytest

from backend.cli.app import app, run
from backend.cli.mqadmin import command
from backend.cli.mqadmin.command import has_command, stands
from backend.cli.mqadmin.stock import stock_commands
from backend.cli.mqadmin.translations import COUNTERPARTS, Named, Translated
from tests.cli_help import commands
from tests.mqadmin_table import PAGE, render, rewritten
from tests.unit.cli.fake_server import refusal

C = "DefaultCluster"
BROKER = {"address": "10.0.0.1:10911", "broker_group_name": "broker-a", "own_id": 1}


class Reader:
    """Regent as far as it reads a line: an option that it has not is an error."""

    def __call__(self, words, *, exit_on_error):
        app.parse_args(words, exit_on_error=exit_on_error)
        self.line = shlex.join(words)


@pytest.fixture
def translated(monkeypatch, server, capsys):
    """Translate and run a line; give regent's words."""
    monkeypatch.setenv("REGENT_URL", "http://regent.test:8080")
    monkeypatch.setenv("REGENT_TOKEN", "t0")
    server.on("GET", "/clusters", {"items": [{"name": C}], "next": None})
    server.on("GET", f"/clusters/{C}/brokers", {"items": [BROKER], "next": None})
    server.on("GET", f"/clusters/{C}/topics/orders", {"name": "orders"})
    settings = [{"broker_group_name": "broker-b"}]
    path = f"/clusters/{C}/consumer-groups/billing"
    server.on("GET", path, {"name": "billing", "settings": settings})
    server.on("POST", "/operations", refusal(400, "invalid_parameters", "not today"))

    def run_line(line):
        run(["mqadmin", *line.split()])
        notes = [n for n in capsys.readouterr().err.splitlines() if n.startswith("runs: regent ")]
        return notes[0].removeprefix("runs: regent ") if notes else None

    return run_line


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (
            f"updateTopic -n x:9876 -c {C} -t orders -r 8 -w 4 -p 4",
            f"topic set orders --cluster {C} --queues 4 --read-queues 8 --readable --no-writable",
        ),
        (
            f"updateTopic -c {C} -t new -o true -a +message.type=FIFO",
            f"topic create new --cluster {C} --ordered --message-type FIFO",
        ),
        (
            f"updateTopic -c {C} -t new -a +replicate=False",
            f"topic create new --cluster {C} --no-replicated",
        ),
        (
            f"updateTopic -c {C} -t new -a +replicate=true",
            f"topic create new --cluster {C} --replicated",
        ),
        (
            f"updateTopic -c {C} -t orders -a +share.mode=SHARED",
            f"topic set orders --cluster {C} --share-mode SHARED",
        ),
        (
            f"updateTopic -c {C} -t orders -a +share.mode=SHARED,+message.type=PRIORITY",
            f"topic set orders --cluster {C} --share-mode SHARED --message-type PRIORITY",
        ),
        (
            f"updateTopic -c {C} -t orders -a +share.timeShare=true",
            f"topic set orders --cluster {C} --time-share",
        ),
        (
            "updateTopic -b 10.0.0.1:10911 --topic=orders -w 4 -- --dry-run",
            f"topic set orders --cluster {C} --broker-group broker-a --queues 4 --dry-run",
        ),
        (f"deleteTopic -c {C} -t orders", f"topic delete orders --cluster {C}"),
        (
            f"updateTopicPerm -c {C} -t orders -p 6",
            f"topic set orders --readable --writable --cluster {C}",
        ),
        (
            f"updateSubGroup -c {C} -g billing -s false -r 3 -q 2",
            f"group set billing --cluster {C} --no-consume --retry-queues 2 --retries 3",
        ),
        (
            "updateSubGroup -b 10.0.0.1:10911 -g billing -d false",
            f"group create billing --cluster {C} --broker-group broker-a --no-broadcast",
        ),
        (
            f"updateSubGroup -c {C} -g new -m true -o true -a false",
            f"group create new --cluster {C} --consume-from-min --ordered --no-notify-members",
        ),
        (
            f"setConsumeMode -c {C} -t orders -g billing -m pop -q 2",
            f"group mode billing orders POP --shared-clients 2 --cluster {C}",
        ),
        (
            "setConsumeMode -b 10.0.0.1:10911 -t orders -g billing -m PULL",
            f"group mode billing orders PULL --cluster {C} --broker-group broker-a",
        ),
        (
            f"deleteSubGroup -c {C} -g billing -r true",
            f"group delete billing --cluster {C} --clean",
        ),
        (
            "updateBrokerConfig -b 10.0.0.1:10911 -k fileReservedTime -v 48",
            f"broker config set broker-a fileReservedTime=48 --cluster {C} --broker 1",
        ),
        (
            "getBrokerConfig -b 10.0.0.1:10911",
            f"broker config get broker-a --cluster {C} --broker 1",
        ),
        ("topicRoute -t orders", "topic get orders"),
        (
            f"updateStaticTopic -c {C} -t new -qn 8",
            f"topic static create new --queues 8 --cluster {C} --broker-group broker-a",
        ),
        (
            "updateStaticTopic -b broker-a,broker-b -t orders -qn 8",
            "topic static expand orders --queues 8 --broker-group broker-a --broker-group broker-b",
        ),
        (
            f"remappingStaticTopic -c {C} -t orders",
            f"topic static move orders --cluster {C} --target broker-a",
        ),
        (
            f"remappingStaticTopic -c {C} -b broker-b,broker-c -t orders",
            f"topic static move orders --cluster {C} --target broker-b --target broker-c",
        ),
        (
            f"remappingStaticTopic -c {C} -t orders -fr true",
            f"topic static move orders --cluster {C} --target broker-a --force",
        ),
        (
            "remappingStaticTopic -t orders -mf /tmp/orders.after",
            "topic static import orders --file /tmp/orders.after",
        ),
        (
            f"updateStaticTopic -c {C} -t orders -qn 8 -mf /tmp/orders.after -fr true",
            f"topic static import orders --file /tmp/orders.after --cluster {C} --force",
        ),
        (f"clusterList -c {C}", f"broker list --cluster {C}"),
        ("topicList", "topic list"),
        (
            "resetOffsetByTime -g billing -t orders -s now -q 3",
            "offset reset billing orders --to latest --queue 3",
        ),
        (
            "resetOffsetByTime -g billing -t orders -s 0",
            "offset reset billing orders --to 1970-01-01T00:00:00.000+00:00",
        ),
        (
            f"skipAccumulatedMessage -g billing -t orders -c {C} -f true",
            f"offset reset billing orders --to latest --cluster {C}",
        ),
        (f"topicStatus -t orders -c {C}", f"topic offsets orders --cluster {C}"),
        ("topicClusterList -t orders", "topic clusters orders"),
        ("statsAll -t orders", "topic stats --search orders"),
        (
            "allocateMQ -t orders -i 10.0.0.7,10.0.0.8",
            "topic allocate orders --client 10.0.0.7 --client 10.0.0.8",
        ),
        (
            "brokerStatus -b 10.0.0.1:10911",
            f"broker status broker-a --cluster {C} --broker 1",
        ),
        (
            "brokerConsumeStats -b 10.0.0.1:10911 -l 100",
            f"broker consume-stats broker-a --cluster {C} --broker 1 --lag-min 100",
        ),
        (
            "cloneGroupOffset -s billing -d billing-2 -t orders -o true",
            "offset clone billing billing-2 orders --mode offline",
        ),
        ("wipeWritePerm -b broker-a", "broker cordon broker-a"),
        ("addWritePerm -b broker-a", "broker uncordon broker-a"),
        ("haStatus -b 10.0.0.1:10911", f"replica lag broker-a --cluster {C}"),
        (
            f"getSyncStateSet -a x:9878 -b broker-a -c {C}",
            f"controller sync-state broker-a --cluster {C}",
        ),
        (f"getBrokerEpoch -b broker-a -c {C}", f"replica epochs broker-a --cluster {C}"),
        ("getControllerMetaData -a x:9878", "controller status"),
        ("getControllerConfig -a x:9878", "controller config get"),
        (
            f"electMaster -a x:9878 -b 2 -bn broker-a -c {C}",
            f"controller elect broker-a --broker 2 --cluster {C}",
        ),
        (
            f"cleanBrokerMetadata -a x:9878 -bn broker-a -b 2;3 -c {C} -l",
            f"controller forget broker-a --cluster {C} --broker 2 --broker 3 --living",
        ),
    ],
)
@pytest.mark.usefixtures("translated")
def test_a_command_is_written_in_regents_words(line, wanted, monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    regent = Reader()

    command.run(regent, line.split())

    assert regent.line == wanted


@pytest.mark.parametrize(
    ("line", "code", "reported"),
    [
        ("topicLst", 2, "near are topicList"),
        ("deleteTopic -t orders", 2, "-c must be given"),
        ("deleteTopic -t", 2, "-t needs a value"),
        ("deleteTopic -t orders -x 1", 2, "'-x' is none of its options"),
        (f"updateTopic -c {C} -t orders -u true", 2, "-u of mqadmin updateTopic has no counterp"),
        (f"updateTopic -c {C} -t orders -u true", 2, "next: RocketMQ's mqadmin can ask the brok"),
        (f"updateTopic -c {C} -t orders -a +a=b", 2, "next: RocketMQ's mqadmin can ask the brok"),
        (f"updateTopic -c {C} -t orders -a +replicate=false", 2, "set when the topic is created"),
        (f"updateTopic -c {C} -t new -a +replicate=no", 2, "the attribute +replicate=no can't be"),
        (f"updateTopic -c {C} -t orders -p 9", 2, "-p 9 is no permission"),
        ("updateBrokerConfig -k a -v b", 2, "-b must be given"),
        ("remappingStaticTopic -t orders", 2, "-b or -c must be given"),
        (f"remappingStaticTopic -t orders -c {C},b", 2, "-c names several clusters"),
        (f"updateStaticTopic -t orders -c {C} -qn 8 -fr true", 2, "-fr has no effect on a new pl"),
        ("getBrokerConfig -b 10.0.0.9:1", 4, "no broker is registered at 10.0.0.9:1"),
        ("resetOffsetByTime -g g -t orders -s yesterday", 2, "-s yesterday is no time"),
        ("updateControllerConfig -a x:1 -k a -v b", 3, "no request can change the settings"),
        ("queryCq", 2, "regent store dump --help"),
    ],
)
@pytest.mark.usefixtures("translated")
def test_what_has_no_counterpart_is_refused_by_its_name(capsys, line, code, reported):
    assert run(["mqadmin", *line.split()]) == code
    assert reported in capsys.readouterr().err


def test_a_change_goes_through_the_engine_and_is_trusted_only_on_request(
    translated, server, monkeypatch
):
    asked = translated(f"deleteTopic -c {C} -t orders")
    monkeypatch.setenv("REGENT_MQADMIN_TRUST", "1")
    trusted = translated(f"deleteTopic -c {C} -t orders")

    assert trusted == f"{asked} --yes --reason 'mqadmin deleteTopic'"
    posts = [request for request in server.requests if request.method == "POST"]
    assert {request.url.path for request in posts} == {"/api/v1/operations"}
    assert json.loads(posts[0].content)["kind"] == "delete_topic"


def test_a_token_is_never_printed(translated, capsys):
    line = translated("topicList -- --token rgt_secret --token=rgt_secret")

    assert line == "topic list --token '***' '--token=***'"
    assert "rgt_secret" not in capsys.readouterr().err
    assert "rgt_secret" not in os.environ.values()


def test_every_command_of_stock_has_a_counterpart_or_a_reason():
    assert list(COUNTERPARTS) == list(stock_commands()), "add it to translations.py"
    assert {stands(app, one) for one in COUNTERPARTS.values()} <= {
        *("translated", "named", "declined", "not built yet"),
    }


def test_what_a_translation_names_is_there_and_reads_options_that_stock_has():
    known = {" ".join(path) for path in commands()}
    for name, counterpart in COUNTERPARTS.items():
        options = {option.name for option in stock_commands()[name].options}
        if isinstance(counterpart, Translated):
            assert has_command(app, counterpart.regent.partition(" --")[0]), name
            assert set(counterpart.reads.split()) <= options, name
        elif isinstance(counterpart, Named) and has_command(app, counterpart.regent):
            assert counterpart.regent.partition(",")[0] in known, name


def test_the_page_says_what_the_commands_are():
    page = PAGE.read_text()

    assert rewritten(page) == page, "run `make parity`"
    assert len(render().splitlines()) == 4 + len(stock_commands())
