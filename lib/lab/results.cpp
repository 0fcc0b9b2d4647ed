#include "lab/results.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>

#include "gpt2/error.hpp"
#include "lab/json_file.hpp"

namespace lab {

namespace {

using nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

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

OrderedJson write(const MachineInfo& machine) {
    return {{"cpu", machine.cpu},
            {"slug", machine.slug},
            {"cores", machine.cores},
            {"threads", machine.threads},
            {"memory_bytes", machine.memory_bytes},
            {"ceilings",
             {{"read_bandwidth", machine.ceilings.read_bandwidth},
              {"multiply_add_peak", machine.ceilings.multiply_add_peak}}},
            {"gpu", nullptr}};
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

/// A value of a results file and the way to it, for messages.
class Place {
public:
    Place(const json& value, std::string path) : value_(value), path_(std::move(path)) {}

    Place operator[](const char* name) const {
        if (!value_.is_object()) fail("an object");
        const auto found = value_.find(name);
        if (found == value_.end())
            throw gpt2::BadInput(fmt::format("{}: {}: missing", path_, name));
        return {*found, path_ + ": " + name};
    }

    bool is_null() const { return value_.is_null(); }

    std::string text() const {
        if (!value_.is_string()) fail("a text");
        return value_.get<std::string>();
    }
    bool truth() const {
        if (!value_.is_boolean()) fail("true or false");
        return value_.get<bool>();
    }
    double number() const {
        if (!value_.is_number()) fail("a number");
        return value_.get<double>();
    }
    std::int64_t count() const {
        const bool fits = value_.is_number_unsigned() &&
                          value_.get<std::uint64_t>() <=
                              std::uint64_t(std::numeric_limits<std::int64_t>::max());
        if (!fits) fail("a whole number, 0 or more");
        return value_.get<std::int64_t>();
    }
    int small_count() const {
        if (count() > std::numeric_limits<int>::max()) fail("a smaller number");
        return int(count());
    }
    std::vector<Place> list() const {
        if (!value_.is_array()) fail("a list");
        std::vector<Place> places;
        for (std::size_t i = 0; i < value_.size(); ++i)
            places.emplace_back(value_[i], fmt::format("{}[{}]", path_, i));
        return places;
    }

    [[noreturn]] void fail(const char* expected) const {
        std::string found = value_.dump(-1, ' ', false, json::error_handler_t::replace);
        if (found.size() > 40) found = found.substr(0, 40) + "...";
        throw gpt2::BadInput(
            fmt::format("{}: expected {}, found {}", path_, expected, found));
    }

private:
    const json& value_;
    std::string path_;
};

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
        .threads = machine.threads};
    return machine;
}

std::optional<ModelInfo> read_model(const Place& place) {
    if (place.is_null()) return std::nullopt;
    return ModelInfo{place["name"].text(),         place["origin"].text(),
                     place["shape"].text(),        place["dtype"].text(),
                     place["kv"].text(),           place["parameters"].count(),
                     place["weight_bytes"].count()};
}

std::filesystem::path beside(const std::filesystem::path& file) {
    return file.string() + ".part" + std::to_string(getpid());
}

[[noreturn]] void cannot_write(const std::filesystem::path& file) {
    throw gpt2::BadInput(
        fmt::format("{}: cannot be written: {}", file.string(), std::strerror(errno)));
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

std::string to_json(const Results& results) {
    OrderedJson all = {
        {"schema", 1},
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
    return all.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

Results parse_results(std::string_view text, const std::string& where) {
    const json value = parse_json(text, where);
    const Place top(value, where);
    if (top["schema"].count() != 1) top["schema"].fail("1");
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
                    .checks = {}};
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
    return results;
}

Results read_results(const std::filesystem::path& file) {
    return parse_results(read_whole_file(file), file.string());
}

void check_writable(const std::filesystem::path& file) {
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        throw gpt2::BadInput(
            fmt::format("{}: cannot be written: not a regular file", file.string()));
    const std::filesystem::path trial = beside(file);
    if (!std::ofstream(trial)) cannot_write(file);
    std::filesystem::remove(trial, error);
}

void write_whole_file(const std::filesystem::path& file, std::string_view content) {
    const std::filesystem::path part = beside(file);
    std::ofstream out(part, std::ios::binary);
    out.write(content.data(), std::streamsize(content.size()));
    out.close();
    if (out && std::rename(part.c_str(), file.c_str()) == 0) return;
    const int reason = errno;
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    errno = reason;
    cannot_write(file);
}

}  // namespace lab
