#include "lab/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string_view>
#include <vector>

#include "gpt2/config.hpp"
#include "gpt2/error.hpp"
#include "lab/format.hpp"

namespace lab {

namespace {

/// The whole of `text` as a number of that type, in decimal.
template <typename Number>
std::optional<Number> read_number(const std::string& text) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end) return std::nullopt;
    return value;
}

template <typename Number>
Number read_within(const std::string& name, const std::string& text, const char* kind,
                   Number least, Number most) {
    const std::optional<Number> value = read_number<Number>(text);
    // Not-a-number is within no range.
    if (!value || !(*value >= least && *value <= most))
        throw gpt2::BadInput(fmt::format("{}: expected {} from {} to {}, found '{}'",
                                         name, kind, least, most, text));
    return *value;
}

}  // namespace

struct Arguments::Parser {
    CLI::App app;
    std::vector<std::function<void()>> quick_defaults;

    CLI::Option* add(const std::string& name,
                     const std::function<void(const std::string&)>& read,
                     const std::string& help, const std::string& shown_default) {
        const std::string shown = shown_default.empty() ? "" : " [" + shown_default + "]";
        return app.add_option_function<std::string>(name, read, help + shown)
            ->type_name("");
    }
};

Arguments::Arguments(const std::string& program, const std::string& description)
    : parser_(new Parser{CLI::App(description, program), {}}) {
    parser_->app.set_help_flag("--help", "Print this and stop");
}

Arguments::~Arguments() = default;

void Arguments::add(const std::string& name, int& value, const std::string& help,
                    Whole range) {
    std::string shown = std::to_string(value);
    if (range.quick) shown += fmt::format("; {} with --quick", *range.quick);
    CLI::Option* const option = parser_->add(
        name,
        [name, range, &value](const std::string& text) {
            value = read_within(name, text, "a whole number", range.least, range.most);
        },
        help, shown);
    if (range.quick)
        parser_->quick_defaults.push_back([option, range, &value] {
            if (option->count() == 0) value = *range.quick;
        });
}

void Arguments::add(const std::string& name, double& value, const std::string& help,
                    Real range) {
    parser_->add(
        name,
        [name, range, &value](const std::string& text) {
            value = read_within(name, text, "a number", range.least, range.most);
        },
        help, fmt::format("{}", value));
}

void Arguments::add(const std::string& name, std::string& value,
                    const std::string& help) {
    parser_->add(
        name, [&value](const std::string& text) { value = text; }, help, value);
}

void Arguments::add(const std::string& name, bool& value, const std::string& help) {
    parser_->app.add_flag(name, value, help);
}

void Arguments::add(const std::string& name,
                    const std::function<void(const std::string&)>& read,
                    const std::string& help, const std::string& shown_default) {
    parser_->add(name, read, help, shown_default);
}

bool Arguments::parse(int argc, const char* const* argv) {
    try {
        parser_->app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        std::fputs(parser_->app.help().c_str(), stdout);
        return false;
    } catch (const CLI::Error& error) {
        throw gpt2::BadInput(gpt2::one_line(error.what()) +
                             " (--help lists the options)");
    }
    return true;
}

void Arguments::use_quick_defaults() {
    for (const auto& set_default : parser_->quick_defaults) set_default();
}

void add_common(Arguments& arguments, Options& options) {
    arguments.add(
        "--model", [&](const std::string& text) { options.model = text; },
        "A model directory", "data/models/story");

    std::string shapes = "own";
    for (const std::string& name : gpt2::preset_names()) shapes += ", " + name;
    arguments.add(
        "--shape",
        [&options, shapes](const std::string& text) {
            if (text != "own") {
                const auto& names = gpt2::preset_names();
                if (std::find(names.begin(), names.end(), text) == names.end())
                    throw gpt2::BadInput(fmt::format(
                        "--shape: expected one of {}, found '{}'", shapes, text));
            }
            options.shape = text;
        },
        "The model's own shape, or the one to widen it to: " + shapes,
        "small; own with --model");

    arguments.add(
        "--device",
        [&](const std::string& text) {
            if (text != "cpu" && text != "cuda")
                throw gpt2::BadInput(
                    fmt::format("--device: expected cpu or cuda, found '{}'", text));
            options.device = text;
        },
        "Where the model runs: cpu or cuda", options.device);

    arguments.add(
        "--dtype",
        [&](const std::string& text) {
            options.dtype = gpt2::parse_dtype(text, "--dtype");
        },
        "Weights in memory: f32, f16, bf16 or int8", "f32");
    arguments.add(
        "--kv",
        [&](const std::string& text) {
            if (text != "f32" && text != "f16")
                throw gpt2::BadInput(
                    fmt::format("--kv: expected f32 or f16, found '{}'", text));
            options.kv = gpt2::parse_dtype(text, "--kv");
        },
        "KV cache: f32 or f16", "f32");

    arguments.add(
        "--threads",
        [&](const std::string& text) {
            options.threads = read_within("--threads", text, "a whole number", 1, 256);
        },
        "Threads", "all processors");
    arguments.add(
        "--seed",
        [&](const std::string& text) {
            options.seed = read_within("--seed", text, "a whole number", std::uint64_t(0),
                                       std::numeric_limits<std::uint64_t>::max());
        },
        "For everything random", std::to_string(options.seed));
    arguments.add("--quick", options.quick,
                  "Seconds instead of minutes; the same checks");
    arguments.add(
        "--json", [&](const std::string& text) { options.json = text; },
        "Write a results file", "");
}

}  // namespace lab
