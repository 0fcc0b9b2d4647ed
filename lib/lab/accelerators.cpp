#include "lab/accelerators.hpp"

#include <fmt/format.h>

#include "gpt2/error.hpp"
#include "lab/json_file.hpp"

namespace lab {

namespace {

double rate(const Place& place) {
    const double number = place.number();
    // Neither overflows when a few of them are multiplied.
    if (!(number >= 1 && number <= 1e18)) place.fail("a number from 1 to 1e18");
    return number;
}

int dimension(const Place& place) {
    const int number = place.small_count();
    if (number < 1 || number > 1 << 20) place.fail("a whole number from 1 to 1048576");
    return number;
}

ledger::Accelerator accelerator(const Place& place) {
    return {rate(place["memory"]), rate(place["bandwidth"]), rate(place["flops"])};
}

ledger::Transformer transformer(const Place& place) {
    // In the order of the members. Their products stay below 2^63 for layers up to 1,024.
    const ledger::Transformer model{
        dimension(place["layers"]),   dimension(place["hidden"]),
        dimension(place["heads"]),    dimension(place["kv_heads"]),
        dimension(place["head_dim"]), dimension(place["inner"]),
        dimension(place["vocab"])};
    if (model.layers > 1024) place["layers"].fail("a whole number from 1 to 1024");
    if (model.heads % model.kv_heads != 0)
        place["heads"].fail(
            fmt::format("a multiple of kv_heads = {}", model.kv_heads).c_str());
    if (std::int64_t(model.heads) * model.head_dim > 1 << 20)
        place["head_dim"].fail("at most 1048576 channels in all heads");
    return model;
}

template <class T>
std::map<std::string, Sourced<T>> entries(const Place& list, T (*numbers)(const Place&)) {
    std::map<std::string, Sourced<T>> all;
    for (const Place& entry : list.list()) {
        const std::string id = entry["id"].text();
        if (!all.try_emplace(id, Sourced<T>{entry["name"].text(), entry["source"].text(),
                                            numbers(entry)})
                 .second)
            entry["id"].fail("an id of its own");
    }
    return all;
}

template <class T>
const T& named(const std::map<std::string, Sourced<T>>& all, const std::string& id,
               const char* what) {
    const auto found = all.find(id);
    if (found == all.end())
        throw gpt2::BadInput(fmt::format("machines: no {} '{}'", what, id));
    return found->second.numbers;
}

}  // namespace

ledger::Serving Catalogue::serving(const std::string& model,
                                   const std::string& accelerator, int devices) const {
    return {named(models, model, "model"),
            named(accelerators, accelerator, "accelerator"), devices};
}

Catalogue read_machines(const std::filesystem::path& file) {
    const nlohmann::json json = read_json(file);
    const Place place(json, file.string());
    return {entries(place["accelerators"], accelerator),
            entries(place["models"], transformer)};
}

}  // namespace lab
