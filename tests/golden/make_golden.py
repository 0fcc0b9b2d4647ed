#!/usr/bin/env python3
"""Makes tests/data/golden: what Hugging Face's GPT-2 computes, for our tests to match.

Each folder holds a small model with random weights and `golden.safetensors`: token ids
and the logits after each of them. The folders `story` and `story-draft` hold no model;
theirs are in data/models. README.md beside this file says what to install.

The logits are computed in float64 from the weights as they were stored, so that what is
compared with them carries the only rounding error.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from transformers import GPT2Config, GPT2LMHeadModel

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "data" / "golden"


@dataclass
class Case:
    name: str
    seed: int
    n_vocab: int
    n_ctx: int
    n_embd: int
    n_layer: int
    n_head: int
    tokens: int
    dtype: torch.dtype = torch.float32
    prefix: str = ""  # "transformer.", as GPT2LMHeadModel saves its names
    head: bool = False  # with lm_head.weight, although it is the token embedding
    masks: torch.dtype | None = None  # with the causal masks that old files carry


CASES = [
    Case("one_head", 1, 97, 16, 8, 1, 1, tokens=16),
    Case("three_heads", 2, 151, 64, 24, 3, 3, tokens=64),
    Case("four_heads", 3, 257, 32, 48, 1, 4, tokens=20),
    Case("f16", 4, 129, 32, 128, 1, 2, tokens=24, dtype=torch.float16),
    Case("bf16", 5, 113, 24, 24, 2, 2, tokens=24, dtype=torch.bfloat16),
    # One seed, so one model under four sets of names: the logits must be equal.
    Case("names_plain", 6, 101, 16, 8, 2, 2, tokens=12, masks=torch.float32),
    Case("names_prefix", 6, 101, 16, 8, 2, 2, tokens=12, prefix="transformer.",
         masks=torch.bool),
    Case("names_head", 6, 101, 16, 8, 2, 2, tokens=12, head=True, masks=torch.uint8),
    Case("names_prefix_head", 6, 101, 16, 8, 2, 2, tokens=12, prefix="transformer.",
         head=True),
]

# In the shipped models' vocabulary: "When the old man had read the letter twice, he put
# it back into the drawer and looked out of the"
STORY_TOKENS = [2215, 262, 1468, 582, 550, 1100, 262, 3850, 665, 501, 11, 339, 1234, 340,
                736, 656, 262, 3197, 263, 290, 3114, 503, 286, 262]
STORY_CONTINUED = 32


def randomize(model: GPT2LMHeadModel, generator: torch.Generator) -> None:
    """Draws every parameter, biases and gains too, large enough to matter: scores differ
    by a few units within a softmax, and GELU sees both of its ends."""

    def normal(parameter, deviation, mean=0.0):
        parameter.data.normal_(mean, deviation, generator=generator)

    width = model.config.n_embd
    for name, parameter in model.transformer.named_parameters():
        if name == "wte.weight":
            normal(parameter, 0.4)
        elif name == "wpe.weight":
            normal(parameter, 0.3)
        elif name.endswith("bias"):
            normal(parameter, 0.2)
        elif ".ln_" in name or name.startswith("ln_"):
            normal(parameter, 0.3, mean=1.0)
        else:
            normal(parameter, 1.2 / width**0.5)


def stored_tensors(model: GPT2LMHeadModel, case: Case) -> dict[str, torch.Tensor]:
    """The tensors of model.safetensors."""
    tensors = {case.prefix + name: parameter.detach().to(case.dtype).clone()
               for name, parameter in model.transformer.named_parameters()}
    if case.head:
        tensors["lm_head.weight"] = tensors[case.prefix + "wte.weight"].clone()
    if case.masks is not None:
        mask = torch.ones(1, 1, case.n_ctx, case.n_ctx).tril().to(case.masks)
        for layer in range(case.n_layer):
            at = f"{case.prefix}h.{layer}.attn."
            tensors[at + "bias"] = mask.clone()
            tensors[at + "masked_bias"] = torch.tensor(-1e4)
    return tensors


@torch.no_grad()
def logits_of(model: GPT2LMHeadModel, tokens: list[int]) -> torch.Tensor:
    """[tokens, n_vocab]"""
    return model.eval()(torch.tensor([tokens])).logits[0]


def make_random(case: Case) -> None:
    folder = GOLDEN / case.name
    folder.mkdir(parents=True, exist_ok=True)
    config = GPT2Config(
        vocab_size=case.n_vocab, n_positions=case.n_ctx, n_embd=case.n_embd,
        n_layer=case.n_layer, n_head=case.n_head, bos_token_id=case.n_vocab - 1,
        eos_token_id=case.n_vocab - 1, architectures=["GPT2LMHeadModel"])
    generator = torch.Generator().manual_seed(case.seed)
    model = GPT2LMHeadModel(config)
    randomize(model, generator)
    tokens = torch.randint(case.n_vocab, (case.tokens,), generator=generator).tolist()

    (folder / "config.json").write_text(config.to_json_string())
    save_file(stored_tensors(model, case), folder / "model.safetensors")

    # What is stored in half precision must be computed with as it was rounded.
    for parameter in model.parameters():
        parameter.data = parameter.data.to(case.dtype).to(torch.float32)
    single = logits_of(model, tokens)
    exact = logits_of(model.double(), tokens)
    save_file({"tokens": torch.tensor(tokens, dtype=torch.float32),
               "logits": exact.to(torch.float32)}, folder / "golden.safetensors")
    print(f"{case.name}: largest logit {exact.abs().max():.2f}, "
          f"float32 differs by {(single - exact).abs().max():.1e}")


def byte_sum(file: Path) -> int:
    """The sum of a file's bytes modulo 2^24, which an F32 holds exactly."""
    return sum(file.read_bytes()) % 2**24


@torch.no_grad()
def make_shipped(name: str) -> None:
    source = ROOT / "data" / "models" / name
    config = json.loads((source / "config.json").read_text())
    model = GPT2LMHeadModel(GPT2Config(**config))
    stored = load_file(source / "model.safetensors")
    missing, unexpected = model.transformer.load_state_dict(stored, strict=False)
    assert not unexpected and all("attn.bias" in n or "masked_bias" in n for n in missing)
    model.double()

    logits = logits_of(model, STORY_TOKENS)
    greedy, margins = [], []
    for _ in range(STORY_CONTINUED):
        row = logits_of(model, STORY_TOKENS + greedy)[-1]
        best, second = row.topk(2).values
        margins.append(float(best - second))
        greedy.append(int(row.argmax()))

    folder = GOLDEN / name
    folder.mkdir(parents=True, exist_ok=True)

    def floats(values):
        return torch.tensor(values, dtype=torch.float32)

    save_file({"tokens": floats(STORY_TOKENS),
               "argmax": logits.argmax(-1).to(torch.float32),
               "last_logits": logits[-1:].to(torch.float32),
               "greedy": floats(greedy),
               "model_byte_sum": floats([byte_sum(source / "model.safetensors")])},
              folder / "golden.safetensors")
    print(f"{name}: greedy {greedy}, closest choice won by {min(margins):.3f}")


if __name__ == "__main__":
    for each in CASES:
        make_random(each)
    for shipped in ("story", "story-draft"):
        make_shipped(shipped)
