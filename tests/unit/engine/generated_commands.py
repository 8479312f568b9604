"""Generate remoting frames: legal ones in every spelling a peer may use, and damaged ones.

Frames are written here by hand, not by the engine's encoder, so that spellings which it never
writes are covered too.
"""

import json
import struct
from random import Random

CHARACTERS = (
    'abcXYZ019_%-. \t\n"\\/\x00\x01\x02\x1f\x7f\u00e9\u00df\u4e2d\u6587\u2028\ud7ff\ufffd\U0001f600'
)
PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
KEYS = ["topic", "queueId", "a", "b", "i", "n", "\u00e9", "key with space", "nameserver"]
LANGUAGES = ["JAVA", "CPP", "GO", "PYTHON", "OTHER", "NODE_JS", "COBOL", "java"]
CODES = [0, 1, 10, 11, 34, 105, 310, 320, 200050, -1, 32767, -32768, 2**31 - 1]


def generate_text(random: Random, size_max: int = 24) -> str:
    alphabet = PLAIN if random.random() < 0.6 else CHARACTERS
    return "".join(random.choices(alphabet, k=random.randrange(size_max)))


def generate_number(random: Random, bits: int) -> int:
    choice = random.random()
    if choice < 0.2:
        return random.choice([0, -1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1))])
    return random.getrandbits(bits) - 2 ** (bits - 1)


def frame(kind: int, header: bytes, body: bytes) -> bytes:
    return struct.pack(">ii", 4 + len(header) + len(body), kind << 24 | len(header)) + header + body


def space(random: Random) -> str:
    return random.choice(["", "", "", " ", "\n\t", "\r "])


def json_string(random: Random, value: str) -> str:
    style = random.random()
    if style < 0.5:
        return json.dumps(value)
    if style < 0.8:
        return json.dumps(value, ensure_ascii=False)
    written = "".join(
        f"\\u{unit:04{random.choice('xX')}}"
        for unit in memoryview(value.encode("utf-16-le")).cast("H")
    )
    lone = random.choice(["", "", "\\ud800", "\\uDFFF", "\\ud83dx", "\\ud83d\\ud83d\\ude00"])
    raw = random.choice(["", "", "\x01", "\x02\t"])
    return f'"{written}{lone}{raw}\\/"'


def json_ext_value(random: Random) -> str:
    choice = random.random()
    if choice < 0.8:
        return json_string(random, generate_text(random, 60))
    return random.choice(["null", "true", "false", "0", "-12", "1.50", "1e5", "-0.0E-7", "99" * 12])


def json_unknown_value(random: Random) -> str:
    return random.choice(
        [
            '"JSON"',
            "null",
            "[]",
            "{}",
            '[1, {"a": [true, "\\""]}, -2.5e+3]',
            '{"b":{"c":null}}',
            "7",
        ]
    )


def json_object(random: Random, members: list[tuple[str, str]]) -> str:
    written = (
        f"{space(random)}{json_string(random, key) if random.random() < 0.1 else json.dumps(key)}"
        f"{space(random)}:{space(random)}{value}{space(random)}"
        for key, value in members
    )
    return "{" + (",".join(written) or space(random)) + "}"


def generate_json_frame(random: Random) -> bytes:
    members: list[tuple[str, str]] = []
    for key, value in (
        ("code", str(random.choice(CODES))),
        ("opaque", str(generate_number(random, 32))),
        ("flag", str(random.choice([0, 1, 2, 3, -1]))),
        ("version", str(random.choice([0, 317, 479, 513]))),
        ("language", json.dumps(random.choice(LANGUAGES))),
        ("remark", json_string(random, generate_text(random))),
        ("serializeTypeCurrentRPC", '"JSON"'),
    ):
        if random.random() < 0.85:
            members.append((key, value if random.random() < 0.97 else "null"))
    if random.random() < 0.1:
        members.append((generate_text(random) + "?", json_unknown_value(random)))
    if random.random() < 0.05:
        members.append(("code", "77"))
    for _ in range(random.choice([0, 1, 1, 1, 2])):
        keys = random.choices(KEYS, k=random.randrange(6))
        ext = json_object(random, [(key, json_ext_value(random)) for key in keys])
        members.append(("extFields", ext if random.random() < 0.97 else "null"))
    random.shuffle(members)
    header = space(random) + json_object(random, members) + space(random)
    return frame(0, header.encode("utf-8"), random.randbytes(random.choice([0, 0, 5, 300])))


def generate_binary_frame(random: Random) -> bytes:
    entries = bytearray()
    for key in random.choices([*KEYS, ""], k=random.randrange(6)):
        value = generate_text(random, 60).encode("utf-8")
        entries += struct.pack(">h", len(key.encode())) + key.encode()
        entries += struct.pack(">i", len(value)) + value
    remark = generate_text(random).encode("utf-8")
    header = struct.pack(
        ">hBhiii",
        generate_number(random, 16),
        random.choice([0, 1, 9, 13, 14, 255]),
        generate_number(random, 16),
        generate_number(random, 32),
        random.choice([0, 1, 2, 3]),
        len(remark),
    )
    header += remark + struct.pack(">i", len(entries)) + entries
    return frame(1, header, random.randbytes(random.choice([0, 0, 5, 300])))


def generate_frame(random: Random) -> bytes:
    return (generate_json_frame if random.random() < 0.6 else generate_binary_frame)(random)


def damage(random: Random, whole: bytes) -> bytes:
    """Change a few bytes of a frame, or cut a piece out of it."""
    damaged = bytearray(whole)
    for _ in range(random.randrange(1, 4)):
        at = random.randrange(len(damaged))
        if random.random() < 0.8:
            damaged[at] = random.choice(b'\x00\x01\xff{}[]":,\\u019-eE.ntf' + random.randbytes(1))
        else:
            del damaged[at : at + random.randrange(1, 4)]
    return bytes(damaged)
