#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace gpt2 {

/// A text on one line, for messages: what was found, or a file's name, may have held line
/// ends, or orders to the terminal. Other control characters become `\u{1b}`, bytes that
/// are no part of a character `\xe8`.
std::string one_line(std::string_view text);

/// Every error that this library throws. `exit_status` is what a program should end with.
class Error : public std::runtime_error {
public:
    /// @param what         without the name of the program; put on one line
    /// @param exit_status  1 where nothing better has been agreed on
    explicit Error(const std::string& what, int exit_status = 1)
        : std::runtime_error(one_line(what)), exit_status_(exit_status) {}

    /// 1, or 2 for BadInput and 77 for Unavailable.
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
    /// Exit status 2.
    explicit BadInput(const std::string& what) : Error(what, 2) {}
};

/// Something needed is not on this machine: a GPU, OpenAI's weights.
class Unavailable : public Error {
public:
    /// Exit status 77, which test runners take for "skipped".
    explicit Unavailable(const std::string& what) : Error(what, 77) {}
};

}  // namespace gpt2
