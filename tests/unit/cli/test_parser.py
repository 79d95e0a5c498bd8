"""What is wrong with a command line is one line."""

import pytest

from ktui.cli.main import main


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--tehme", "x"], "there is no option --tehme, did you mean --theme?; `ktui --help` for details"),
        (["--bogus"], "there is no option --bogus; `ktui --help` for details"),
        (["--kube-verison=1"],
         "there is no option --kube-verison=1, did you mean --kube-version?; `ktui --help` for details"),
        (["--zzz=1"], "there is no option --zzz=1; `ktui --help` for details"),
        (["--pods", "x"], "--pods: 'x' is not a number of at least 1; `ktui --help` for details"),
        (["list"], "the following arguments are required: PATH; `ktui list --help` for details"),
        (["list", "/a", "b"], "'b' is an unexpected argument; `ktui list --help` for details"),
        (["recording", "cut", "x"], "the following arguments are required: OUT; `ktui recording cut --help` "
         "for details"),
        (["web", "--port", "99999"], "--port 99999 is not a port: use 1 to 65535, or 0 for a free one"),
    ],
)  # fmt: skip
def test_an_error_is_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status = main(words)
    except SystemExit as ended:
        status = int(str(ended.code))
    assert status == 2
    assert capsys.readouterr().err == f"ktui: {said}\n"


def test_the_dashboard_says_that_it_needs_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.isatty", lambda descriptor: descriptor == 1)
    assert main([]) == 2
    assert "screens need a terminal" in capsys.readouterr().err
