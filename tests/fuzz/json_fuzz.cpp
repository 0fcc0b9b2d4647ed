// Any bytes as a price list, a list of machines, a results file, the course's figures.
// The first byte chooses. What was taken must survive being written again.

#include "fuzz.hpp"
#include "lab/accelerators.hpp"
#include "lab/published.hpp"
#include "lab/results.hpp"
#include "ledger/price.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text = fuzz::text(data + 1, size - 1);
    fuzz::refuse_or_take([&] {
        switch (data[0]) {
            case 'p':
                for (const auto& price : ledger::parse_prices(text, "list")) {
                    const ledger::Usage most{1000000000000, 0, 1000000000000};
                    static_cast<void>(ledger::cost(price, {1, 1, 1}));
                    try {
                        static_cast<void>(ledger::cost(price, most));
                    } catch (const gpt2::Error&) {  // out of range: refused, not wrapped
                    }
                }
                break;
            case 'm':
                fuzz::write("machines.json", text);
                lab::read_machines(fuzz::folder() / "machines.json");
                break;
            case 'c':
                fuzz::write("published.json", text);
                lab::read_published(fuzz::folder() / "published.json");
                break;
            default: {
                const std::string once = lab::to_json(lab::parse_results(text, "file"));
                if (lab::to_json(lab::parse_results(once, "file")) != once)
                    fuzz::fault("a results file changed by being read");
            }
        }
    });
    return 0;
}
