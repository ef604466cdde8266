"""The command line, ``sgpc``. Each command lives in a module that is imported when it is called.

Results go to standard output, all else to standard error. The exit code is 0 if all went well, 1 if
data, configuration or model cannot be used, 2 if the command was called wrongly, 130 if it was
interrupted, by Ctrl-C or by SIGTERM.
"""

from __future__ import annotations

import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from threading import current_thread, main_thread
from typing import Any, TextIO

import click

from sgpc_framework.cli.printing import echo, visible
from sgpc_framework.cli.standard_output import written_whole
from sgpc_framework.errors import (
    ChanceLevelWarning,
    CheckpointWarning,
    NumericalWarning,
    SgpcError,
    StopFitting,
    suggestion,
)

COMMANDS = {
    "check": "Run the conformance checks of a part, or of all parts of a distribution.",
    "compare": "Compare selectors and sizes on your data by cross-validation.",
    "config": "Print the effective configuration as TOML.",
    "datasets": "List the benchmark sets, or write one as CSV.",
    "decide": "Have a model decide by costs, by a threshold, or so that a target is reached.",
    "demo": "Run Algorithm 1 with every selector on generated data and compare them.",
    "describe": "Describe a part: its formula, its options, its abilities, where it comes from.",
    "evaluate": "Say how good a model is on data with known labels.",
    "export": "Write a model in another language: ONNX, NumPy, C or JavaScript.",
    "fit": "Fit a model to a table and write it to a file.",
    "importance": "Say which columns matter: what the log loss loses without each.",
    "inspect": "Say what a model file holds and needs, without building the model.",
    "lab": "Compare methods on many data sets, and judge which is better.",
    "new": "Write a complete package for a part of your own, ready to be installed.",
    "plugins": "List every part and who provides it, and plugins that could not be loaded.",
    "predict": "Predict labels and probabilities for a table.",
    "report": "Write a report on a model as one HTML page.",
    "reproduce": "Run the paper's experiments again and write a page about how they came out.",
    "resume": "Go on with a fit that died, or was stopped, from its checkpoint.",
    "serve": "Answer requests for predictions by a model over HTTP.",
}
"""Name and one-line help of each command; module ``sgpc_framework.cli.NAME`` has ``command``."""

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it: 128 + SIGINT."""


class LazyGroup(click.Group):
    """Lists its commands without importing them, and turns errors into messages."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"sgpc_framework.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            ctx.fail(f"no command {name!r}; {suggestion(name, COMMANDS)}")
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        with written_whole():
            return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with warnings.catch_warnings(), _sigterm_as_ctrl_c():
                warnings.showwarning = _show_warning
                return super().invoke(ctx)
        except StopFitting as error:  # and there was nothing to keep
            echo(f"Interrupted: {error}.", err=True)
            ctx.exit(INTERRUPTED)
        except SgpcError as error:
            notes = getattr(error, "__notes__", ())
            raise click.ClickException(visible("\n".join([str(error), *notes]))) from error
        except click.ClickException as error:
            error.message = visible(error.message)  # type: ignore[misc]  # click says final
            raise
        except MemoryError as error:
            notes = getattr(error, "__notes__", ["fewer rows or columns need less"])
            problem = f"there is not enough memory: {str(error) or 'no more can be had'}"
            raise click.ClickException("\n".join([problem, *notes])) from error
        except OSError as error:
            if error.filename is None:  # of standard output
                raise
            text = f"{error.filename}: cannot be used: {error.strerror}"
            raise click.ClickException(visible(text)) from error
        except KeyboardInterrupt:
            echo("\nInterrupted.", err=True)
            ctx.exit(INTERRUPTED)


@contextmanager
def _sigterm_as_ctrl_c() -> Iterator[None]:
    """Whoever is told to end cleans up first, as after Ctrl-C."""
    if current_thread() is not main_thread():  # signals are its business only
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Our own warnings are for the user, without a line of code; others are as Python has them."""
    if issubclass(category, (NumericalWarning, ChanceLevelWarning, CheckpointWarning)):
        echo(f"Warning: {message}", err=True)
    else:
        text = warnings.formatwarning(message, category, filename, lineno, line)
        echo(text, err=True, nl=False)


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("sgpc-framework"), prog_name="sgpc")
def main() -> None:
    """Design, compare and use sparse Gaussian process classifiers."""
