#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "gpt2/dtype.hpp"

namespace lab {

/// What a whole number may be, both ends included.
struct Whole {
    int least = 1;
    int most = std::numeric_limits<int>::max();
    std::optional<int> quick = {};  ///< the default under --quick, where it is another
};

/// What a number with a fraction may be, both ends included.
struct Real {
    double least = 0;
    double most = std::numeric_limits<double>::max();
};

/// The options of a program. Each is bound to a variable, whose value at that time is the
/// default. Names begin with "--".
class Arguments {
public:
    Arguments(const std::string& program, const std::string& description);
    ~Arguments();
    Arguments(const Arguments&) = delete;

    void add(const std::string& name, int& value, const std::string& help,
             Whole range = {});
    void add(const std::string& name, double& value, const std::string& help,
             Real range = {});
    void add(const std::string& name, std::string& value, const std::string& help);
    void add(const std::string& name, bool& value, const std::string& help);  ///< a flag

    /// A value that a function of its own reads, and refuses by throwing BadInput.
    void add(const std::string& name, const std::function<void(const std::string&)>& read,
             const std::string& help, const std::string& shown_default);

    /// Sets the variables. After "--help" it prints the options and returns false.
    /// @throws BadInput for anything else than the options added: unknown, repeated,
    ///         without its value, out of range, or with rubbish behind a number.
    bool parse(int argc, const char* const* argv);

    /// Gives the whole numbers that were not set their defaults for --quick.
    void use_quick_defaults();

private:
    struct Parser;
    std::unique_ptr<Parser> parser_;
};

/// The options that all chapters share.
struct Options {
    std::filesystem::path model;  ///< a model directory; empty: the shipped story model
    std::string shape;  ///< empty: the program's own default, or "own" with --model
    std::string device = "cpu";
    gpt2::DType dtype = gpt2::DType::f32;
    gpt2::DType kv = gpt2::DType::f32;
    int threads = 0;  ///< 0: all processors
    std::uint64_t seed = 1;
    bool quick = false;
    std::filesystem::path json;  ///< where the results file goes; empty: nowhere
};

/// Adds them, bound to `options`.
void add_common(Arguments& arguments, Options& options);

}  // namespace lab
