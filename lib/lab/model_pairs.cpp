#include "lab/model_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "gpt2/error.hpp"
#include "lab/json_file.hpp"

namespace lab {

namespace {

double count(const Place& place) {
    const double number = place.number();
    // Products of two, and six times that, stay far below the largest double.
    if (!(number >= 1 && number <= 1e18)) place.fail("a number from 1 to 1e18");
    return number;
}

std::string words(const Place& place) {
    std::string text = place.text();
    if (text.empty()) place.fail("a text that is not empty");
    return text;
}

std::string address(const Place& place) {
    std::string text = place.text();
    if (!text.starts_with("https://")) place.fail("an address that begins with https://");
    return text;
}

std::string name(const Place& place) {
    std::string text = words(place);
    if (text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") !=
        std::string::npos)
        place.fail("an id of small letters, digits and _");
    return text;
}

PublicModel model(const Place& place) {
    place.only({"id", "name", "source", "parameters", "tokens", "trained", "note"});
    PublicModel read{.id = name(place["id"]),
                     .name = words(place["name"]),
                     .source = address(place["source"]),
                     .parameters = count(place["parameters"]),
                     .tokens = count(place["tokens"]),
                     .trained = {}};
    if (const Place trained = place["trained"]; !trained.is_null()) {
        trained.only({"gpu", "hours"});
        read.trained = {name(trained["gpu"]), count(trained["hours"])};
    }
    return read;
}

}  // namespace

std::vector<ModelPair> read_model_pairs(const std::filesystem::path& file) {
    const nlohmann::json json = read_json(file);
    const Place place(json, file.string());
    place.only({"models", "pairs"});

    std::map<std::string, PublicModel> models;
    for (const Place& entry : place["models"].list())
        if (!models.try_emplace(entry["id"].text(), model(entry)).second)
            entry["id"].fail("an id of its own");
    const auto named = [&](const Place& id) {
        const auto found = models.find(id.text());
        if (found == models.end()) id.fail("the id of a model");
        return found->second;
    };

    std::vector<ModelPair> pairs;
    for (const Place& entry : place["pairs"].list()) {
        entry.only({"id", "small", "large", "alike"});
        ModelPair pair{.id = name(entry["id"]),
                       .small = named(entry["small"]),
                       .large = named(entry["large"]),
                       .alike = words(entry["alike"])};
        if (std::ranges::find(pairs, pair.id, &ModelPair::id) != pairs.end())
            entry["id"].fail("an id of its own");
        if (!(pair.small.parameters < pair.large.parameters))
            entry["small"].fail("a model of fewer parameters than `large`");
        pairs.push_back(std::move(pair));
    }
    if (pairs.empty()) place["pairs"].fail("a pair or more");
    return pairs;
}

}  // namespace lab
