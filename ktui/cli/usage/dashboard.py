"""`ktui` without a command, and the commands that serve or describe a dashboard: web and info."""

from __future__ import annotations

import argparse

from ktui.cli.usage.describe import CliCommand, group, option, yes_or_no
from ktui.cli.usage.shared import BEHAVIOUR, CONTEXT, DEMO, JSON, LOG, OTLP, SOURCE, prometheus, token


def _pace(text: str) -> float:
    from ktui.contract.recording import RecordingError  # start-up time
    from ktui.core.replay.player import pace

    try:
        return pace(text)
    except RecordingError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


DASHBOARD = (
    group(
        "dashboard",
        option("--attach URL", "attach to a running server"),
        *token("its bearer token (default: KTUI_TOKEN)"),
        option("--server-ca FILE", "CA of that server's certificate"),
        option("--replay FILE", "replay a recording, or a DIR of `ktui record`"),
        option("--speed X", "speed of a replay: 4, 0.25, max (default 1)", type=_pace, default=1.0),
        option("--record FILE", "record the telemetry to FILE (gzip: .gz)"),
        option("--story", "six steps through what LISTs cost, with the key F9"),
        option("--theme NAME", "colours; `:theme` lists them"),
        option("--symbols", "what charts are drawn with (default: what the terminal can show)",
               choices=("braille", "block", "ascii")),
        yes_or_no("--mouse", "use the mouse (default: yes)", True),
        option("--screenshot FILE.svg",
               "save a screenshot of the dashboard to a file and exit; needs no terminal"),
        option("--press KEYS", "keys to press first, comma separated: 5,r", default=""),
        option("--size WxH", "columns and rows (default %(default)s)", default="120x40"),
    ),
    group(
        "cluster",
        CONTEXT,
        option("--kubeconfig FILE",
               "show the live kube-apiserver that this file names (--context: one of its contexts); with "
               "--etcd, --snapshot or --attach: the server that the Lab sends to", default=""),
        prometheus(),
        OTLP,
        option("--follow-audit FILE",
               "with --etcd, --snapshot or --attach: an audit log of the same cluster, followed as it grows: "
               "who asks for what", default=""),
        option("--aim CONTEXT", default=""),  # a page's: $KUBECONFIG has it
        option("--page-of PID", type=int),  # its `ktui web`, gone with it
    ),
    SOURCE,
    BEHAVIOUR,
    DEMO,
    LOG,
)  # fmt: skip

COMMANDS = {
    "": CliCommand(
        "ktui.cli.dashboard.run",
        "Explore the read path of a Kubernetes control plane: was this request served from "
        "the watch cache or from etcd, why, and what did it cost?",
        DASHBOARD,
    ),
    "web": CliCommand(
        "ktui.cli.web.run",
        "Serve the dashboard to browsers of this machine, by textual-serve. A browser with the "
        "address with its token sees and does what you would in your terminal: it listens on a loopback "
        "address only.",
        (
            group(
                "web",
                option("--host ADDRESS", "a loopback address (default %(default)s)", default="127.0.0.1"),
                option("--port N", "the port (default: a free one, 0)", type=int, default=0),
            ),
            *DASHBOARD,
        ),
        """examples:
  ktui web                                  prints `open http://127.0.0.1:PORT/?token=…`
  ktui web --port 8000 --theme ktui-light
  ktui web --context prod                   a cluster that the config file names
  ssh -L 8000:127.0.0.1:8000 host ktui web --port 8000       from another machine

Every page is a dashboard of its own; all of them watch one server, which ends with `ktui web`.
exit status: 0 stopped, 2 usage, or textual-serve is missing, 3 server unreachable, or port in use""",
    ),
    "info": CliCommand(
        "ktui.cli.info.run",
        "Print where ktui's files are, which versions run, what the terminal can do, and each "
        "setting with where it comes from. Takes the dashboard's options, to show what they change.",
        (JSON, *DASHBOARD),
        """examples:
  ktui info
  ktui info --context prod --kube-version 1.30        with these options
  ktui info --json | jq '.settings[] | select(.source != "default")'

Passwords and tokens are never shown. Of each setting: default, config (file and line), context, env, or flag.
exit status: 0 printed, 2 usage, or the config file cannot be understood""",
    ),
}
