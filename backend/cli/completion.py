"""The command `regent completion`: the script that lets a shell complete regent's commands."""

from typing import Literal


def print_script(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print the script that lets a shell complete regent.

    Examples:
        regent completion bash > ~/.local/share/bash-completion/completions/regent
        regent completion zsh > "${fpath[1]}/_regent"
        regent completion fish > ~/.config/fish/completions/regent.fish

    Args:
        shell: Which shell it is for.
    """
    from backend.cli.app import app  # noqa: PLC0415 - it names this module

    print(app.generate_completion(shell=shell))  # noqa: T201 - the product
