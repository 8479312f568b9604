"""The command `regent completion`: the script that lets a shell complete regent's commands.

The library's script knows commands, options and choices. Names of contexts are asked for when they
are wanted, from the file alone, and so are added to it here.
"""

import re
from typing import Final, Literal

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
    """Print the script that lets a shell complete regent.

    It completes names of contexts too.

    Examples:
        regent completion bash > ~/.local/share/bash-completion/completions/regent
        regent completion zsh > "${fpath[1]}/_regent"
        regent completion fish > ~/.config/fish/completions/regent.fish

    Args:
        shell: Which shell it is for.
    """
    from backend.cli.app import app  # noqa: PLC0415 - it names this module

    print(_with_contexts(app.generate_completion(shell=shell), shell))  # noqa: T201 - the product


def _with_contexts(script: str, shell: str) -> str:
    if shell == "bash":
        return script + _BASH.format(ask=_ASK, verbs="|".join(_VERBS))
    if shell == "fish":
        return script + _FISH.format(ask=_ASK, verbs=" ".join(_VERBS))
    # What follows the last colon of an argument says what may stand there.
    names = f":context:($({_ASK}))"
    script = re.sub(r"('\*--context\[[^\n]*\]):context(?=')", rf"\1{names}", script)
    return re.sub(r"(['\"]1:+Name of the context\.)[^'\"\n]*(?=['\"])", rf"\1:($({_ASK}))", script)
