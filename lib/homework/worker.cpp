// The process that runs a student's code. It is compiled for each task: HOMEWORK_HEADER
// is the student's file, HOMEWORK_TASK the function in it.
//
// It reads arguments, calls the function and sends back what it returns. It knows neither
// what is right nor what it is worth; so nothing that is printed, sent or broken in here
// can pass for a grade. The grader is another process and compares.

#include <stddef.h>  // size_t, with std:: and without, whatever the student includes

#include HOMEWORK_HEADER

#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <typeinfo>

#include "homework/archive.hpp"

namespace {

constexpr int line = 3;  // the socket that the grader opened

void send_all(const std::string& bytes) {
    std::string frame;
    homework::put(frame, bytes);
    for (std::size_t at = 0; at < frame.size();) {
        const ssize_t sent = write(line, frame.data() + at, frame.size() - at);
        if (sent <= 0) _exit(1);
        at += std::size_t(sent);
    }
}

std::string receive(std::size_t count) {
    std::string bytes(count, '\0');
    for (std::size_t at = 0; at < count;) {
        const ssize_t got = read(line, bytes.data() + at, count - at);
        if (got <= 0) _exit(0);  // the grader has seen enough
        at += std::size_t(got);
    }
    return bytes;
}

template <class R, class... A>
void serve(R (*function)(A...)) {
    send_all(typeid(homework::owned<R>(*)(homework::owned<A>...)).name());
    for (;;) {
        std::uint64_t size = 0;
        const std::string head = receive(sizeof size);
        std::memcpy(&size, head.data(), sizeof size);
        const std::string message = receive(std::size_t(size));
        std::string_view in = message;
        std::tuple<homework::owned<A>...> arguments;
        std::apply([&](auto&... each) { (homework::get(in, each), ...); }, arguments);
        std::string answer;
        try {
            const homework::owned<R> result = std::apply(function, arguments);
            homework::put(answer, true);
            homework::put(answer, result);
        } catch (const std::exception& error) {
            answer.clear();
            homework::put(answer, false);
            homework::put(answer, std::string(error.what()));
        }
        send_all(answer);
    }
}

}  // namespace

int main() {
    // What it prints is kept, however it ends.
    std::setvbuf(stdout, nullptr, _IOLBF, 1 << 12);
    serve(&homework::HOMEWORK_TASK);
}
