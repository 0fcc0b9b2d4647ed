#include "lab/published.hpp"

#include "lab/json_file.hpp"

namespace lab {

namespace {

/// The member of that name, or null where there is none.
Place member(const Place& entry, const nlohmann::json& json, const char* name) {
    static const nlohmann::json none;
    return json.contains(name) ? entry[name] : Place(none, entry.path());
}

}  // namespace

std::map<std::string, Published> read_published(const std::filesystem::path& file) {
    std::map<std::string, Published> all;
    if (!std::filesystem::exists(file)) return all;
    const nlohmann::json json = read_json(file);
    const std::vector<Place> entries = Place(json, file.string()).list();
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto at = [&](const char* name) {
            return member(entries[i], json[i], name);
        };
        const auto text = [&](const char* name) {
            return at(name).is_null() ? "" : at(name).text();
        };
        const std::string id = entries[i]["id"].text();
        Published figure{{}, text("unit"), text("printed")};
        if (json[i].contains("value") && json[i]["value"].is_number())
            figure.value = at("value").number();
        else if (figure.printed.empty() && at("value").is_text())
            figure.printed = text("value");
        const Place tolerance = at("tolerance");
        if (text("kind") == "exact" && !tolerance.is_null())
            figure.tolerance = tolerance.number();
        // Wherever the misprint is shown, it is shown as one.
        const Place erratum = at("erratum");
        if (!erratum.is_null() && erratum.truth()) figure.printed += " (an erratum)";
        if (id.empty() || !all.emplace(id, std::move(figure)).second)
            entries[i]["id"].fail("an id of its own");
    }
    return all;
}

}  // namespace lab
