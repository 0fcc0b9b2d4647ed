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
    int least = 1;                               ///< the lower end
    int most = std::numeric_limits<int>::max();  ///< the upper end
    std::optional<int> quick = {};  ///< the default under `--quick`, where it is another
};

/// What a number with a fraction may be, both ends included.
struct Real {
    double least = 0;                                  ///< the lower end
    double most = std::numeric_limits<double>::max();  ///< the upper end
};

/// The options of a program. Each is bound to a variable, whose value at that time is the
/// default. Names begin with `--`.
///
/// A variable must outlive the parsing. Errors name the option and what it expects.
class Arguments {
public:
    /// Options of a program by that name; the description stands at the head of `--help`.
    Arguments(const std::string& program, const std::string& description);
    ~Arguments();
    Arguments(const Arguments&) = delete;

    /// A whole number, in decimal.
    void add(const std::string& name, int& value, const std::string& help,
             Whole range = {});

    /// A number with a fraction, in decimal.
    void add(const std::string& name, double& value, const std::string& help,
             Real range = {});

    /// Any text.
    void add(const std::string& name, std::string& value, const std::string& help);

    /// A flag, which takes no value.
    void add(const std::string& name, bool& value, const std::string& help);

    /// A value that a function of its own reads, and refuses by throwing BadInput.
    void add(const std::string& name, const std::function<void(const std::string&)>& read,
             const std::string& help, const std::string& shown_default);

    /// Sets the variables. After `--help` it prints the options and returns false.
    /// @throws BadInput for anything else than the options added: unknown, repeated,
    ///         without its value, out of range, or with rubbish behind a number.
    bool parse(int argc, const char* const* argv);

    /// Gives the whole numbers that were not set their defaults for `--quick`.
    void use_quick_defaults();

private:
    struct Parser;
    std::unique_ptr<Parser> parser_;
};

/// The options that all chapters share.
struct Options {
    std::filesystem::path model;  ///< a model directory; empty: the shipped story model
    std::string shape;  ///< empty: the program's own default, or "own" with `--model`
    std::string device = "cpu";            ///< where the model runs
    gpt2::DType dtype = gpt2::DType::f32;  ///< of the weights in memory
    gpt2::DType kv = gpt2::DType::f32;     ///< of the KV cache
    int threads = 0;                       ///< 1 to 256; 0: all processors
    std::uint64_t seed = 1;                ///< of everything random
    bool quick = false;                    ///< seconds, not minutes; the same checks
    std::filesystem::path json;  ///< where the results file goes; empty: nowhere
};

/// Adds them, bound to `options`.
void add_common(Arguments& arguments, Options& options);

}  // namespace lab
