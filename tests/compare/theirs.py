"""The other side of scripts/compare: the same works with what people use.

Each line of stdin is a question in JSON, each line of stdout its answer: `begin` hands
over the model, the text and what else is needed, and is answered with the names of those
who are here, what each of them can do, and their versions; then one work of one of them
is asked for at a time, and its seconds answered. Status 77 where a package is missing.
"""

import importlib
import importlib.metadata
import json
import os
import platform
import sys
import time
import warnings
from pathlib import Path


def need(package):
    try:
        return importlib.import_module(package)
    except ImportError as missing:
        print(f"theirs.py: {package} cannot be imported: {missing}", file=sys.stderr)
        sys.exit(77)


class Transformers:
    """Hugging Face's GPT-2 on PyTorch. As on our side, a read fills the cache, and where
    only the last logits are wanted, only those are computed."""

    def __init__(self, begin):
        self.torch = need("torch")
        logging = need("transformers").logging
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        from transformers import GPT2LMHeadModel
        self.torch.set_num_threads(begin["threads"])
        self.torch.set_grad_enabled(False)
        self.model = GPT2LMHeadModel.from_pretrained(begin["weights"]).float().eval()
        self.text = self.torch.tensor([begin["text"]])
        self.written = begin["written"]
        self.works = {"read_all": self.read_all, "read_last": self.read_last,
                      "write": self.write, "cached": self.cached,
                      "uncached": self.uncached}

    def read_all(self):
        return self.best(self.model(self.text, use_cache=True).logits[:, -1])

    def read_last(self):
        return self.best(self.last_logits(self.text, use_cache=True))

    @staticmethod
    def best(logits):
        return logits.argmax(-1).tolist()

    def last_logits(self, tokens, **options):
        hidden = self.model.transformer(tokens, **options).last_hidden_state
        return self.model.lm_head(hidden[:, -1])

    def write(self):
        past = None
        for i in range(self.text.shape[1]):
            out = self.model(self.text[:, i:i + 1], past_key_values=past, use_cache=True)
            best, past = self.best(out.logits[:, -1]), out.past_key_values
        return best

    def cached(self):
        token, past = self.text[:, :1], None
        text = [token.item()]
        for _ in range(self.written):
            out = self.model(token, past_key_values=past, use_cache=True)
            token, past = out.logits[:, -1].argmax(-1, keepdim=True), out.past_key_values
            text.append(token.item())
        return text

    def uncached(self):
        text = self.text[:, :1]
        for _ in range(self.written):
            best = self.last_logits(text, use_cache=False).argmax(-1, keepdim=True)
            text = self.torch.cat([text, best], 1)
        return text[0].tolist()

    def largest_difference(self, file):
        from safetensors.torch import load_file
        ours = load_file(file)["logits"]
        return (self.model(self.text).logits[0] - ours).abs().max().item()

    def versions(self):
        blas = "MKL" if self.torch.backends.mkl.is_available() else "system BLAS"
        return {"torch": f"{self.torch.__version__} ({blas})"}


class Tiktoken:
    """OpenAI's tokenizer with GPT-2's vocabulary, made from our files: its own way to get
    them is a download."""

    # As in tiktoken_ext/openai_public.py.
    PATTERN = (r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|"
               r"\s++$|\s+(?!\S)|\s")

    def __init__(self, begin):
        vocabulary = json.loads((Path(begin["vocabulary"]) / "vocab.json").read_text("utf-8"))
        end = "<|endoftext|>"
        special = {end: vocabulary.pop(end)}
        alphabet = self.alphabet()
        ranks = {bytes(alphabet[c] for c in entry): id for entry, id in vocabulary.items()}
        self.encoding = need("tiktoken").Encoding(
            "gpt2", pat_str=self.PATTERN, mergeable_ranks=ranks, special_tokens=special)
        self.prose, self.copies = begin["prose"], begin["copies"]
        self.works = {"encode": self.encode}

    @staticmethod
    def alphabet():
        """The character that stands for each byte in vocab.json: itself where it can be
        seen, else one of those from 256 on."""
        seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
        hidden = [byte for byte in range(256) if byte not in seen]
        return {**{chr(byte): byte for byte in seen},
                **{chr(256 + i): byte for i, byte in enumerate(hidden)}}

    def encode(self):
        for _ in range(self.copies):
            tokens = self.encoding.encode_ordinary(self.prose)
        return tokens

    def versions(self):
        return {}


def begin(question):
    # Before anything makes threads: as many processors as threads, like our side's.
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, allowed[:question["threads"]])
    sides = {"transformers": Transformers(question), "tiktoken": Tiktoken(question)}
    versions = {"python": platform.python_version()}
    for package in ("transformers", "tiktoken"):
        versions[package] = importlib.metadata.version(package)
    for side in sides.values():
        versions.update(side.versions())
    for name in sorted(os.environ):
        if name.startswith(("OMP_", "MKL_", "OPENBLAS_")):
            versions[name] = os.environ[name]
    works = {name: list(side.works) for name, side in sides.items()}
    return sides, {"versions": versions, "works": works}


def main():
    warnings.simplefilter("ignore")  # of names that will change in a later version
    # What others print must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sides = {}
    for line in sys.stdin:
        question = json.loads(line)
        if question["work"] == "begin":
            sides, answer = begin(question)
        elif question["work"] == "logits":
            answer = {"largest_difference":
                      sides["transformers"].largest_difference(question["file"])}
        else:
            run = sides[question["who"]].works[question["work"]]
            start = time.perf_counter()
            tokens = run()
            answer = {"seconds": time.perf_counter() - start, "tokens": tokens}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
