"use strict";
// The calculators: the ledger's arithmetic once more, in the reader's browser. A test
// compares them with the C++ ledger on a grid of inputs.
const calculators = {
  // ledger::kv_bytes_per_token, and how many sequences a memory of so many GiB holds
  kv({ layers, heads, dim, bytes, tokens, gib }) {
    const perToken = 2 * layers * heads * dim * bytes;
    const perSequence = perToken * tokens;
    return { perToken, perSequence, sequences: Math.floor(gib * 2 ** 30 / perSequence) };
  },

  // ledger::predict, for one token of each sequence: the weights are fetched once, each
  // cache once; a weight is multiplied and added once for every sequence. Sizes in GB,
  // bandwidth in GB/s, peak in TFLOP/s; answers in seconds.
  pace({ weights, bytes, bandwidth, peak, sequences, cache }) {
    const fetching = (weights + sequences * cache) / bandwidth;
    const flops = 2 * (weights * 1e9 / bytes) * sequences;
    const multiplying = flops / (peak * 1e12);
    const beat = Math.max(fetching, multiplying);
    return { fetching, multiplying, beat, rate: sequences / beat };
  },

  // ledger::predict again, for as many sequences as memory holds beside the weights: the
  // matrices, whose bytes all share, and then the caches, one trip for each. Sizes in GB,
  // a token's cache in KiB, bandwidth in GB/s, peak in TFLOP/s; the beat in seconds.
  // The model's size is not in the knee: a larger one has more to fetch and to multiply.
  fit({ weights, bytes, memory, bandwidth, peak, kib, tokens }) {
    const cache = kib * 1024 * tokens;
    const fit = Math.max(0, Math.floor((memory - weights) * 1e9 / cache));
    const knee = bytes * peak * 500 / bandwidth;
    const trip = weights / bandwidth;
    const beat = fit ? trip * Math.max(1, fit / knee) + fit * cache / (bandwidth * 1e9) : NaN;
    return { fit, knee, beat, rate: fit / beat };
  },
};
if (typeof module !== "undefined") module.exports = calculators;
