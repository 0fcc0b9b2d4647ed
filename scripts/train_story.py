"""Trains a small GPT-2 from a text file, by the recipe of data/models/README.md.

`scripts/train_story` runs it in an environment of its own.
"""

import argparse
import math
import sys
from pathlib import Path


def parse_options() -> argparse.Namespace:
    def positive(text: str) -> int:
        if int(text) < 1:
            raise ValueError
        return int(text)

    parser = argparse.ArgumentParser(
        prog="train_story", allow_abbrev=False,
        description="Trains a small GPT-2 from a text file and writes a model directory "
                    "that the programs load. The defaults make the shipped story model.",
        epilog="The first call makes .venv/train, with Debian's python3-torch where that "
               "is installed (with libopenblas0-pthread, or it is many times slower), "
               "else with PyTorch from PyPI, which on Linux takes some GB. Ctrl-C ends "
               "the training early and keeps what was learned.")
    parser.add_argument("--text", type=Path, required=True, metavar="FILE",
                        help="UTF-8 text, plain or .xz; "
                             "'<|endoftext|>' stands between stories")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR",
                        help="where the model goes; must not exist, or be empty")
    parser.add_argument("--steps", type=positive, default=2400,
                        help="updates of the weights (default 2400)")
    parser.add_argument("--minutes", type=float, default=math.inf,
                        help="end after so long, even if steps are left (default: never)")
    parser.add_argument("--width", type=positive, default=256, help="default 256")
    parser.add_argument("--layers", type=positive, default=4, help="default 4")
    parser.add_argument("--heads", type=positive, default=4, help="default 4")
    parser.add_argument("--batch", type=positive, default=4096,
                        help="tokens a step, rounded down to whole windows, "
                             "one at least (default 4096)")
    parser.add_argument("--rate", type=float, default=2.5e-3,
                        help="peak learning rate (default 2.5e-3; 4e-3 for the draft)")
    parser.add_argument("--seed", type=positive, default=1, help="default 1")
    options = parser.parse_args()
    if options.width % options.heads:
        parser.error(f"--width: expected a multiple of --heads = {options.heads}, "
                     f"found {options.width}")
    if not options.rate > 0 or not options.minutes > 0:
        parser.error("--rate and --minutes: expected more than 0")
    if options.out.exists() and (not options.out.is_dir() or any(options.out.iterdir())):
        parser.error(f"--out: {options.out} exists and is not an empty folder")
    return options


if __name__ == "__main__":
    OPTIONS = parse_options()
    # Only now: --help and a wrong option must neither wait for PyTorch nor need it.
    from training.story import make_model
    sys.exit(make_model(OPTIONS))
