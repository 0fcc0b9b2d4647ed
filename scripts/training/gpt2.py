"""GPT-2 in PyTorch, for training: no cache, no speed, nothing but the architecture.

Modules and parameters have Hugging Face's names, so that `state_dict()` is what goes into
`model.safetensors`. Shapes are [sequences, tokens, channels].
"""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Config:
    n_vocab: int
    n_ctx: int
    n_embd: int
    n_layer: int
    n_head: int


class Affine(nn.Module):
    """x @ weight + bias. GPT-2 stores weights as [in, out], nn.Linear the other way."""

    def __init__(self, n_in: int, n_out: int, deviation: float):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_in, n_out) * deviation)
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, x):
        return x @ self.weight + self.bias


class Attention(nn.Module):
    def __init__(self, config: Config, deviation: float):
        super().__init__()
        self.n_head = config.n_head
        self.c_attn = Affine(config.n_embd, 3 * config.n_embd, 0.02)
        self.c_proj = Affine(config.n_embd, config.n_embd, deviation)

    def forward(self, x):
        sequences, tokens, channels = x.shape

        def heads(y):  # to [sequences, heads, tokens, head_dim]
            return y.view(sequences, tokens, self.n_head, -1).transpose(1, 2)

        q, k, v = (heads(y) for y in self.c_attn(x).split(channels, dim=-1))
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        # The causal mask: a token sees itself and what came before.
        ahead = torch.ones(tokens, tokens, dtype=torch.bool).triu(diagonal=1)
        scores = scores.masked_fill(ahead.to(x.device), float("-inf"))
        mixed = scores.softmax(dim=-1) @ v
        return self.c_proj(mixed.transpose(1, 2).reshape(x.shape))


class MLP(nn.Module):
    def __init__(self, config: Config, deviation: float):
        super().__init__()
        self.c_fc = Affine(config.n_embd, 4 * config.n_embd, 0.02)
        self.c_proj = Affine(4 * config.n_embd, config.n_embd, deviation)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        # Two projections per layer add to the stream; the smaller start keeps the sum of
        # all of them as large as one.
        deviation = 0.02 / (2 * config.n_layer) ** 0.5
        self.ln_1 = nn.LayerNorm(config.n_embd)
        self.attn = Attention(config, deviation)
        self.ln_2 = nn.LayerNorm(config.n_embd)
        self.mlp = MLP(config, deviation)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT2(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.wte = nn.Embedding(config.n_vocab, config.n_embd)
        self.wpe = nn.Embedding(config.n_ctx, config.n_embd)
        self.h = nn.ModuleList(Block(config) for _ in range(config.n_layer))
        self.ln_f = nn.LayerNorm(config.n_embd)
        nn.init.normal_(self.wte.weight, std=0.02)
        nn.init.normal_(self.wpe.weight, std=0.02)

    def forward(self, ids, first_position):
        """Logits [sequences, tokens, n_vocab].

        ids: [sequences, tokens]; first_position: [sequences], where each begins.
        """
        positions = first_position[:, None] + torch.arange(ids.shape[1])
        x = self.wte(ids) + self.wpe(positions)
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.T  # the head is the embedding again

    def loss(self, ids, first_position):
        """Mean cross-entropy, in nats a token, of each next token.

        ids: [sequences, tokens + 1]: each token but the last is an exercise, and the one
        behind it the answer.
        """
        logits = self(ids[:, :-1], first_position)
        return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
