"""`regent store … --config`: the values of a broker.conf need not be given again."""

import json

import pytest
from regent_engine import encode_properties

from backend.cli.app import run
from backend.remoting.names import SCHEDULE_TOPIC
from tests.unit.cli.stores import NOW_MS, files_of, open_store

LEVELS = "7s 3m"
QUEUE_FILE_SIZE = 4_000


@pytest.fixture
def moved(tmp_path):
    """A store whose settings are all others than stock's, and the broker.conf that has them."""
    store = open_store(
        tmp_path / "store",
        commit_log_path=str(tmp_path / "log"),
        queue_file_size_bytes=QUEUE_FILE_SIZE,
        delay_levels_ms=[7_000, 180_000],
        crc_property="verified",
    )
    for turn in range(20):
        properties = encode_properties({"KEYS": f"key-{turn}", "DELAY": "2"})
        store.append(SCHEDULE_TOPIC, 1, b"body %d" % turn, properties)
        store.append("orders", turn % 2, b"body %d" % turn, encode_properties({"KEYS": "k"}))
    while store.advance_followers(NOW_MS, 0):
        pass
    store.close()
    config = tmp_path / "broker.conf"
    config.write_text(
        "brokerName = broker-a\n# the rest is of the store\n"
        f"storePathCommitLog={tmp_path / 'log'}\nmessageDelayLevel={LEVELS}\n"
        "maxHashSlotNum=50\nmaxIndexNum : 150\nenabledAppendPropCRC=true\n"
        f"mappedFileSizeConsumeQueue={QUEUE_FILE_SIZE}\n"
    )
    return tmp_path / "store", config


def ask(capsys, *arguments):
    code = run(["store", *map(str, arguments)])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_all_is_well_as_the_brokers_own_file_has_it(moved, capsys):
    store, config = moved

    code, out, err = ask(capsys, "verify", store, "--config", config)

    assert (code, err) == (0, "")
    assert "nothing is wrong" in out


@pytest.mark.parametrize("left_out", ["messageDelayLevel", "maxHashSlotNum"])
def test_without_the_setting_the_same_store_is_found_wrong_and_the_file_is_named(
    moved, capsys, left_out
):
    store, config = moved
    lines = config.read_text().splitlines(keepends=True)
    config.write_text("".join(line for line in lines if not line.startswith(left_out)))

    code, out, _ = ask(capsys, "verify", store, "--config", config)

    assert code == 1
    assert "--config" in out


def test_an_option_wins_over_the_file(moved, capsys):
    store, config = moved

    code, out, _ = ask(capsys, "verify", store, "--config", config, "--index-slots", 60)

    assert code == 1
    assert "damaged_index" in out


def test_a_rebuild_makes_the_files_that_the_broker_had(moved, capsys):
    store, config = moved
    before = {
        path: content
        for path, content in files_of(store).items()
        if path.parts[0] in {"consumequeue", "index"}
    }

    code, out, _ = ask(capsys, "rebuild", store, "--config", config, "-o", "json")

    assert code == 0
    assert json.loads(out)["message_count"] == 40
    after = files_of(store)
    queues = {path for path in before if path.parts[0] == "consumequeue"}
    assert queues
    assert {path: after[path] for path in queues} == {path: before[path] for path in queues}
    assert ask(capsys, "verify", store, "--config", config)[0] == 0


def test_stats_and_dump_find_the_log_and_read_the_index(moved, capsys):
    store, config = moved

    code, out, _ = ask(capsys, "stats", store, "--config", config, "-o", "json")
    assert code == 0
    assert sum(queue["record_count"] for queue in json.loads(out)["queues"]) == 40
    code, out, _ = ask(capsys, "dump", store, "--config", config, "--index", "-o", "json")
    assert code == 0
    assert len(json.loads(out)) == 40
    code, out, _ = ask(capsys, "dump", store, "--config", config, "--limit", 3, "-o", "json")
    assert code == 0
    assert len(json.loads(out)) == 3


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("maxIndexNum=many", "maxIndexNum=many: must be a whole number"),
        ("maxIndexNum=1", "maxIndexNum=1: must be a whole number from 2"),
        ("enabledAppendPropCRC=yes", "enabledAppendPropCRC=yes: must be true or false"),
        ("messageDelayLevel=1s 5x", "messageDelayLevel=1s 5x: '5x' is no delay level"),
        ("storePathCommitLog=/a,/b", "storePathCommitLog=/a,/b: names several directories"),
        ("mappedFileSizeConsumeQueue=19", "mappedFileSizeConsumeQueue=19: must be a whole number"),
    ],
)
def test_a_value_that_no_broker_takes_is_named_with_its_file(moved, capsys, line, words):
    store, config = moved
    with config.open("a") as file:
        file.write(line + "\n")

    code, out, err = ask(capsys, "verify", store, "--config", config)

    assert (code, out) == (2, "")
    assert f"{config}: {words}" in " ".join(err.split())
    assert "leave out --config" in err


def test_a_file_that_is_not_there_is_named(moved, tmp_path, capsys):
    store, _ = moved

    code, out, err = ask(capsys, "verify", store, "--config", tmp_path / "none.conf")

    assert (code, out) == (4, "")
    assert "none.conf could not be read" in " ".join(err.split())
