#pragma once

#include <sys/types.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace beside {

/// A program that answers every question, a line of JSON, with another one. It runs
/// beside this one until the partner is destroyed; its stderr is ours.
class Partner {
public:
    /// @param command  as a shell reads it
    /// @throws Error where no process can be started.
    explicit Partner(const std::string& command);
    ~Partner();
    Partner(const Partner&) = delete;

    /// Asks, and waits for the answer.
    /// @throws Unavailable where the program ended with status 77, Error where it ended
    ///         with another one or answered something else than an object.
    nlohmann::json ask(const nlohmann::json& question);

private:
    std::string answer_line();
    int wait();

    pid_t process_ = -1;
    std::FILE *to_ = nullptr, *from_ = nullptr;
};

}  // namespace beside
