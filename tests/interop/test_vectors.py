"""Recorded frames decode whole, byte by byte and back to back, and in two independent decoders.

The committed vectors are what stock clients and stock servers said to one another; the recording is
what the clients of this run and our servers said.
"""

import subprocess
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest
from regent_engine import Command, Decoder, decode_records

from tests.interop.client import StockClient
from tests.interop.frames import Frame, connections, named, split
from tests.interop.vectors import VECTORS
from tests.unit.engine.slow_decoder import SlowCommand, decode_frame

FILES = sorted(VECTORS.glob("*/*.frames"))
ENGINE = Path(__file__).resolve().parents[2] / "workers" / "engine"
LENGTH_SIZE = 4
PULL_CODES = (11, 361)


def test_the_vectors_hold_both_clients_both_encodings_and_every_request_of_the_minimum():
    by_recording: dict[str, set[int]] = {}
    for file in FILES:
        code = int(file.name.partition("-")[0])
        by_recording.setdefault(file.parent.name, set()).add(code)

    assert sorted(by_recording) == [
        "stock-4.9.8-json",
        "stock-4.9.8-rocketmq",
        "stock-5.5.0-json",
        "stock-5.5.0-rocketmq",
    ]
    needed = {11, 14, 15, 30, 31, 34, 35, 36, 38, 40, 41, 42, 105, 310, 320}
    assert [name for name, codes in by_recording.items() if not needed <= codes] == []
    assert sum(file.stat().st_size for file in FILES) < 1 << 20


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_vector_decodes_alike_in_every_way(file: Path):
    data = file.read_bytes()

    frames = list(split(data))

    whole = [command for frame in frames for command in Decoder().receive(frame.content)]
    assert [plain(command) for command in whole] == [slowly(frame) for frame in frames]
    assert_same(whole, Decoder().receive(data))
    assert_same(whole, byte_by_byte(data))


@pytest.mark.parametrize("recording", sorted({file.parent for file in FILES}), ids=lambda p: p.name)
def test_the_messages_of_pull_answers_decode(recording: Path):
    files = [recording / f"{code}-answer-from-server.frames" for code in PULL_CODES]
    answers = [
        command
        for file in files
        if file.exists()
        for command in Decoder().receive(file.read_bytes())
        if command.code == 0
    ]

    records = [record for answer in answers for record in decode_records(answer.body)]

    assert len(records) >= len(answers) > 0
    assert all("UNIQ_KEY" in record.properties for record in records)
    assert any("世界" in record.properties.get("grüße", "") for record in records)


@pytest.mark.interop
@pytest.mark.timeout(240)
def test_every_frame_of_this_run_decodes(
    stock_clients: dict[str, StockClient],
    recording_directory: Path,
):
    for client in stock_clients.values():
        client.run("send", mode="async", topic=f"recorded-{client.label}", count=50)

    pairs = list(connections(recording_directory))
    codes = {frame.request_code for pair in pairs for frame in named(*pair)}
    files = [file for pair in pairs for file in pair]
    counts = [check_recorded(file) for file in files]

    assert frame_counts_byte_by_byte(files) == counts
    assert len(pairs) > 2
    assert {34, 105, 310} <= codes


@pytest.mark.interop
@pytest.mark.timeout(240)
def test_answers_about_ordinary_topics_have_the_fields_of_stock(
    stock_clients: dict[str, StockClient],
    recording_directory: Path,
):
    """L56: whether there are static topics or not, no answer has a field that stock's has not."""
    for client in stock_clients.values():
        client.run("send", mode="sync", topic=f"ordinary-{client.label}", count=50)

    pairs = list(connections(recording_directory))
    recorded = (frame for pair in pairs for frame in named(*pair) if frame.frame.is_response)
    ours = answer_fields((one.request_code, one.frame.content) for one in recorded)

    stock = answer_fields(
        (int(file.name.partition("-")[0]), file.read_bytes())
        for file in FILES
        if file.name.endswith("-answer-from-server.frames")
    )
    more = {code: fields - stock[code] for code, fields in ours.items() if code in stock}
    assert len(more) > 2
    assert {code: fields for code, fields in more.items() if fields} == {}


def answer_fields(answers: Iterable[tuple[int, bytes]]) -> dict[int, set[str]]:
    """Give the names of the fields in answers to each request."""
    found = defaultdict(set)
    for code, data in answers:
        for command in Decoder().receive(data):
            found[code] |= command.ext.keys()
    return found


def check_recorded(file: Path) -> int:
    """Number of whole frames, decoded back to back and by the slow decoder."""
    data = file.read_bytes()
    frames = list(split(data))
    data = data[: sum(len(frame.content) for frame in frames)]

    back_to_back = Decoder().receive(data)

    assert len(back_to_back) == len(frames), file
    for frame, command in zip(frames, back_to_back, strict=True):
        assert plain(command) == slowly(frame), file
    return len(frames)


def frame_counts_byte_by_byte(files: list[Path]) -> list[int]:
    """Number of frames of each file, found alike whole and fed one byte at a time."""
    cargo = "cargo run --locked --quiet --release -p regent-remoting --example byte_by_byte --"
    finished = subprocess.run(
        [*cargo.split(), *map(str, files)],
        cwd=ENGINE,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return [int(line.partition(" ")[0]) for line in finished.stdout.splitlines()]


def plain(command: Command) -> SlowCommand:
    return SlowCommand(
        code=command.code,
        language=command.language,
        version=command.version,
        opaque=command.opaque,
        flag=command.flag,
        remark=command.remark,
        ext=command.ext,
        body=command.body,
        encoding=command.encoding,
    )


def slowly(frame: Frame) -> SlowCommand:
    return decode_frame(frame.content[LENGTH_SIZE:])


def byte_by_byte(data: bytes) -> list[Command]:
    decoder = Decoder()
    return [command for at in range(len(data)) for command in decoder.receive(data[at : at + 1])]


def assert_same(expected: list[Command], actual: list[Command]) -> None:
    assert [plain(command) for command in expected] == [plain(command) for command in actual]
