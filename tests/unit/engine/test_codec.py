"""The command codec, against vectors of the reference and an independent decoder.

`make soak SOAK=codec` generates 100 000 commands.
"""

import json
import os
import struct
from random import Random

import pytest
import regent_engine
from regent_engine import (
    Command,
    Decoder,
    ProtocolError,
    encode_command,
    encode_pull_answer,
)

from tests.unit.engine.generated_commands import damage, frame, generate_frame
from tests.unit.engine.slow_decoder import BrokenStreamError, SlowCommand, SlowDecoder

ROUTE_QUERY = bytes.fromhex(
    "00000025 01000021 00690001df000000070000000000000000 0000000c 0005746f706963 00000001 54"
)
COUNT = int(os.environ.get("REGENT_GENERATED_COMMANDS", "10000"))
STREAM_COUNT, DAMAGED_COUNT = COUNT // 500, COUNT // 5


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


def random_chunks(random: Random, stream: bytes) -> list[bytes]:
    chunks, at = [], 0
    while at < len(stream):
        size = random.choice([1, 2, 7, 50, 400, 4000, 60_000])
        chunks.append(stream[at : at + size])
        at += size
    return chunks


def test_an_independent_decoder_agrees_on_generated_commands() -> None:
    random = Random(20261121)
    decoder, slow_decoder = Decoder(), SlowDecoder()
    decoded_count = 0

    for _ in range(STREAM_COUNT):
        stream = b"".join(generate_frame(random) for _ in range(500))
        expected = slow_decoder.receive(stream)
        commands = [
            command for chunk in random_chunks(random, stream) for command in decoder.receive(chunk)
        ]
        decoded_count += len(commands)

        assert [plain(command) for command in commands] == expected

    assert decoded_count == STREAM_COUNT * 500 > 0


def test_an_independent_decoder_agrees_on_which_damaged_frames_are_broken() -> None:
    random = Random(7)
    broken_count = 0

    for _ in range(DAMAGED_COUNT):
        stream = damage(random, generate_frame(random))
        try:
            expected = SlowDecoder().receive(stream)
        except BrokenStreamError:
            expected = None
        try:
            commands = [plain(command) for command in Decoder().receive(stream)]
        except ProtocolError:
            commands = None

        broken_count += expected is None
        # The engine may see from the prefix alone what the slow one waits for.
        if expected == []:
            assert commands in ([], None)
        else:
            assert commands == expected, stream

    assert DAMAGED_COUNT * 0.1 < broken_count < DAMAGED_COUNT * 0.9


def test_the_example_of_the_reference_decodes_and_encodes() -> None:
    assert len(ROUTE_QUERY) == 41

    (command,) = Decoder().receive(ROUTE_QUERY)
    written = encode_command(
        code=105, opaque=7, language="JAVA", version=479, ext={"topic": "T"}, encoding="rocketmq"
    )

    assert plain(command) == SlowCommand(
        105, "JAVA", 479, 7, 0, None, {"topic": "T"}, b"", "rocketmq"
    )
    assert written == ROUTE_QUERY


def test_frames_decode_alike_whole_byte_by_byte_and_back_to_back() -> None:
    random = Random(3)
    frames = [generate_frame(random) for _ in range(200)]

    alone = [plain(command) for one in frames for command in Decoder().receive(one)]
    decoder = Decoder()
    bytewise = [
        plain(command)
        for one in frames
        for at in range(len(one))
        for command in decoder.receive(one[at : at + 1])
    ]
    together = [plain(command) for command in Decoder().receive(b"".join(frames))]

    assert len(alone) == 200
    assert alone == bytewise == together


@pytest.mark.parametrize("encoding", ["json", "rocketmq"])
def test_what_is_encoded_is_decoded_by_both(encoding: str) -> None:
    ext = {"plain": "v", 'quote"\\': "\x00\x01\x02\n\u00e9\U0001f600", "k" * 300: "v" * 70_000}

    written = encode_command(
        code=-5,
        opaque=-1,
        flag=3,
        language="GO",
        remark="r\x1f",
        ext=ext,
        body=b"b" * 9,
        encoding=encoding,
        version=317,
    )

    expected = SlowCommand(-5, "GO", 317, -1, 3, "r\x1f", ext, b"b" * 9, encoding)
    assert SlowDecoder().receive(written) == [expected]
    (command,) = Decoder().receive(written)
    assert plain(command) == expected
    assert command.is_response
    assert command.is_oneway


def test_a_pop_code_loses_its_top_in_a_binary_header() -> None:
    (command,) = Decoder().receive(encode_command(code=200050, opaque=1, encoding="rocketmq"))

    assert command.code == 3442


@pytest.mark.parametrize(
    "stream",
    [
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x03",
        b"\x7f\xff\xff\xff",
        b"GET / HTTP/1.1\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01",
        struct.pack(">iI", 4, 2 << 24),
        struct.pack(">iI", 4, 1),
        struct.pack(">iI", 16_000_000, 0x00FF_FFFF),
        frame(0, b"", b""),
        frame(0, b"{", b""),
        frame(0, b'{"remark":"\xff"}', b""),
        frame(0, b'{"a":' + b"[" * 50_000, b""),
        frame(0, json.dumps({"extFields": {str(i): "" for i in range(5000)}}).encode(), b""),
        frame(1, ROUTE_QUERY[8:-1], b""),
        frame(1, ROUTE_QUERY[8:] + b"\0", b""),
        frame(1, ROUTE_QUERY[8:29] + b"\xff\xff\xff\xff", b""),
    ],
)
def test_a_broken_stream_is_refused_now_and_ever_after(stream: bytes) -> None:
    decoder = Decoder()

    with pytest.raises(ProtocolError) as first:
        decoder.receive(ROUTE_QUERY + stream)
    with pytest.raises(ProtocolError) as second:
        decoder.receive(ROUTE_QUERY)

    assert [command.code for command in first.value.commands] == [105]
    assert second.value.commands == []
    assert str(first.value) == str(second.value)


def test_a_frame_over_the_limit_is_refused_from_its_length_alone() -> None:
    with pytest.raises(ProtocolError, match="exceeds the limit"):
        Decoder(frame_size_max=100).receive(struct.pack(">i", 97))

    assert Decoder(frame_size_max=100).receive(struct.pack(">i", 96)) == []


@pytest.mark.parametrize(
    ("greeting", "reported"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "the peer speaks TLS"),
        (b"\x16\x03\x03\x00\x05", "switch TLS off in the client"),
        (b"GET /brokers HTTP/1.1\r\n", "the peer sent an HTTP request"),
        (b"POST / HTTP/1.1\r\n", "the peer sent an HTTP request"),
        (b"PRI * HTTP/2.0\r\n", "the peer sent an HTTP request"),
    ],
)
def test_another_protocol_is_called_by_its_name(greeting: bytes, reported: str) -> None:
    # Case C10.
    decoder = Decoder()

    with pytest.raises(ProtocolError, match=reported):
        decoder.receive(greeting)

    # A byte at a time it is seen with the fourth.
    slow = Decoder()
    for byte in greeting[:3]:
        assert slow.receive(bytes([byte])) == []
    with pytest.raises(ProtocolError, match=reported):
        slow.receive(greeting[3:4])


@pytest.mark.parametrize("data", [None, "text", 5, [1, 2], object()])
def test_what_is_not_bytes_is_a_type_error(data: object) -> None:
    decoder = Decoder()

    with pytest.raises(TypeError):
        decoder.receive(data)  # type: ignore[arg-type]

    assert len(decoder.receive(ROUTE_QUERY)) == 1


@pytest.mark.parametrize(
    ("argument", "value", "error"),
    [
        ("code", "1", TypeError),
        ("code", 2**31, OverflowError),
        ("opaque", -(2**31) - 1, OverflowError),
        ("ext", {"a": 1}, TypeError),
        ("ext", {1: "a"}, TypeError),
        ("ext", [("a", "b")], TypeError),
        ("body", "text", TypeError),
        ("remark", b"bytes", TypeError),
        ("remark", "\ud800", UnicodeEncodeError),
        ("language", "COBOL", ValueError),
        ("encoding", "xml", ValueError),
    ],
)
def test_wrong_arguments_of_a_command_are_refused(
    argument: str, value: object, error: type[Exception]
) -> None:
    with pytest.raises(error):
        encode_command(**{"code": 1, "opaque": 1, argument: value})  # type: ignore[arg-type]


def test_an_ext_key_too_long_for_the_header_is_refused() -> None:
    with pytest.raises(ValueError, match="ext key"):
        encode_command(code=1, opaque=1, ext={"k" * 32_768: ""}, encoding="rocketmq")


def test_commands_are_immutable() -> None:
    (command,) = Decoder().receive(ROUTE_QUERY)

    with pytest.raises(AttributeError):
        command.code = 1  # type: ignore[misc]


def test_the_module_ships_its_types() -> None:
    import importlib.resources  # noqa: PLC0415

    assert importlib.resources.files(regent_engine).joinpath("py.typed").is_file()


@pytest.mark.parametrize("encoding", ["json", "rocketmq"])
@pytest.mark.parametrize("remark", [None, "FOUND"])
def test_the_answer_of_a_pull_is_the_command_with_its_fields(
    encoding: str, remark: str | None
) -> None:
    (pull,) = Decoder().receive(encode_command(code=11, opaque=7, encoding=encoding))
    offsets = {"next_offset": 2**53, "min_offset": 0, "max_offset": 2**53 + 1}

    head = encode_pull_answer(
        pull, 19, suggested_broker_id=1, remark=remark, body_size=300, **offsets
    )

    assert head == encode_command(
        code=19,
        opaque=7,
        flag=1,
        language="JAVA",
        remark=remark,
        ext={
            "suggestWhichBrokerId": "1",
            "nextBeginOffset": str(2**53),
            "minOffset": "0",
            "maxOffset": str(2**53 + 1),
        },
        body_size=300,
        encoding=encoding,
    )
