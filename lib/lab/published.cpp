#include "lab/published.hpp"

#include <fmt/format.h>

#include "gpt2/error.hpp"
#include "lab/json_file.hpp"

namespace lab {

namespace {

std::string text_or_empty(const nlohmann::json& entry, const char* name) {
    const auto found = entry.find(name);
    return found != entry.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

std::map<std::string, Published> read_published(const std::filesystem::path& file) {
    std::map<std::string, Published> all;
    if (!std::filesystem::exists(file)) return all;
    const std::string where = file.string();
    const nlohmann::json json = parse_json(read_whole_file(file), where);
    if (!json.is_array()) throw gpt2::BadInput(where + ": expected an array of figures");
    for (std::size_t i = 0; i < json.size(); ++i) {
        const nlohmann::json& entry = json[i];
        if (!entry.is_object() || text_or_empty(entry, "id").empty())
            throw gpt2::BadInput(
                fmt::format("{}: [{}]: expected an object with an id", where, i));
        Published figure{
            {}, text_or_empty(entry, "unit"), text_or_empty(entry, "printed")};
        const auto value = entry.find("value");
        if (value != entry.end() && value->is_number())
            figure.value = value->get<double>();
        else if (figure.printed.empty())
            figure.printed = text_or_empty(entry, "value");
        const auto tolerance = entry.find("tolerance");
        if (text_or_empty(entry, "kind") == "exact" && tolerance != entry.end() &&
            tolerance->is_number())
            figure.tolerance = tolerance->get<double>();
        // Wherever the misprint is shown, it is shown as one.
        const auto erratum = entry.find("erratum");
        if (erratum != entry.end() && *erratum == true) figure.printed += " (an erratum)";
        all.emplace(text_or_empty(entry, "id"), std::move(figure));
    }
    return all;
}

}  // namespace lab
