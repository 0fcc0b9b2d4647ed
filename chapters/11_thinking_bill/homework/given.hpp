#pragma once

namespace homework {

/// A model on a machine for which nothing counts but bytes.
struct Machine {
    double weights;    ///< bytes
    double kv;         ///< bytes that one token leaves in the KV cache
    double bandwidth;  ///< bytes a second
};

/// A way to answer: at once, after thinking, or several times in one batch.
struct Way {
    int prompt;    ///< tokens to read, at least 1
    int thinking;  ///< tokens written before it, which nobody is shown; may be 0
    int answer;    ///< tokens of one answer, at least 1
    int copies;    ///< answers written at once in one batch, at least 1
    bool shared;   ///< whether one cache of the prompt serves all copies
};

/// What an answer is to who waits for it, and to who owns the memory.
struct Stay {
    double first;     ///< seconds until the first token that is shown
    double wait;      ///< seconds until the last one
    double peak;      ///< bytes of KV cache at the end
    double capacity;  ///< bytes held, times the seconds for which they are held
};

}  // namespace homework
