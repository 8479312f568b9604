"""Answer a returned broker group with the mappings that changed meanwhile; ours (7017)."""

import msgspec

from backend.domain.logical_queue.stock_json import encode_mapping
from backend.nameserver.answer import Answer
from backend.nameserver.directory import Directory
from backend.remoting import java_json
from backend.remoting.bodies.logical_queues import HeldEpochs, NewerMapping, NewerMappings
from backend.remoting.command import Command
from backend.remoting.headers import BrokerMemberGroupHeader, decode_header
from backend.services.logical_queue.newer_copies import find_newer_copies


async def on_get_newer_mappings(command: Command, _session: object, directory: Directory) -> Answer:
    """Answer the mappings that are newer than those of a broker group."""
    header = decode_header(BrokerMemberGroupHeader, command.ext)
    held = java_json.decode(command.body or b"{}", HeldEpochs).epochs
    copies = await find_newer_copies(
        header.cluster_name, header.broker_name, held, database=directory.controller.database
    )
    topics = {
        name: NewerMapping(
            mapping=msgspec.Raw(encode_mapping(one.mapping).encode()),
            read_queue_count=one.counts.read_count,
            write_queue_count=one.counts.write_count,
            is_final=one.is_final,
        )
        for name, one in copies.items()
    }
    return Answer(body=java_json.encode(NewerMappings(topics=topics)))
