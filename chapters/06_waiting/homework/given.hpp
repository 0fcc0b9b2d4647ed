#pragma once

#include <optional>
#include <vector>

namespace homework {

/// The two parts of a wait, in seconds.
struct Pace {
    double first_token = 0;           ///< from the question to the first token
    std::optional<double> beat = {};  ///< from one token to the next: the median
};

/// A line of a server's log.
struct Stamp {
    int request;     ///< any number: it tells the requests apart
    double seconds;  ///< on the server's clock
};

/// All waits that a log shows, in seconds.
struct Waits {
    std::vector<double> first_tokens;  ///< each from a question to its first token
    std::vector<double> beats;  ///< each from one token of an answer to the next
};

}  // namespace homework
