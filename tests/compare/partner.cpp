#include "compare/partner.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "gpt2/error.hpp"

extern char** environ;

namespace beside {

Partner::Partner(const std::string& command) {
    // A partner that has ended must not end this process when it is asked something.
    std::signal(SIGPIPE, SIG_IGN);
    int questions[2], answers[2];
    if (pipe(questions) != 0 || pipe(answers) != 0)
        throw gpt2::Error(fmt::format("pipe: {}", std::strerror(errno)));
    for (const int end : {questions[0], questions[1], answers[0], answers[1]})
        fcntl(end, F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, questions[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, answers[1], STDOUT_FILENO);
    const std::string exec = "exec " + command;
    std::string words[] = {"sh", "-c", exec};
    char* const arguments[] = {words[0].data(), words[1].data(), words[2].data(),
                               nullptr};
    const int error =
        posix_spawn(&process_, "/bin/sh", &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(questions[0]);
    close(answers[1]);
    to_ = fdopen(questions[1], "w");
    from_ = fdopen(answers[0], "r");
    if (error != 0) {
        process_ = -1;
        throw gpt2::Error(fmt::format("{}: {}", command, std::strerror(error)));
    }
}

Partner::~Partner() {
    std::fclose(to_);  // the end of its input ends it
    std::fclose(from_);
    wait();
}

nlohmann::json Partner::ask(const nlohmann::json& question) {
    std::fputs((question.dump() + "\n").c_str(), to_);
    std::fflush(to_);
    const std::string line = answer_line();
    const nlohmann::json answer = nlohmann::json::parse(line, nullptr, false);
    if (!answer.is_object())
        throw gpt2::Error(fmt::format("the other side: expected an object, found '{}'",
                                      line.substr(0, 60)));
    return answer;
}

std::string Partner::answer_line() {
    std::string line;
    for (int c; (c = std::getc(from_)) != '\n';) {
        if (c == EOF) {
            const int status = wait();
            const std::string what =
                fmt::format("the other side ended with status {}", status);
            if (status == 77) throw gpt2::Unavailable(what);
            throw gpt2::Error(what);
        }
        line += char(c);
    }
    return line;
}

int Partner::wait() {
    if (process_ < 0) return -1;
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace beside
