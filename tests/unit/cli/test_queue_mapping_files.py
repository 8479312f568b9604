"""Mapping files are printed as they are, and read from a file or from the standard input."""

import io

import pytest

from backend.cli.app import run
from backend.cli.errors import ExitCode
from tests.unit.cli.test_orders import operation, sent
from tests.unit.cli.test_replicas import page

DOCUMENT = '{"brokerConfigMap":{},"topic":"é\\u0001"}'


@pytest.fixture
def east(signed_in):
    signed_in.on("GET", "/clusters", page({"name": "east"}))
    found = {"topic_name": "orders", "epoch": 7, "kind": "REMAPPING", "document": DOCUMENT}
    signed_in.on("GET", "/clusters/east/topics/orders/queue-mapping-file", found)
    signed_in.on("POST", "/operations", operation())
    return signed_in


def document_of(server):
    return dict(sent(server))["/operations"]["parameters"]["document"]


def test_an_exported_file_is_printed_byte_by_byte(east, capsys):
    assert run(["topic", "static", "export", "orders"]) == ExitCode.DONE

    assert capsys.readouterr().out == DOCUMENT + "\n"
    assert east.requests


def test_a_file_or_the_standard_input_is_imported_as_it_was_exported(east, tmp_path, monkeypatch):
    path = tmp_path / "orders.json"
    path.write_text(DOCUMENT + "\n")
    monkeypatch.setattr("sys.stdin", io.StringIO(DOCUMENT + "\n"))

    for name in (str(path), "-"):
        run(["topic", "static", "import", "orders", "--file", name, "--dry-run"])
        assert document_of(east) == DOCUMENT


def test_without_a_file_the_brokers_are_asked(east):
    run(["topic", "static", "import", "orders", "--dry-run"])

    assert document_of(east) is None


def test_a_file_that_is_not_there_is_named(east, capsys):
    code = run(["topic", "static", "import", "orders", "--file", "/nowhere", "--dry-run"])

    assert code == ExitCode.NOT_FOUND
    assert "the mapping file /nowhere could not be read" in capsys.readouterr().err
    assert sent(east) == []
