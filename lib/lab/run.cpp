#include "gpt2/cpu/processor.hpp"
#include "gpt2/file.hpp"
#include "lab/experiment.hpp"
#include "lab/guarded.hpp"

namespace lab {

namespace {

int run_unguarded(int argc, const char* const* argv, const Program& program) {
    gpt2::cpu::require_processor();
    Options options;
    Arguments arguments(program.name, program.title + "\n" + program.question);
    if (program.arguments) program.arguments(arguments);
    add_common(arguments, options);
    if (!arguments.parse(argc, argv)) return 0;
    // A model that was named runs as it is; the shipped ones stand in for a larger one.
    const bool shipped = options.model.empty() || options.model == "random";
    if (options.shape.empty()) options.shape = shipped ? program.shape : "own";
    if (options.quick) arguments.use_quick_defaults();
    // Now, not after the minutes of work.
    if (!options.json.empty()) gpt2::check_writable(options.json);

    Experiment lab(program, options);
    program.experiment(lab);
    lab.print();
    const Results& results = lab.results();
    if (!options.json.empty()) gpt2::write_file(options.json, to_json(results));
    return results.checks_held() == int(results.checks.size()) ? 0 : 1;
}

}  // namespace

int run(int argc, const char* const* argv, const Program& program) {
    return guarded(program.name, [&] { return run_unguarded(argc, argv, program); });
}

}  // namespace lab
