#include "lab/results.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpt2/error.hpp"
#include "gpt2/json.hpp"
#include "lab/json_file.hpp"

namespace lab {

namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int schema = 3;  // since the ceilings know the last cache

OrderedJson write(const std::optional<double>& value) {
    return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson write(const std::optional<Published>& published) {
    if (!published) return nullptr;
    return {{"value", write(published->value)},
            {"unit", published->unit},
            {"printed", published->printed}};
}

OrderedJson write(const Measured& measured) {
    return {{"min", measured.min},
            {"median", measured.median},
            {"max", measured.max},
            {"runs", measured.runs}};
}

/// A line for each row: there are many, and their cells belong together.
std::string write(const Exhibit& exhibit) {
    std::string text =
        fmt::format("{{\"id\": {}, \"columns\": {}, \"rows\": [",
                    OrderedJson(exhibit.id).dump(), OrderedJson(exhibit.columns).dump());
    for (const Cells& cells : exhibit.rows) {
        OrderedJson row = OrderedJson::array();
        for (const Cell& cell : cells)
            std::visit([&](const auto& value) { row.push_back(value); }, cell);
        text += (&cells == &exhibit.rows[0] ? "\n      " : ",\n      ") + row.dump();
    }
    return text + "]}";
}

OrderedJson write(const std::optional<GpuCeilings>& gpu) {
    if (!gpu) return nullptr;
    return {{"name", gpu->name},
            {"multiprocessors", gpu->multiprocessors},
            {"read_bandwidth", gpu->read_bandwidth},
            {"copy_bandwidth", gpu->copy_bandwidth},
            {"multiply_add_f32", gpu->multiply_add_f32},
            {"matrix_bf16", gpu->matrix_bf16},
            {"graph_node", gpu->graph_node},
            {"grid_barrier", gpu->grid_barrier}};
}

OrderedJson write(const MachineInfo& machine) {
    return {{"cpu", machine.cpu},
            {"slug", machine.slug},
            {"cores", machine.cores},
            {"threads", machine.threads},
            {"memory_bytes", machine.memory_bytes},
            {"ceilings",
             {{"read_bandwidth", machine.ceilings.read_bandwidth},
              {"multiply_add_peak", machine.ceilings.multiply_add_peak},
              {"cache_bytes", machine.ceilings.cache_bytes},
              {"cache_bandwidth", machine.ceilings.cache_bandwidth}}},
            {"gpu", write(machine.gpu)}};
}

OrderedJson write(const std::optional<ModelInfo>& model) {
    if (!model) return nullptr;
    return {{"name", model->name},
            {"origin", model->origin},
            {"shape", model->shape},
            {"dtype", model->dtype},
            {"kv", model->kv},
            {"parameters", model->parameters},
            {"weight_bytes", model->weight_bytes}};
}

std::optional<double> read_optional(const Place& place) {
    if (place.is_null()) return std::nullopt;
    return place.number();
}

std::optional<Published> read_published_figure(const Place& place) {
    if (place.is_null()) return std::nullopt;
    return Published{read_optional(place["value"]), place["unit"].text(),
                     place["printed"].text()};
}

Measured read_measured(const Place& place) {
    return {place["min"].number(), place["median"].number(), place["max"].number(),
            place["runs"].small_count()};
}

std::optional<GpuCeilings> read_gpu(const Place& place) {
    if (place.is_null()) return std::nullopt;
    return GpuCeilings{place["name"].text(),
                       place["multiprocessors"].small_count(),
                       place["read_bandwidth"].number(),
                       place["copy_bandwidth"].number(),
                       place["multiply_add_f32"].number(),
                       place["matrix_bf16"].number(),
                       place["graph_node"].number(),
                       place["grid_barrier"].number()};
}

MachineInfo read_machine(const Place& place) {
    MachineInfo machine{.cpu = place["cpu"].text(),
                        .slug = place["slug"].text(),
                        .cores = place["cores"].small_count(),
                        .threads = place["threads"].small_count(),
                        .memory_bytes = place["memory_bytes"].count()};
    // It names a folder.
    if (machine.slug.empty() ||
        machine.slug.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") !=
            std::string::npos)
        place["slug"].fail("a name of a-z, 0-9 and -");
    machine.ceilings = {
        .read_bandwidth = place["ceilings"]["read_bandwidth"].number(),
        .multiply_add_peak = place["ceilings"]["multiply_add_peak"].number(),
        .threads = machine.threads,
        .cache_bytes = place["ceilings"]["cache_bytes"].number(),
        .cache_bandwidth = place["ceilings"]["cache_bandwidth"].number()};
    machine.gpu = read_gpu(place["gpu"]);
    return machine;
}

std::optional<ModelInfo> read_model(const Place& place) {
    if (place.is_null()) return std::nullopt;
    return ModelInfo{place["name"].text(),         place["origin"].text(),
                     place["shape"].text(),        place["dtype"].text(),
                     place["kv"].text(),           place["parameters"].count(),
                     place["weight_bytes"].count()};
}

Exhibit read_exhibit(const Place& place) {
    Exhibit exhibit{.id = place["id"].text(), .columns = {}, .rows = {}};
    for (const Place& column : place["columns"].list())
        exhibit.columns.push_back(column.text());
    for (const Place& row : place["rows"].list()) {
        Cells& cells = exhibit.rows.emplace_back();
        for (const Place& cell : row.list())
            if (cell.is_text())
                cells.emplace_back(cell.text());
            else
                cells.emplace_back(cell.number());
    }
    try {
        check_exhibit(exhibit, place.path());
    } catch (const gpt2::Error& error) {
        throw gpt2::BadInput(error.what());
    }
    return exhibit;
}

}  // namespace

int Results::checks_held() const {
    return int(std::count_if(checks.begin(), checks.end(),
                             [](const Check& c) { return c.holds; }));
}

const Row* Results::headline_row() const {
    for (const Row& row : rows)
        if (row.id == headline) return &row;
    return nullptr;
}

const Exhibit* Results::find_exhibit(const std::string& id) const {
    for (const Exhibit& exhibit : exhibits)
        if (exhibit.id == id) return &exhibit;
    return nullptr;
}

std::string to_json(const Results& results) {
    OrderedJson all = {
        {"schema", schema},
        {"chapter", results.chapter},
        {"title", results.title},
        {"question", results.question},
        {"keep", results.keep},
        {"quick", results.quick},
        {"headline", results.headline},
        {"date", results.date},
        {"commit", results.commit},
        {"build", results.build},
        {"machine", write(results.machine)},
        {"model", write(results.model)},
        {"rows", OrderedJson::array()},
        {"notes", OrderedJson::array()},
        {"checks", OrderedJson::array()},
    };
    for (const Row& row : results.rows)
        all["rows"].push_back({{"id", row.id},
                               {"what", row.what},
                               {"unit", row.unit},
                               {"predicted", write(row.predicted)},
                               {"measured", write(row.measured)},
                               {"published", write(row.published)}});
    for (const Note& note : results.notes)
        all["notes"].push_back({{"id", note.id},
                                {"what", note.what},
                                {"value", note.value},
                                {"unit", note.unit},
                                {"published", write(note.published)}});
    for (const Check& check : results.checks)
        all["checks"].push_back({{"id", check.id},
                                 {"what", check.what},
                                 {"holds", check.holds},
                                 {"detail", check.detail}});
    std::string text = all.dump(2, ' ', false, OrderedJson::error_handler_t::replace);
    text.resize(text.size() - 2);  // "\n}"
    text += ",\n  \"exhibits\": [";
    for (const Exhibit& exhibit : results.exhibits)
        text +=
            (&exhibit == &results.exhibits[0] ? "\n    " : ",\n    ") + write(exhibit);
    return text + "]\n}\n";
}

namespace {

Results read(const nlohmann::json& value, const std::string& where) {
    const Place top(value, where);
    if (top["schema"].count() != schema) top["schema"].fail("3");
    Results results{.chapter = top["chapter"].text(),
                    .title = top["title"].text(),
                    .question = top["question"].text(),
                    .keep = top["keep"].text(),
                    .quick = top["quick"].truth(),
                    .headline = top["headline"].text(),
                    .date = top["date"].text(),
                    .commit = top["commit"].text(),
                    .build = top["build"].text(),
                    .machine = read_machine(top["machine"]),
                    .model = read_model(top["model"]),
                    .rows = {},
                    .notes = {},
                    .checks = {},
                    .exhibits = {}};
    for (const Place& row : top["rows"].list())
        results.rows.push_back({row["id"].text(), row["what"].text(), row["unit"].text(),
                                read_optional(row["predicted"]),
                                read_measured(row["measured"]),
                                read_published_figure(row["published"])});
    for (const Place& note : top["notes"].list())
        results.notes.push_back({note["id"].text(), note["what"].text(),
                                 note["value"].number(), note["unit"].text(),
                                 read_published_figure(note["published"])});
    for (const Place& check : top["checks"].list())
        results.checks.push_back({check["id"].text(), check["what"].text(),
                                  check["holds"].truth(), check["detail"].text()});
    for (const Place& exhibit : top["exhibits"].list()) {
        if (results.find_exhibit(exhibit["id"].text()))
            exhibit["id"].fail("an id of its own");
        results.exhibits.push_back(read_exhibit(exhibit));
    }
    return results;
}

}  // namespace

Results parse_results(std::string_view text, const std::string& where) {
    return read(gpt2::parse_json(text, where), where);
}

Results read_results(const std::filesystem::path& file) {
    return read(read_json(file), file.string());
}

}  // namespace lab
