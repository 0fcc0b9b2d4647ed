// Any bytes as config.json. A config that was taken must hold what its users rely on.

#include "fuzz.hpp"
#include "gpt2/config.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::write("config.json", fuzz::text(data, size));
    fuzz::refuse_or_take([] {
        const gpt2::Config config = gpt2::read_config(fuzz::folder() / "config.json");
        try {
            gpt2::check(config, "a config that was taken");
        } catch (const gpt2::BadInput& refusal) {
            fuzz::fault(refusal.what());
        }
        if (gpt2::parameters(config) <= 0) fuzz::fault("no parameters");
    });
    return 0;
}
