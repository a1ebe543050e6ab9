"""The command `adgen`: one module a command, imported when it is used.

Results go to standard output, everything else to standard error.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

import click

from enzyme_driver.cli import output
from enzyme_driver.cli.lazy import LazyGroup
from enzyme_driver.errors import AdgenError, UsageError
from enzyme_driver.version import __version__

INTERRUPTED = 130
"""What shells expect of a program that was ended by ctrl-C."""

COMMANDS = {
    "compile": "enzyme_driver.cli.compile",
    "check": "enzyme_driver.cli.check",
    "inspect": "enzyme_driver.cli.inspect",
    "pipeline": "enzyme_driver.cli.pipeline",
    "bisect": "enzyme_driver.cli.bisect",
    "doctor": "enzyme_driver.cli.doctor",
    "toolchain": "enzyme_driver.cli.toolchain",
    "cache": "enzyme_driver.cli.cache",
}


@click.group(cls=LazyGroup, commands_in=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="adgen")
def adgen() -> None:
    """A CUDA or C++ file in, its compiled gradient out, called from Python.

    Results are written to standard output, everything else to standard error. The exit code tells the kind of
    failure (docs/errors.md).
    """


def main() -> None:
    """The entry point of the command."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run the command line; the exit code. Every foreseeable failure ends as a message, never as a traceback."""
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    as_json, debug = "--json" in own, "--debug" in own
    try:
        code = adgen.main(list(arguments), prog_name="adgen", standalone_mode=False)
    except (KeyboardInterrupt, click.Abort):
        output.say("interrupted")
        return INTERRUPTED
    except Exception as problem:  # noqa: BLE001  (the last place where a traceback can be kept from the user)
        if debug:
            traceback.print_exc()
        return output.failure(_as_own_error(problem), as_json=as_json)
    return code if isinstance(code, int) else 0


def _as_own_error(problem: Exception) -> AdgenError:
    if isinstance(problem, AdgenError):
        return problem
    if isinstance(problem, click.exceptions.NoArgsIsHelpError):
        return UsageError("a command is missing", hint="`adgen --help` lists the commands")
    if isinstance(problem, click.NoSuchOption) and not problem.option_name.startswith("--"):
        return UsageError(problem.format_message(), hint="other flags for clang come after --, as in FILE -- -w")
    if isinstance(problem, click.UsageError):
        command = problem.ctx.command_path if problem.ctx else "adgen"
        return UsageError(problem.format_message(), hint=f"see `{command} --help`")
    if isinstance(problem, click.ClickException):
        return UsageError(problem.format_message(), hint="see `adgen --help`")
    return AdgenError(
        f"internal error: {type(problem).__name__}: {problem}",
        hint="this is a fault of adgen's; run it again with --debug and report what it prints",
    )
