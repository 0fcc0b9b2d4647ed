#pragma once

#include <vector>

#include "given.hpp"

namespace homework {

/// What each round of an agent is billed for.
inline std::vector<Request> requests(const Agent& agent) {
    std::vector<Request> all;
    int prompt = agent.first, held = 0;  // held: in the KV cache
    for (int round = 0; round < agent.rounds; ++round) {
        const int known = held / agent.block * agent.block;
        all.push_back({prompt, known, agent.write});
        held = prompt + agent.write - 1;
        prompt += agent.write + agent.back;
    }
    return all;
}

}  // namespace homework
