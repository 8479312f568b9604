"""The command `regent completion`: the script that lets a shell complete regent's commands.

The library's script completes commands, options and choices. This module adds the names of
contexts, which the script reads from the file at each completion.

To create the script, every command is imported, which takes seconds. Many shells request the script
at each start. So it is cached under a name that changes with the program.
"""

import contextlib
import hashlib
import os
import re
import tempfile
from pathlib import Path
from typing import Final, Literal

import cyclopts

_ASK: Final = "regent context list -o name 2>/dev/null"
_VERBS: Final = ("use", "show", "set", "rename", "delete")
_BASH: Final = """
_regent_or_contexts() {{
  local cur="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  [[ "$before" == "=" ]] && before="${{COMP_WORDS[COMP_CWORD-2]}}"
  [[ "$cur" == "=" ]] && cur=""
  local words="${{COMP_WORDS[*]:1:COMP_CWORD-1}}"
  if [[ "$before" == "--context" ]] ||
     [[ "$cur" != -* && "$words" =~ ^contexts?\\ ({verbs})$ ]]; then
    COMPREPLY=( $(compgen -W "$({ask})" -- "$cur") )
  else
    _regent
  fi
}}

complete -F _regent_or_contexts regent
"""
_FISH: Final = """
complete -c regent -l context -x -a '({ask})'
for verb in {verbs}
    complete -c regent -n "__fish_regent_using_command context $verb" -x -a '({ask})'
end
"""


def print_script(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print the shell script that completes regent commands.

    The script also completes names of contexts. It takes some seconds to create the script, so the
    command keeps it in a cache until the program changes. The cache is $XDG_CACHE_HOME/regent, or
    ~/.cache/regent without that variable.

    Examples:
        regent completion bash > ~/.local/share/bash-completion/completions/regent
        regent completion zsh > "${fpath[1]}/_regent"
        regent completion fish > ~/.config/fish/completions/regent.fish

    Args:
        shell: Shell that the script is for.
    """
    kept = _cache_path(shell)
    try:
        script = kept.read_text()
    except (OSError, UnicodeDecodeError):
        script = make_script(shell)
        with contextlib.suppress(OSError):
            _keep(kept, script)
    print(script)  # noqa: T201 - the product


def make_script(shell: Literal["bash", "zsh", "fish"]) -> str:
    """Create the script from the present commands."""
    from backend.cli.app import app  # noqa: PLC0415 - it names this module

    return _with_contexts(app.generate_completion(shell=shell), shell)


def _cache_path(shell: str) -> Path:
    """Name the cache file; the name depends on everything that changes the script."""
    package = Path(__file__).resolve().parents[1]
    sources = sorted(package.rglob("*.py"))
    marks = [(str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in sources]
    made_from = hashlib.sha256(f"{cyclopts.__version__}{marks}".encode()).hexdigest()[:16]
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "regent" / f"completion-{made_from}.{shell}"


def _keep(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    for former in path.parent.glob(f"completion-*{path.suffix}"):
        former.unlink(missing_ok=True)
    # The replacement is atomic for concurrent readers.
    descriptor, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(script)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _with_contexts(script: str, shell: str) -> str:
    if shell == "bash":
        return script + _BASH.format(ask=_ASK, verbs="|".join(_VERBS))
    if shell == "fish":
        return script + _FISH.format(ask=_ASK, verbs=" ".join(_VERBS))
    # The text after the last colon of an argument names the kind of value.
    names = f":context:($({_ASK}))"
    script = re.sub(r"('\*--context\[[^\n]*\]):context(?=')", rf"\1{names}", script)
    return re.sub(r"(['\"]1:+Name of the context\.)[^'\"\n]*(?=['\"])", rf"\1:($({_ASK}))", script)
