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
};
if (typeof module !== "undefined") module.exports = calculators;
