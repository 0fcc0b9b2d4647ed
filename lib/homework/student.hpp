#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <typeinfo>

#include "homework/archive.hpp"
#include "homework/show.hpp"

namespace homework {

/// Why a task is not done yet.
struct Failed {
    std::string what;      ///< what does not hold, in a few words
    std::string given;     ///< the arguments; may be empty
    std::string expected;  ///< of the function
    std::string found;     ///< instead
};

/// What a student's code may use up.
struct Limits {
    double seconds = 10;               ///< for one call, on the clock on the wall
    std::size_t bytes = 4ull << 30;    ///< of address space
    std::size_t printed = 1ull << 20;  ///< bytes in any file, its own output included
};

/// A student's function, in a process of its own.
///
/// It may crash, loop, print or end: that ends the task and nothing else. Whatever it
/// sends is taken for an answer, and compared.
class Student {
public:
    /// @param program  as worker.cpp makes it
    /// @param output   the file that takes what it prints
    Student(std::filesystem::path program, std::filesystem::path output, Limits limits);
    ~Student();
    Student(const Student&) = delete;

    /// The function's answer to these arguments, each of exactly the type of the
    /// function's parameter.
    /// @throws Failed where none comes in time, or its type is another
    template <class R, class... A>
    R call(const A&... arguments) {
        begin(typeid(R(*)(A...)));
        std::string message;
        (put(message, arguments), ...);
        given_.clear();
        ((given_ += (given_.empty() ? "" : "; ") + show(arguments)), ...);
        const std::string answer = exchange(message);
        try {
            std::string_view in = answer;
            bool answered = false;
            get(in, answered);
            if (!answered) {
                std::string error;
                get(in, error);
                fail("no exception", "an exception: " + error);
            }
            R result{};
            get(in, result);
            if (!in.empty()) throw Malformed();
            return result;
        } catch (const Malformed& error) {
            fail("an answer", error.what());
        }
    }

    /// Asks, and compares.
    /// @param what       a sentence that should hold, such as "the future is masked"
    /// @param tolerance  for floating-point numbers, as in same()
    /// @throws Failed where the answer is another
    template <class R, class... A>
    void expect(const std::string& what, const R& expected, double tolerance,
                const A&... arguments) {
        checking(what);
        const R found = call<R>(arguments...);
        if (!same(expected, found, tolerance)) fail(show(expected), show(found));
    }

    /// Names what is checked next, for messages.
    void checking(const std::string& what) { what_ = what; }

    /// Gives up, with what was last checked and given.
    [[noreturn]] void fail(const std::string& expected, const std::string& found) const;

private:
    void begin(const std::type_info& signature);
    std::string exchange(const std::string& message);
    std::string read_frame(double seconds);
    void read_all(char* to, std::size_t count, double& deadline);
    void write_all(std::string_view bytes, double deadline);
    [[noreturn]] void ended();

    std::filesystem::path program_, output_;
    Limits limits_;
    pid_t process_ = -1;
    int line_ = -1;
    std::string what_, given_;
};

}  // namespace homework
