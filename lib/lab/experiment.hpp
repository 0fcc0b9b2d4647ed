#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpt2/load.hpp"
#include "lab/measured.hpp"
#include "lab/options.hpp"
#include "lab/results.hpp"
#include "lab/same_logits.hpp"
#include "ledger/cost.hpp"

/// What every experiment shares: options, the ceilings of the machine, repeats, tables,
/// checks and results files.
///
/// A chapter's program is one call of lab::run, which hands an Experiment to it.
namespace lab {

class Experiment;

/// A chapter's program.
struct Program {
    std::string name;      ///< of its folder, such as "04_read_vs_write"
    std::string title;     ///< of the chapter
    std::string question;  ///< in one line
    std::function<void(Experiment&)> experiment;     ///< the chapter itself
    std::function<void(Arguments&)> arguments = {};  ///< adds options of its own
    std::string shape = "small";                     ///< the default of `--shape`
};

/// The `main` of every chapter: reads the options, measures the machine's ceilings, runs
/// the experiment, prints its tables and writes its results file.
///
/// Exit status: 0; 1 when a check does not hold; 2 for bad input or too little memory, 77
/// where something needed is absent, both with one line on stderr and no results file.
int run(int argc, const char* const* argv, const Program& program);

/// What a chapter changes about the model that the options ask for. What is not set
/// stays.
struct Variant {
    std::string shape = {};                 ///< as LoadOptions::shape; empty: not set
    std::optional<gpt2::DType> dtype = {};  ///< of the weights
    std::optional<gpt2::DType> kv = {};     ///< of the KV cache
    int threads = 0;                        ///< 0: not set
};

/// What a chapter works with: options, model, text, clock, and the table it fills.
class Experiment {
public:
    /// Prints the heading, and measures the ceilings.
    Experiment(const Program& program, const Options& options);

    /// As typed, but for `model` and `shape`: here the defaults are filled in.
    const Options& options() const { return options_; }

    /// Whether to take seconds and not minutes. The checks are the same.
    bool quick() const { return options_.quick; }

    /// Threads of the model, unless a variant asks for others; at least 1.
    int threads() const { return results_.machine.threads; }

    /// The ceilings, measured with that many threads when the program began. Memory's is
    /// looked at again whenever a model has been loaded and beside each measurement,
    /// since it changes from minute to minute where others use the same memory: this is
    /// the latest look. The results file has the middle one of all. With `--device cuda`
    /// they are the GPU's, for weights of `--dtype`, looked at once.
    const ledger::Machine& machine() const {
        return results_.machine.gpu ? results_.machine.ceilings
                                    : ceilings_.at(threads()).machine;
    }

    /// The model that the options ask for, or a variant of it. Prints what it is. The
    /// results file names the first one that a chapter loads. For another number of
    /// threads the ceilings are measured too, once.
    /// @throws BadInput where the model cannot be had like this.
    std::unique_ptr<gpt2::Model> load_model(const Variant& variant = {});

    /// The tokenizer that belongs to it.
    const gpt2::Tokenizer& tokenizer();

    /// All of `data/texts/<file>`.
    /// @throws BadInput where the file is missing, empty or not UTF-8.
    std::string whole_text(const std::string& file) const;

    /// The first `n` tokens of `data/texts/<file>`.
    /// @throws BadInput where the file is missing or too short.
    std::vector<gpt2::Token> text(const std::string& file, int n);

    /// The ledger for the model that was loaded last, on this machine with its threads.
    /// It is kept up to date: asked behind time(), it predicts from memory as it was
    /// during that measurement.
    /// @throws Error before a model was loaded.
    const ledger::Engine& engine() const;

    /// Looks at memory's ceiling now: before what is not measured by time().
    void look_at_memory();

    /// Says how long the measurements will take, repeats included.
    /// @param runs  predicted seconds of one run of each
    void expect(std::initializer_list<Seconds> runs) const;

    /// Runs `work` several times (see `Budget`) and returns the seconds of one run. Shows
    /// progress on stderr where that is a terminal or a run takes more than two seconds.
    /// Once a second, before, between and behind the runs, it looks at memory's ceiling;
    /// from then on the middle one of these looks is what machine() and engine() know.
    /// @param share  of the budget's seconds, where many small things are timed
    Measured time(const std::function<void()>& work, double share = 1);

    /// A row of the table. The course's figure of the same id stands beside it.
    /// @throws Error for a measurement that is not finite.
    void row(const std::string& id, const std::string& what, const std::string& unit,
             std::optional<double> predicted, const Measured& measured);

    /// A row for how many times row b goes into row a: predicted by predicted, measured
    /// by measured.
    /// @param a, b  ids of rows that stand in the table already
    /// @throws Error where there is no such row.
    void ratio(const std::string& id, const std::string& what, const std::string& a,
               const std::string& b);

    /// A figure without a prediction. The course's figure of the same id stands beside
    /// it.
    /// @throws Error for a value that is not finite.
    void note(const std::string& id, const std::string& what, double value,
              const std::string& unit = "");

    /// The numbers behind a picture, for the results file.
    /// @throws Error as check_exhibit, and for an id that was used before.
    void exhibit(const std::string& id, std::vector<std::string> columns,
                 std::vector<Cells> rows);

    /// Something that must hold: where it does not, the program ends with status 1.
    void check(const std::string& id, const std::string& what, bool holds,
               const std::string& detail = "");

    /// The same, for a comparison that brings its figures along.
    void check(const std::string& id, const std::string& what, const Outcome& outcome);

    /// Checks that a figure computed here, in the unit of the course's figure `id`, comes
    /// out as the course prints it, within its tolerance. Without the course's figures
    /// there is nothing to check.
    /// @throws Error where `id` has no exact figure.
    void check_published(const std::string& id, double value);

    /// The one sentence to keep.
    void keep(const std::string& sentence) { results_.keep = sentence; }

    /// The row that stands for the chapter in the summary; unless it is named, the last
    /// ratio, else the first row.
    /// @throws Error where there is no such row.
    void headline(const std::string& id);

    /// Prints tables, checks and the sentence to keep.
    void print() const;

    /// All that was found so far: what becomes the results file.
    const Results& results() const { return results_; }

private:
    const Row& find(const std::string& id) const;
    std::optional<Published> published(const std::string& id) const;
    Budget budget() const { return quick() ? quick_budget : full_budget; }
    gpt2::LoadOptions load_options(const Variant& variant = {}) const;
    void measure_gpu();
    void measure_machine(int threads);
    ledger::Machine machine_for(const gpt2::LoadOptions& load);
    void take(std::vector<double> looks, int threads);

    Options options_;
    Results results_;
    bool headline_named_ = false;
    int measurements_ = 0;
    std::map<std::string, Published> published_;
    struct Ceilings {
        ledger::Machine machine;    // as it was when last looked at
        std::vector<double> looks;  // at memory, all of them, bytes/s
    };
    std::map<int, Ceilings> ceilings_;      // by threads
    std::optional<Stopwatch> since_look_;   // at memory
    std::optional<ledger::Engine> engine_;  // for the model loaded last
    std::optional<gpt2::Tokenizer> tokenizer_;
};

}  // namespace lab
