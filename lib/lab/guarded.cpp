#include "lab/guarded.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <new>

#include "gpt2/error.hpp"
#include "lab/format.hpp"

namespace lab {

int guarded(const std::string& program, const std::function<int()>& body) {
    const auto fail = [&](const std::string& message, int status) {
        std::fflush(stdout);
        fmt::print(stderr, "{}: {}\n", program, gpt2::one_line(message));
        return status;
    };
    // A file that grows past `ulimit -f` is then an error like a full disk, not the end.
    std::signal(SIGXFSZ, SIG_IGN);
    try {
        const int status = body();
        if (std::fflush(stdout) != 0) return fail("the output cannot be written", 2);
        return status;
    } catch (const gpt2::Error& error) {
        return fail(error.what(), error.exit_status());
    } catch (const std::bad_alloc&) {
        return fail("not enough memory", 2);
    } catch (const std::exception& error) {
        return fail(error.what(), 1);
    }
}

}  // namespace lab
