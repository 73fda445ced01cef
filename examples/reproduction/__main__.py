"""The commands: ``tables``, ``ties``, ``power``, ``advice``, ``time``."""

import argparse
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from examples.reproduction import page, paper
from examples.reproduction.data import Files
from ldp3.errors import LDPError

NONE = "None of the paper's files was given."


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what a command measures; with ``--write`` also put it on the page."""
    parser = _parser()
    args = parser.parse_args(arguments)
    if args.repeats is not None and args.repeats < 2:
        parser.error(f"--repeats must be at least 2, got {args.repeats}")
    if args.write:
        page.require_marks(args.write, BLOCKS[args.command])
    files = Files(**{f.name: getattr(args, f.name) for f in fields(Files)})
    try:
        blocks = COMMANDS[args.command](args, files)
    except LDPError as error:
        raise SystemExit(str(error)) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    for name, text in blocks.items():
        print(f"\n## {name}\n\n{text}")
        if args.write:
            page.fill(args.write, name, text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m examples.reproduction", description=__doc__)
    parser.add_argument("command", choices=COMMANDS)
    for field in fields(Files):
        parser.add_argument("--" + field.name.replace("_", "-"), metavar="FILE")
    parser.add_argument("--repeats", type=int, help="default: enough for the page's intervals")
    parser.add_argument("--epsilons", type=float, nargs="+", default=[0.25, 0.5, 1.0, 2.0, 4.0])
    parser.add_argument("--shrink", type=int, default=1, help="divide time's users by this")
    parser.add_argument("--rounds", type=int, default=3, help="time's minimum is over so many")
    parser.add_argument("--peers", action="store_true", help="time the published peers, too")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="fill in this Markdown page")
    return parser


def _tables(args: argparse.Namespace, files: Files) -> dict[str, str]:
    from examples.reproduction import tables

    repeats = args.repeats or 400
    measured = [tables.measure(t, files, repeats) for t in paper.TABLES]
    standing_in = not measured[-1].original and files.beijing is not None
    shapes = [tables.measure(paper.TABLES[-1], Files(), repeats)] if standing_in else []
    return {
        "tables": tables.side_by_side([m for m in measured if m.original]) or NONE,
        "agreement": tables.agreement(measured) if any(m.original for m in measured) else NONE,
        "without": tables.without(measured),
        "stand-ins": tables.side_by_side([m for m in [*shapes, *measured] if not m.original]),
        "findings": tables.findings([*shapes, *measured]),
    }


def _ties(_args: argparse.Namespace, files: Files) -> dict[str, str]:
    from examples.reproduction import ties

    return {"ties": ties.compare(files)}


def _power(args: argparse.Namespace, files: Files) -> dict[str, str]:
    from examples.reproduction import power

    repeats = args.repeats or 200
    return {"power": power.compare(files, repeats, min(repeats, paper.REPEATS))}


def _advice(args: argparse.Namespace, files: Files) -> dict[str, str]:
    from examples.reproduction import advice

    return {"advice": advice.advise(files, args.epsilons, args.repeats or 30, _figures(args))}


def _time(args: argparse.Namespace, _files: Files) -> dict[str, str]:
    from examples.reproduction import timing

    return timing.report(args.shrink, args.rounds, args.repeats or 10, args.peers, _figures(args))


def _figures(args: argparse.Namespace) -> Path | None:
    return args.write.parent / "figures" if args.write else None


BLOCKS = {
    "tables": ("tables", "agreement", "without", "stand-ins", "findings"),
    "ties": ("ties",),
    "power": ("power",),
    "advice": ("advice",),
    "time": ("threads", "peers"),
}
COMMANDS = {
    "tables": _tables,
    "ties": _ties,
    "power": _power,
    "advice": _advice,
    "time": _time,
}

if __name__ == "__main__":
    main()
