"""What people type: `python -m stages ask "Where was Elizabeth Jones born?"`; alone it lists the commands."""

import sys
from importlib import import_module

from stages.system.errors import command, error_line

COMMANDS = {
    "ask": "ask a finetuned model a question, or one after another",
    "sample": "let a pretrained model continue a text",
    "show": "show what a model reads of a page, and which characters carry loss",
}
USAGE = "usage: python -m stages COMMAND [options]"


@command
def main() -> None:
    """Run the command that was named."""
    name = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if name in ("-h", "--help"):
        print(USAGE, "", *(f"  {name:8} {summary}" for name, summary in COMMANDS.items()), sep="\n")
        print("\n`python -m stages COMMAND --help` lists the options of a command.")
        return
    if name not in COMMANDS:
        fault = f"unknown command {name!r}; allowed: {', '.join(COMMANDS)}"
        sys.exit(f"{USAGE}\n{error_line(fault)}")
    del sys.argv[0]  # so that the arguments begin with the command's name, as a program's do
    import_module(f"stages.commands.{name}").main()


if __name__ == "__main__":
    main()
