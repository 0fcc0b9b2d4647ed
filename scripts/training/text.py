"""Text files to token ids, with the vocabulary of a model directory."""

import json
import lzma
from functools import lru_cache
from pathlib import Path

import numpy as np
import regex

END_OF_TEXT = "<|endoftext|>"

# How GPT-2 cuts a text into pieces; no token reaches across two of them.
PIECE = regex.compile(
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")


class BadInput(Exception):
    """A file that cannot be used. The message is one line."""


def read_text(file: Path) -> str:
    """The text of a UTF-8 file, or of one packed with xz."""
    try:
        with lzma.open(file) if file.suffix == ".xz" else file.open("rb") as opened:
            return opened.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{file}: byte {error.start}: expected UTF-8, found "
                       f"0x{error.object[error.start]:02x}") from error
    except (OSError, EOFError, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadInput(f"{file}: cannot be read: {reason}") from error


def byte_letters() -> list[str]:
    """The letter that stands for each byte in vocab.json and merges.txt: itself where it
    is visible, else one from 256 on."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters, free = [], 256
    for byte in range(256):
        letters.append(chr(byte if byte in visible else free))
        free += byte not in visible
    return letters


class Tokenizer:
    def __init__(self, directory: Path):
        """Reads `vocab.json` and `merges.txt`."""
        self.ids = json.loads((directory / "vocab.json").read_text("utf-8"))
        # The first line is the version. Later ones may begin with "#" and be rules.
        lines = (directory / "merges.txt").read_text("utf-8").splitlines()[1:]
        self.ranks = {tuple(line.split(" ")): rank for rank, line in enumerate(lines)}
        self.letters = byte_letters()
        # The same words come again and again: nearly all lookups end here.
        self.piece_ids = lru_cache(maxsize=1 << 18)(self.merge)

    def merge(self, piece: str) -> list[int]:
        """Applies the merge rules to one piece, the earliest rule first."""
        parts = [self.letters[byte] for byte in piece.encode("utf-8")]
        while len(parts) > 1:
            pairs = set(zip(parts, parts[1:]))
            best = min(pairs, key=lambda pair: self.ranks.get(pair, len(self.ranks)))
            if best not in self.ranks:
                break
            joined, i = [], 0
            while i < len(parts):
                if tuple(parts[i:i + 2]) == best:
                    joined.append(parts[i] + parts[i + 1])
                    i += 2
                else:
                    joined.append(parts[i])
                    i += 1
            parts = joined
        return [self.ids[part] for part in parts]

    def encode(self, text: str) -> np.ndarray:
        """Token ids [tokens]. "<|endoftext|>" becomes its one id."""
        end = np.array([self.ids[END_OF_TEXT]], np.int32)
        chapters = []
        for chapter in text.split(END_OF_TEXT):
            ids = (i for piece in PIECE.finditer(chapter)
                   for i in self.piece_ids(piece.group()))
            chapters += [np.fromiter(ids, np.int32), end]
        return np.concatenate(chapters[:-1])
