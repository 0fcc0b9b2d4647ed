#pragma once

#include <stdexcept>
#include <string>

namespace gpt2 {

/// Every error that this library throws. `exit_status` is what a program should end with.
class Error : public std::runtime_error {
public:
    explicit Error(const std::string& what, int exit_status = 1)
        : std::runtime_error(what), exit_status_(exit_status) {}

    int exit_status() const { return exit_status_; }

private:
    int exit_status_;
};

/// Something handed in cannot be used: a file, an option, a prompt, an id.
///
/// The message is one line: the file (or the argument), the place in it, what was
/// expected and what was found.
class BadInput : public Error {
public:
    explicit BadInput(const std::string& what) : Error(what, 2) {}
};

/// Something needed is not on this machine: a GPU, OpenAI's weights.
class Unavailable : public Error {
public:
    explicit Unavailable(const std::string& what) : Error(what, 77) {}
};

}  // namespace gpt2
