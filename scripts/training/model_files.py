"""A trained model as the directory that the programs load."""

import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import save

from training.gpt2 import GPT2, Config
from training.text import BadInput


def write_model(model: GPT2, config: Config, end_of_text: int,
                vocabulary: Path, out: Path) -> None:
    """config.json, model.safetensors in F16, and the vocabulary beside them."""
    tensors = {name: tensor.detach().to(torch.float16).contiguous()
               for name, tensor in model.state_dict().items()}
    for name, tensor in tensors.items():
        if not tensor.isfinite().all():
            raise BadInput(f"{name}: not finite in F16; try a lower --rate")
    out.mkdir(parents=True, exist_ok=True)
    (out / "model.safetensors").write_bytes(save(tensors, metadata={"format": "pt"}))
    (out / "config.json").write_text(json.dumps({
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        "activation_function": "gelu_new",
        "vocab_size": config.n_vocab,
        "n_positions": config.n_ctx,
        "n_ctx": config.n_ctx,
        "n_embd": config.n_embd,
        "n_layer": config.n_layer,
        "n_head": config.n_head,
        "layer_norm_epsilon": 1e-05,
        "bos_token_id": end_of_text,
        "eos_token_id": end_of_text,
    }, indent=1) + "\n")
    for name in ("vocab.json", "merges.txt"):
        shutil.copyfile(vocabulary / name, out / name)
