#include "gpt2/json.hpp"

#include <fmt/format.h>

#include <unordered_set>
#include <vector>

#include "gpt2/error.hpp"

namespace gpt2 {

namespace {

std::string shortened(const std::string& text, std::size_t size) {
    return text.size() <= size ? text : text.substr(0, size - 3) + "...";
}

/// What the parser says, without the name that it gives its error.
std::string reason(const nlohmann::json::exception& error) {
    const std::string what = error.what();
    const std::size_t name = what.find("] ");
    return shortened(name == std::string::npos ? what : what.substr(name + 2), 200);
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& where) {
    using Event = nlohmann::json::parse_event_t;
    std::vector<std::unordered_set<std::string>> names;  // of the objects that are open
    const auto watch = [&](int depth, Event event, nlohmann::json& value) {
        if (depth > 64)
            throw BadInput(fmt::format("{}: not JSON: nested deeper than 64", where));
        if (event == Event::object_start) names.emplace_back();
        if (event == Event::object_end) names.pop_back();
        if (event == Event::key && !names.back().insert(value.get<std::string>()).second)
            throw BadInput(
                fmt::format("{}: {} stands twice in one object", where, shown(value)));
        return true;
    };
    try {
        return nlohmann::json::parse(text, watch);
    } catch (const nlohmann::json::exception& error) {
        throw BadInput(fmt::format("{}: not JSON: {}", where, reason(error)));
    }
}

std::string shown(const nlohmann::json& value) {
    return shortened(value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace),
                     60);
}

}  // namespace gpt2
