"""From a text file to a model directory."""

import argparse
import math
import sys
from pathlib import Path

import numpy as np
import torch

from training.gpt2 import GPT2, Config
from training.model_files import write_model
from training.recipe import WINDOW, held_out_loss, train
from training.text import END_OF_TEXT, BadInput, Tokenizer, read_text

VOCABULARY = Path(__file__).resolve().parents[2] / "data" / "models" / "story"
N_CTX = 1024
HELD_OUT = 64  # windows at the end of the text that are never trained on


def cut(ids: np.ndarray, name: Path) -> tuple[np.ndarray, torch.Tensor]:
    """The tokens to learn from, and the windows held out, [HELD_OUT, WINDOW + 1]."""
    held = HELD_OUT * WINDOW + 1
    if len(ids) < 2 * held:
        raise BadInput(f"{name}: expected at least {2 * held} tokens, found {len(ids)}")
    last = ids[-held:]
    windows = [last[at:at + WINDOW + 1] for at in range(0, held - 1, WINDOW)]
    return ids[:-held], torch.from_numpy(np.stack(windows)).long()


def run(options: argparse.Namespace) -> None:
    torch.manual_seed(options.seed)
    tokenizer = Tokenizer(VOCABULARY)
    ids, held_out = cut(tokenizer.encode(read_text(options.text)), options.text)

    config = Config(n_vocab=len(tokenizer.ids), n_ctx=N_CTX, n_embd=options.width,
                    n_layer=options.layers, n_head=options.heads)
    model = GPT2(config)
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, "
          f"{len(ids):,} tokens to learn from, {held_out[:, 1:].numel():,} held out")
    print(f"held-out loss before: {held_out_loss(model, held_out):.3f} nats a token "
          f"(guessing: {math.log(config.n_vocab):.3f})", flush=True)
    try:
        train(model, ids, options)
    except KeyboardInterrupt:
        print("stopped early; the model is written as it is")
    print(f"held-out loss after: {held_out_loss(model, held_out):.3f} nats a token")
    write_model(model, config, tokenizer.ids[END_OF_TEXT], VOCABULARY, options.out)
    print(f"written: {options.out}")


def make_model(options: argparse.Namespace) -> int:
    """The exit status."""
    try:
        run(options)
    except BadInput as error:
        print(f"train_story: {error}", file=sys.stderr)
        return 2
    return 0
