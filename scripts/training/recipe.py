"""The recipe of data/models/README.md: what is read when, and how fast it is learned."""

import argparse
import math
import time

import numpy as np
import torch

from training.gpt2 import GPT2
from training.text import BadInput

WINDOW = 256  # tokens, while most of the training lasts


def learning_rate(step: int, progress: float, options: argparse.Namespace) -> float:
    """A straight warm-up of 100 steps (a tenth of a shorter run), then a cosine that ends
    at 3% of the peak."""
    warm_up = min(100, max(1, options.steps // 10))
    if step < warm_up:
        return options.rate * (step + 1) / warm_up
    return options.rate * (0.03 + 0.97 * (1 + math.cos(math.pi * progress)) / 2)


def draw_batch(ids: np.ndarray, window: int, n_ctx: int, batch: int,
               random: np.random.Generator):
    """Windows of the text, [sequences, window + 1], and each one's first position.

    Half of them begin at a random position, so that all positions are learned although
    the windows are shorter than the context.
    """
    count = max(1, batch // window)
    starts = random.integers(len(ids) - window, size=count)
    windows = np.stack([ids[start:start + window + 1] for start in starts])
    positions = random.integers(n_ctx - window + 1, size=count)
    positions[:count // 2] = 0
    return torch.from_numpy(windows).long(), torch.from_numpy(positions)


@torch.no_grad()
def held_out_loss(model: GPT2, windows: torch.Tensor) -> float:
    """Nats a token, each window from position 0 on."""
    losses = [model.loss(some, torch.zeros(len(some), dtype=torch.long))
              for some in windows.split(8)]
    return float(torch.stack(losses).mean())


def make_optimizer(model: GPT2) -> torch.optim.AdamW:
    matrices = [p for p in model.parameters() if p.dim() == 2]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    return torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1},
                              {"params": vectors, "weight_decay": 0.0}],
                             betas=(0.9, 0.95))


def train(model: GPT2, ids: np.ndarray, options: argparse.Namespace) -> None:
    n_ctx = model.wpe.num_embeddings
    random = np.random.default_rng(options.seed)
    optimizer = make_optimizer(model)
    begun = time.monotonic()
    losses, tokens = [], 0
    for step in range(options.steps):
        minutes = (time.monotonic() - begun) / 60
        progress = max(step / options.steps, minutes / options.minutes)
        if progress >= 1:
            break
        rate = learning_rate(step, progress, options)
        for group in optimizer.param_groups:
            group["lr"] = rate
        # The last tenth reads whole contexts: what is far back must be found, too.
        window = WINDOW if progress < 0.9 else min(n_ctx, len(ids) - 1)
        windows, positions = draw_batch(ids, window, n_ctx, options.batch, random)
        loss = model.loss(windows, positions)
        if not loss.isfinite():
            raise BadInput(f"step {step + 1}: the loss is {loss.item()}; "
                           "try a lower --rate")
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

        losses.append(loss.item())
        tokens += windows[:, 1:].numel()
        if (step + 1) % 10 == 0 or step + 1 == options.steps:
            seconds = time.monotonic() - begun
            print(f"step {step + 1:5} of {options.steps}   loss {np.mean(losses):.3f}   "
                  f"rate {rate:.1e}   {tokens / seconds:5.0f} token/s   "
                  f"{seconds / 60:.1f} min", flush=True)
            losses.clear()
