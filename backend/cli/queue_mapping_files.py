"""The command `regent topic static export`, and how `import` reads a file."""

import sys
from pathlib import Path
from typing import Final

from backend.cli.clusters import ClusterName, in_cluster
from backend.cli.errors import CommandError, ExitCode
from backend.cli.output import print_json, print_text
from backend.cli.paging import ask
from backend.cli.target import Options

STANDARD_INPUT: Final = "-"


def export_static_topic(
    name: str,
    /,
    *,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Print the mapping of a static topic in the form of RocketMQ's mapping files.

    The file has all broker groups, and the moves that are not finished. `regent topic static
    import` reads it, and equal mappings give equal files. The command asks the brokers for the
    permissions and attributes of the topic.

    Examples:
        regent topic static export orders > orders.json
        regent topic static export orders -o json

    Args:
        name: Name of the topic.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    found = ask(options, in_cluster(cluster, "topics", name, "queue-mapping-file"))
    if options.output == "json":
        print_json(found)
    else:
        print_text(found["document"])


def read_mapping_file(name: str) -> str:
    """Read a mapping file; `-` is the standard input.

    Raises:
        CommandError: the file can't be read.
    """
    try:
        if name == STANDARD_INPUT:
            return sys.stdin.read().rstrip("\n")
        return Path(name).read_text(encoding="utf-8").rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(
            f"the mapping file {name} could not be read",
            why=str(error),
            next_step="give a file that regent topic static export or mqadmin has written",
            exit_code=ExitCode.NOT_FOUND,
        ) from error
