#pragma once

#include <signal.h>

namespace gpt2 {

/// While it lives, a request to end (SIGINT, SIGTERM, SIGHUP) waits: what was begun is
/// finished first.
///
/// It speaks for its own thread, and for the threads that this one starts meanwhile.
/// These never take such requests, so whoever holds them in the thread of main() holds
/// them for the program.
class HoldSignals {
public:
    HoldSignals() {
        sigset_t requests;
        sigemptyset(&requests);
        for (const int request : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&requests, request);
        pthread_sigmask(SIG_BLOCK, &requests, &before_);
    }
    ~HoldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    HoldSignals(const HoldSignals&) = delete;

private:
    sigset_t before_;
};

}  // namespace gpt2
