"""Answer requests about the key-value table (remoting.md 2.7: 100, 101, 102, 219)."""

from backend.nameserver.answer import Answer
from backend.nameserver.directory import Directory
from backend.remoting import java_json
from backend.remoting.bodies import KeyValueTable
from backend.remoting.command import Command
from backend.remoting.headers import (
    KeyValueHeader,
    NamespaceHeader,
    PutKeyValueHeader,
    decode_header,
)


def on_put_kv_config(command: Command, _session: object, directory: Directory) -> Answer:
    """Set a value."""
    header = decode_header(PutKeyValueHeader, command.ext)
    directory.key_values.put(header.namespace, header.key, header.value)
    return Answer()


def on_get_kv_config(command: Command, _session: object, directory: Directory) -> Answer:
    """Answer a value."""
    header = decode_header(KeyValueHeader, command.ext)
    return Answer(ext={"value": directory.key_values.get(header.namespace, header.key)})


def on_delete_kv_config(command: Command, _session: object, directory: Directory) -> Answer:
    """Remove a value."""
    header = decode_header(KeyValueHeader, command.ext)
    directory.key_values.remove(header.namespace, header.key)
    return Answer()


def on_get_kv_list(command: Command, _session: object, directory: Directory) -> Answer:
    """Answer all values of a namespace."""
    header = decode_header(NamespaceHeader, command.ext)
    table = directory.key_values.get_table(header.namespace)
    return Answer(body=java_json.encode(KeyValueTable(table=table)))
