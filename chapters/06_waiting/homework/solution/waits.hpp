#pragma once

#include <map>
#include <vector>

#include "given.hpp"

namespace homework {

/// All waits in the log of a server that answers several people at once.
inline Waits waits(const std::vector<Stamp>& log) {
    struct Last {
        double seconds;
        bool token;  // else the question
    };
    Waits waits;
    std::map<int, Last> last;
    for (const Stamp& stamp : log) {
        const auto before = last.find(stamp.request);
        const bool token = before != last.end();
        if (token) {
            auto& list = before->second.token ? waits.beats : waits.first_tokens;
            list.push_back(stamp.seconds - before->second.seconds);
        }
        last[stamp.request] = {stamp.seconds, token};
    }
    return waits;
}

}  // namespace homework
