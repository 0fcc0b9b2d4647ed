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

  // ledger::stay on a machine that only fetches, in closed form: pass i of n holds
  // first + each * i positions, and takes the weights' bytes and theirs over the
  // bandwidth. Weights in GB, bandwidth in GB/s, a token's cache in MB; waits in seconds,
  // capacities in GB times seconds. C's copies share the prompt, or have one each (apart).
  ways({ weights, bandwidth, cache, prompt, answer, thinking, copies }) {
    const stay = (n, first, each) => {
      const kv = cache / 1000;
      const held = n * first + each * n * (n - 1) / 2;
      const squares = n * first ** 2 + first * each * n * (n - 1)
        + each ** 2 * n * (n - 1) * (2 * n - 1) / 6;
      return { wait: (n * weights + kv * held) / bandwidth,
        capacity: kv * (weights * held + kv * squares) / bandwidth };
    };
    const a = stay(answer, prompt, 1), b = stay(thinking + answer, prompt, 1);
    const c = stay(answer, copies * prompt, copies), shared = stay(answer, prompt, copies);
    return { aWait: a.wait, bWait: b.wait, cWait: c.wait,
      aCapacity: a.capacity, bCapacity: b.capacity, cCapacity: c.capacity,
      sharedCapacity: shared.capacity, bOver: b.capacity / a.capacity,
      sharedOver: shared.capacity / a.capacity };
  },

  // ledger::break_even, and what either has cost after so many uses. All costs are in one
  // unit, whichever.
  life({ largeOnce, largeUse, smallOnce, smallUse, uses }) {
    const dearer = smallOnce - largeOnce;
    const saved = largeUse - smallUse;
    const paysBack = saved > 0 || saved === 0 && dearer <= 0;
    const even = paysBack ? Math.max(0, saved > 0 ? dearer / saved : 0) : NaN;
    return { even, large: largeOnce + uses * largeUse, small: smallOnce + uses * smallUse };
  },

  // ledger::cost of the first round, and ledger::bill of all of them, with nothing kept and
  // with whole blocks of 32 positions kept. Prices in dollars a million tokens; answers in
  // dollars, whose last digits are a double's: the library's are exact.
  bill({ input, output, cached, first, more, write, rounds }) {
    const cost = (handed, known) =>
      ((handed - known) * input + known * cached + write * output) / 1e6;
    let without = 0, kept = 0;
    for (let k = 0, handed = first, known = 0; k < rounds; ++k) {
      without += cost(handed, 0);
      kept += cost(handed, known);
      known = Math.floor((handed + write - 1) / 32) * 32;
      handed += more + write;
    }
    return { request: cost(first, 0), without, kept };
  },

  // ledger::tokens_per_trip, speed_up and best_guesses. A pass of the target costs 1 up to
  // `knee` tokens, and beyond in proportion; a guess costs `draft` per cent of that. The
  // best is looked for among 0 (plain decoding) to 64.
  speculate({ guesses, acceptance, draft, knee }) {
    const tokens = (k) => {
      let sum = 0, right = 1;
      for (let i = 0; i <= k; ++i, right *= acceptance / 100) sum += right;
      return sum;
    };
    const cost = (k) => k * (draft / 100) + Math.max(1, (k + 1) / knee);
    const times = (k) => tokens(k) * cost(0) / cost(k);
    let best = 0;
    for (let k = 1; k <= 64; ++k) if (times(k) > times(best)) best = k;
    return { tokens: tokens(guesses), times: times(guesses), best, bestTimes: times(best) };
  },

  // ledger::majority_right, a tie being lost, any_right, tries_until_right and
  // samples_needed, for n tries of which each is right with a chance of p per cent
  odds({ p, n, wanted }) {
    const right = Math.log(p / 100), wrong = Math.log1p(-p / 100);
    const any = (tries) => -Math.expm1(tries * wrong);
    let ways = 0, majority = 0;  // the logarithm of n over k
    for (let k = n; 2 * k > n; --k) {
      majority += Math.exp(ways + k * right + (n - k) * wrong);
      ways += Math.log(k / (n - k + 1));
    }
    let needed = Math.max(1, Math.ceil(Math.log1p(-wanted / 100) / wrong));
    while (needed > 1 && any(needed - 1) >= wanted / 100) --needed;
    while (any(needed) < wanted / 100) ++needed;
    return { majority, verifier: any(n), until: any(n) / (p / 100), needed };
  },
};
if (typeof module !== "undefined") module.exports = calculators;
