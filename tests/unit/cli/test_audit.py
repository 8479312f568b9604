"""How the audit is listed, exported and verified on the command line."""

import json

import httpx

from backend.cli.app import run
from tests.unit.cli.test_replicas import page

ID = "7b0c7c1e-5d3a-4b53-9d42-4a1c5c1f7a10"


def entry(number):
    return {
        "number": number,
        "happened_at": "2026-03-02T12:00:00Z",
        "actor": "admin",
        "source": "rest 10.0.0.9",
        "action": "operation.done",
        "cluster_name": "east",
        "subject": "elect_master broker-a",
        "operation_id": ID,
        "details": {},
        "previous_hash": "00",
        "hash": "01",
    }


def test_the_audit_is_listed(signed_in, capsys):
    signed_in.on("GET", "/audit", page(entry(2), entry(1)))

    assert run(["audit", "list"]) == 0
    assert " ".join(capsys.readouterr().out.splitlines()[1].split()) == (
        "2 2026-03-02 12:00:00Z admin rest 10.0.0.9 operation.done"
        f" elect_master broker-a of east {ID}"
    )


def test_the_audit_is_exported_whole_or_not_at_all(signed_in, tmp_path):
    file = tmp_path / "audit.jsonl"
    lines = "".join(json.dumps(entry(number)) + "\n" for number in (1, 2))
    signed_in.on("GET", "/audit/export", httpx.Response(200, text=lines))
    chosen = ["--action", "operation", "--since", "2026-03-02T12:00:00", "--search", "broker-a"]

    assert run(["audit", "export", str(file), *chosen]) == 0

    assert [json.loads(line)["number"] for line in file.read_text().splitlines()] == [1, 2]
    sent = dict(signed_in.requests[-1].url.params)
    assert sent == {
        "action": "operation",
        "search": "broker-a",
        "begin": "2026-03-02T12:00:00",
    }
    signed_in.on("GET", "/audit/export", httpx.ReadError("cut off"))
    assert run(["audit", "export", str(file)]) == 1
    # What was there before stays, and nothing half-written beside it.
    assert [*tmp_path.glob("audit*")] == [file]
    assert len(file.read_text().splitlines()) == 2


def test_a_line_of_the_export_ends_where_the_server_ended_it(signed_in, tmp_path):
    file = tmp_path / "audit.jsonl"
    # JSON leaves these as they are within a text, and Unicode breaks a line at each.
    one = entry(1) | {"subject": "client a\u2028b\u0085c\u2029d"}
    text = f"{json.dumps(one, ensure_ascii=False)}\n{json.dumps(entry(2))}\n"
    signed_in.on("GET", "/audit/export", httpx.Response(200, text=text))

    assert run(["audit", "export", str(file)]) == 0

    assert file.read_text(encoding="utf-8") == text


def verification(**values):
    return {
        "checked_count": 2,
        "is_complete": True,
        "end_number": 2,
        "end_hash": "ab",
        "broken_number": None,
        "reason": None,
        **values,
    }


def test_the_chain_is_followed_to_its_end_and_a_changed_entry_is_named(signed_in, capsys):
    first = verification(is_complete=False)
    signed_in.on("GET", "/audit/verification", first, verification(end_number=4))

    assert run(["audit", "verify"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "4 entries are as they were written",
        "the chain ends at entry 4, hash ab",
    ]
    assert signed_in.requests[-1].url.params["after_number"] == "2"
    broken = verification(broken_number=7, reason="its content does not match its hash")
    signed_in.on("GET", "/audit/verification", broken)
    assert run(["audit", "verify"]) == 1
    assert "entry 7 of the audit breaks the chain" in capsys.readouterr().err
