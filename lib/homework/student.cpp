#include "homework/student.hpp"

#include <cxxabi.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>

#include "gpt2/error.hpp"

namespace homework {

namespace {

double now() {
    using Clock = std::chrono::steady_clock;
    return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

/// A type as its programmer writes it.
std::string readable(const char* mangled) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(
        abi::__cxa_demangle(mangled, nullptr, nullptr, &status), &std::free);
    std::string text = status == 0 ? name.get() : mangled;
    const auto replace = [&](const std::string& from, const std::string& to) {
        for (std::size_t at; (at = text.find(from)) != std::string::npos;)
            text.replace(at, from.size(), to);
    };
    replace("std::__cxx11::", "std::");
    replace("std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
            "std::string");
    for (const char* element : {"int", "float", "double", "std::string", "long"})
        replace(fmt::format(", std::allocator<{}> ", element), "");
    replace(" (*)", "");
    return text;
}

/// Between fork and exec: only what is safe there.
[[noreturn]] void become(const char* program, int line, int output,
                         const Limits& limits) {
    setsid();  // so that its own children end with it
    // What this program ignores, its children would too: the limit on what is printed
    // ends a student's.
    signal(SIGXFSZ, SIG_DFL);
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, 0);
    dup2(output, 1);
    dup2(output, 2);
    if (line == 3)
        fcntl(line, F_SETFD, 0);
    else
        dup2(line, 3);
    const auto limit = [](auto what, std::size_t most) {
        const rlimit both{most, most};
        setrlimit(what, &both);
    };
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, limits.printed);
    limit(RLIMIT_AS, limits.bytes);
    char* const arguments[] = {const_cast<char*>(program), nullptr};
    execv(program, arguments);
    _exit(127);
}

}  // namespace

Student::Student(std::filesystem::path program, std::filesystem::path output,
                 Limits limits)
    : program_(std::move(program)), output_(std::move(output)), limits_(limits) {}

Student::~Student() {
    if (line_ >= 0) close(line_);
    if (process_ > 0) {
        kill(-process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
}

void Student::fail(const std::string& expected, const std::string& found) const {
    throw Failed{what_, given_, expected, found};
}

void Student::begin(const std::type_info& signature) {
    if (process_ > 0) return;
    int lines[2];
    const int output =
        open(output_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
    if (output < 0)
        throw gpt2::Error(fmt::format("{}: cannot be written", output_.string()));
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, lines) != 0)
        throw gpt2::Error("a socket to a student's code cannot be made");
    fcntl(lines[0], F_SETFD, FD_CLOEXEC);
    fcntl(lines[1], F_SETFD, FD_CLOEXEC);
    fcntl(lines[0], F_SETFL, O_NONBLOCK);
    signal(SIGPIPE, SIG_IGN);  // whoever is gone is found by reading
    const std::string program = program_.string();
    process_ = fork();
    if (process_ == 0) become(program.c_str(), lines[1], output, limits_);
    close(lines[1]);
    close(output);
    line_ = lines[0];
    if (process_ < 0)
        throw gpt2::Error("a process for a student's code cannot be started");

    given_.clear();
    const std::string found = read_frame(limits_.seconds);
    if (found != signature.name()) {
        what_ = "the function has the type that the starter gave it";
        fail(readable(signature.name()), readable(found.c_str()));
    }
}

std::string Student::exchange(const std::string& message) {
    std::string frame;
    put(frame, message);
    const double deadline = now() + limits_.seconds;
    write_all(frame, deadline);
    return read_frame(deadline - now());
}

// Waits until the other side has sent something or can take something.
static bool ready(int line, short event, double deadline) {
    for (;;) {
        const double left = deadline - now();
        if (left <= 0) return false;
        pollfd one{line, event, 0};
        if (poll(&one, 1, int(left * 1000) + 1) > 0) return true;
    }
}

void Student::write_all(std::string_view bytes, double deadline) {
    while (!bytes.empty()) {
        const ssize_t sent = write(line_, bytes.data(), bytes.size());
        if (sent > 0) {
            bytes.remove_prefix(std::size_t(sent));
        } else if (errno != EAGAIN && errno != EINTR) {
            ended();
        } else if (!ready(line_, POLLOUT, deadline)) {
            fail("an answer", fmt::format("none within {:g} seconds", limits_.seconds));
        }
    }
}

void Student::read_all(char* to, std::size_t count, double& deadline) {
    while (count > 0) {
        if (!ready(line_, POLLIN, deadline))
            fail("an answer", fmt::format("none within {:g} seconds", limits_.seconds));
        const ssize_t got = read(line_, to, count);
        if (got > 0) {
            to += got;
            count -= std::size_t(got);
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            ended();
        }
    }
}

std::string Student::read_frame(double seconds) {
    double deadline = now() + seconds;
    std::uint64_t size = 0;
    read_all(reinterpret_cast<char*>(&size), sizeof size, deadline);
    constexpr std::uint64_t most = std::uint64_t(256) << 20;
    if (size > most) fail("an answer", "more bytes than any answer has");
    std::string bytes(std::size_t(size), '\0');
    read_all(bytes.data(), bytes.size(), deadline);
    return bytes;
}

void Student::ended() {
    int status = 0;
    const pid_t process = std::exchange(process_, -1);
    // It has closed its end; if it lives on all the same, it need not.
    kill(-process, SIGKILL);
    waitpid(process, &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ)
        fail("an answer", "too much printed");
    if (WIFSIGNALED(status))
        fail("an answer", fmt::format("a crash: {}", strsignal(WTERMSIG(status))));
    fail("an answer",
         fmt::format("the program ended, with status {}", WEXITSTATUS(status)));
}

}  // namespace homework
