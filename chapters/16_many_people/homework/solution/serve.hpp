#pragma once

#include <vector>

#include "given.hpp"

namespace homework {

/// The step in which each request is admitted, by a machine that serves them all.
inline std::vector<int> serve(const std::vector<Arrival>& arrivals, int blocks,
                              int seats) {
    struct InFlight {
        int left;      // tokens to write
        int promised;  // blocks
    };
    std::vector<InFlight> flight;
    std::vector<int> steps;
    for (int step = 0; steps.size() < arrivals.size(); ++step) {
        while (steps.size() < arrivals.size()) {
            const Arrival& head = arrivals[steps.size()];
            const int positions = head.request.prompt + head.request.answer - 1;
            const int promised = (positions + block - 1) / block;
            if (head.step > step || promised > blocks || seats == 0) break;
            flight.push_back({head.request.answer, promised});
            blocks -= promised;
            --seats;
            steps.push_back(step);
        }
        std::vector<InFlight> stay;
        for (InFlight one : flight) {
            if (--one.left > 0) {
                stay.push_back(one);
            } else {
                blocks += one.promised;
                ++seats;
            }
        }
        flight = stay;
    }
    return steps;
}

}  // namespace homework
