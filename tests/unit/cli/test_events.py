"""What `regent events` asks, prints, resumes and ends with."""

import json

import httpx

from backend.cli.app import run
from tests.unit.cli.fake_server import event_stream, refusal


def event(number, **values):
    return {
        "number": number,
        "kind": "group.master_elected",
        "cluster_name": "c",
        "subject": "broker-a",
        "happened_at": "2026-03-02T12:00:00Z",
        "details": {"master_id": 2},
        "operation_id": None,
        **values,
    }


def page(*numbers, newest):
    items = [event(number) for number in numbers]
    last = numbers[-1] if numbers else newest
    return {"items": items, "next_after": last, "newest_number": newest, "oldest_number": 1}


def stream(*numbers, end=None):
    text = "retry: 1000\n\n" + "".join(
        f"id: {number}\ndata: {json.dumps(event(number))}\n\n" for number in numbers
    )
    text += f"id: {numbers[-1] + 1}\n\n" if numbers else ""
    if end is not None:
        reported = {"code": end, "message": f"it is {end}", "details": None}
        text += f"event: end\ndata: {json.dumps(reported)}\n\n"
    return event_stream(text)


def test_the_newest_events_are_a_table(signed_in, capsys):
    signed_in.on("GET", "/events", page(7, 8, newest=8))

    code = run(["events", "--limit", "2"])

    lines = capsys.readouterr().out.splitlines()
    assert code == 0
    assert lines[0].split() == ["NUMBER", "WHEN", "KIND", "CLUSTER", "SUBJECT", "DETAILS"]
    assert lines[1].split()[0] == "7"
    assert "master_id=2" in lines[2]


def test_events_behind_a_number_are_read_page_by_page_as_lines_of_json(signed_in, capsys):
    signed_in.on("GET", "/events", page(3, 4, newest=5), page(5, newest=5))

    code = run(["events", "--after", "2", "--kind", "group", "--kind", "broker", "-o", "json"])

    out = capsys.readouterr().out
    assert code == 0
    assert [json.loads(line)["number"] for line in out.splitlines()] == [3, 4, 5]
    asked = [request.url.params for request in signed_in.requests]
    assert [one["after"] for one in asked] == ["2", "4"]
    assert asked[0].get_list("kinds") == ["group", "broker"]


def test_more_of_the_newest_than_one_answer_holds_are_refused_with_the_way_to_them(
    signed_in, capsys
):
    assert run(["events", "--limit", "500"]) == 2

    assert "next: regent events --after NUMBER --limit 500" in capsys.readouterr().err
    assert signed_in.requests == []


def test_a_stream_is_resumed_after_what_came_until_the_session_ends(signed_in, capsys):
    signed_in.on(
        "GET",
        "/events",
        page(newest=6),
        stream(7, 8, end="server_stopping"),
        httpx.ReadError("reset"),
        stream(10),
        stream(end="unauthenticated"),
    )

    code = run(["events", "--follow", "-o", "json"])

    out, err = capsys.readouterr()
    assert code == 5
    assert [json.loads(line)["number"] for line in out.splitlines()] == [7, 8, 10]
    asked = [request.url.params["after"] for request in signed_in.requests[1:]]
    assert asked == ["6", "9", "9", "11"]
    assert "it is server_stopping, resuming" in err
    assert "connection lost (reset), resuming" in err
    assert "it is unauthenticated" in err


def test_a_number_that_is_no_longer_kept_ends_with_3_and_says_why(signed_in, capsys):
    signed_in.on(
        "GET", "/events", refusal(409, "events_expired", "event 2 is too old: read the lists again")
    )

    code = run(["events", "--follow", "--after", "2"])

    assert code == 3
    assert "read the lists again" in capsys.readouterr().err


def test_an_event_may_hold_what_breaks_a_line_in_unicode(signed_in, capsys):
    reported = event(5, details={"error": "refused\u2028by\u0085it"})
    text = f"id: 5\ndata: {json.dumps(reported, ensure_ascii=False)}\n\n"
    signed_in.on("GET", "/events", event_stream(text), refusal(403, "forbidden", "no"))

    run(["events", "--follow", "--after", "4", "-o", "json"])

    line = capsys.readouterr().out.partition("\n")[0]
    assert json.loads(line)["details"] == reported["details"]
