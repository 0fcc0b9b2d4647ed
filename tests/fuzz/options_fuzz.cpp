// Any bytes as the words of a command line, between zero bytes: every kind of option.

#include <cmath>
#include <vector>

#include "fuzz.hpp"
#include "lab/options.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::string> words{"program"};
    std::string_view rest = fuzz::text(data, size);
    while (!rest.empty() && words.size() < 64) {
        const std::size_t end = std::min(rest.find('\0'), rest.size());
        words.emplace_back(rest.substr(0, end));
        // Its own text goes to stdout.
        if (words.back() == "--help" || words.back() == "-h") words.pop_back();
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    std::vector<const char*> argv;
    for (const std::string& word : words) argv.push_back(word.c_str());
    fuzz::refuse_or_take([&] {
        int whole = 1;
        double real = 1;
        bool flag = false;
        std::string text;
        lab::Options options;
        lab::Arguments arguments("program", "Takes options.");
        arguments.add("--whole", whole, "A whole number", {.least = 1, .most = 9});
        arguments.add("--real", real, "A number", {.least = 0, .most = 9});
        arguments.add("--flag", flag, "A flag");
        arguments.add("--text", text, "A text");
        lab::add_common(arguments, options);
        if (!arguments.parse(int(argv.size()), argv.data())) return;
        if (whole < 1 || whole > 9 || !(real >= 0 && real <= 9))
            fuzz::fault("a number out of range was taken");
    });
    return 0;
}
