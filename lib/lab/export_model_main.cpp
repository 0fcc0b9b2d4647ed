// Writes a model's weights as files that other programs read: the shipped model as it is,
// or widened to the shape of a larger one.

#include <cstdio>

#include "gpt2/cpu/processor.hpp"
#include "gpt2/error.hpp"
#include "gpt2/load.hpp"
#include "lab/guarded.hpp"
#include "lab/options.hpp"

namespace {

int export_model(int argc, const char* const* argv) {
    gpt2::cpu::require_processor();
    std::string model = (gpt2::data_directory() / "models/story").string(), out;
    gpt2::LoadOptions options;
    int seed = 1;
    lab::Arguments arguments(
        "export_model",
        "Writes config.json and model.safetensors (f32), as Hugging Face's transformers "
        "reads them.\nNo vocabulary: token ids are those of the model that was named.");
    arguments.add("--model", model, "A model directory");
    arguments.add("--shape", options.shape,
                  "own, or the shape to widen it to: small, medium, large, xl");
    arguments.add("--seed", seed, "For what widening adds", {.least = 0});
    arguments.add("--out", out, "The directory to write to; made where there is none");
    if (!arguments.parse(argc, argv)) return 0;
    if (out.empty()) throw gpt2::BadInput("--out: expected a directory, found none");
    // Above all not the files that are being read.
    if (exists(std::filesystem::path(out) / "model.safetensors"))
        throw gpt2::BadInput("--out: " + out + " holds a model.safetensors already");
    options.seed = std::uint64_t(seed);
    gpt2::save_weights(*gpt2::open_weights(model, options), out);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return lab::guarded("export_model", [&] { return export_model(argc, argv); });
}
