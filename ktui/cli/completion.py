"""`ktui completion`: a script that completes commands, options and names in a shell."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ktui.cli.output import OK, USAGE, emit, fail
from ktui.cli.usage.offline import SHELLS

# The source of an option's values: a list that ktui prints when it is needed.
_NAMES = {
    "theme": "themes", "kube_version": "kube-versions", "context": "contexts", "warm": "resources",
    "attach": "servers", "path": "paths", "plan": "plans", "named_plan": "plans",
}  # fmt: skip
_LISTS = ("warm",)  # comma-separated
_FILES = ("FILE", "FILE.svg", "IN", "OUT")
_DIRECTORIES = ("DIR",)
# For zsh: read when a value is completed. shtab's form would run for every option while the script loads.
_ZSH_WORDS = """_ktui_{kind}() {{
  local -a words
  words=("${{(@f)$(ktui completion --words {kind} 2>/dev/null)}}")
  compadd "$@" -a words
}}"""

# shtab's script supports `eval` and fpath. As with kubectl, `source <(ktui completion zsh)` has to work too.
_ZSH_SOURCED = ("$zsh_eval_context[-1] == eval ", "$zsh_eval_context[-1] == (eval|file) ")


def run(args: argparse.Namespace) -> int:
    if args.words:
        emit("\n".join(_words(args.words)))
        return OK
    if args.shell is None:
        return fail(f"whose completions? ktui completion {'|'.join(SHELLS)}", USAGE)
    emit(script(args.shell))
    return OK


def script(shell: str) -> str:
    import shtab  # start-up time

    from ktui.cli.main import whole_parser

    parser = whole_parser()
    for each in _commands(parser):
        for action in each._actions:
            _complete(action)
    text: str = shtab.complete(parser, shell=shell)
    return text.replace(*_ZSH_SOURCED) if shell == "zsh" else text


def _commands(parser: argparse.ArgumentParser) -> Iterable[argparse.ArgumentParser]:
    """Yield the parser and those of its commands, whose descriptions become their short help for shtab."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for choice in action._choices_actions:
                action.choices[choice.dest].description = choice.help
                yield from _commands(action.choices[choice.dest])


def _complete(action: Any) -> None:
    """Set the attribute by which shtab completes an argparse.Action."""
    import shtab  # start-up time

    if action.dest in _NAMES:
        kind = _NAMES[action.dest]
        words: Any = shtab.cmd(f"ktui completion --words {kind} 2>/dev/null")
        words["zsh"] = f"_sequence _ktui_{kind}" if action.dest in _LISTS else f"_ktui_{kind}"
        words["preamble"]["zsh"] = _ZSH_WORDS.format(kind=kind)
        action.complete = words
    elif action.metavar in _FILES:
        action.complete = shtab.FILE
    elif action.metavar in _DIRECTORIES:
        action.complete = shtab.DIRECTORY


def _words(kind: str) -> list[str]:
    """Return the values of an option."""
    if kind == "themes":
        from ktui.config.places import theme_names  # start-up time

        return theme_names(os.environ)
    if kind == "contexts":
        return _contexts()
    if kind == "kube-versions":
        from ktui.kube.versions import KNOWN_VERSIONS  # start-up time

        return list(KNOWN_VERSIONS)
    if kind == "servers":
        from ktui.client.running import find_running  # start-up time

        return [server.connection.url for server in find_running()]
    if kind == "plans":  # the built-in ones, and the TOML files in the working directory
        from ktui.workloads.plans import builtin_plans  # start-up time

        return [*builtin_plans(), *sorted(path.name for path in Path().glob("*.toml"))]
    from ktui.kube.resources import BUILTIN  # start-up time

    if kind == "resources":
        return ["all", "none", *sorted({resource.id for resource in BUILTIN.preferred()})]
    found = [each for each in BUILTIN.preferred() if "list" in each.verbs]  # their paths
    return sorted(f"/{'apis' if item.group else 'api'}/{item.api_version}/{item.resource}" for item in found)


def _contexts() -> list[str]:
    """Return the contexts of ktui's config, then those of the kubeconfig; unreadable files are skipped."""
    from ktui.client.connection import ClientError  # start-up time
    from ktui.client.kubeconfig_reader import kubeconfig_files, read_contexts
    from ktui.config.document import read_config
    from ktui.config.errors import ConfigError
    from ktui.config.places import config_file

    names: list[str] = []
    with contextlib.suppress(ConfigError):
        names += read_config(config_file(os.environ)).contexts
    with contextlib.suppress(ClientError):
        names += read_contexts(kubeconfig_files())[0]
    return list(dict.fromkeys(names))
