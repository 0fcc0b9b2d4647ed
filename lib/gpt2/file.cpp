#include "gpt2/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "gpt2/error.hpp"

namespace gpt2 {

static_assert(sizeof(off_t) >= 8, "offsets into files pass 2^31");

OpenFile::OpenFile(const std::filesystem::path& file) : where_(file.string()) {
    // A pipe would otherwise wait here for its writer; on a file the flag is idle.
    fd_ = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd_ < 0)
        throw BadInput(
            fmt::format("{}: cannot be opened: {}", where_, std::strerror(errno)));
    struct stat status;
    if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) {
        ::close(fd_);
        throw BadInput(fmt::format("{}: expected a regular file", where_));
    }
    size_ = std::uint64_t(status.st_size);
}

OpenFile::~OpenFile() { ::close(fd_); }

void OpenFile::read(std::uint64_t offset, void* out, std::size_t count) const {
    char* to = static_cast<char*>(out);
    while (count > 0) {
        const ssize_t got = ::pread(fd_, to, count, off_t(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            throw BadInput(fmt::format("{}: byte {}: cannot be read: {}", where_, offset,
                                       std::strerror(errno)));
        if (got == 0)
            throw BadInput(
                fmt::format("{}: byte {}: expected {} more bytes, found the "
                            "end: the file has become shorter",
                            where_, offset, count));
        to += got;
        offset += std::uint64_t(got);
        count -= std::size_t(got);
    }
}

std::string read_file(const std::filesystem::path& file, std::uint64_t most) {
    const OpenFile open(file);
    if (open.size() > most)
        throw BadInput(fmt::format("{}: expected at most {} bytes, found {}",
                                   file.string(), most, open.size()));
    std::string content(std::size_t(open.size()), '\0');
    open.read(0, content.data(), content.size());
    return content;
}

NewFile::NewFile(const std::filesystem::path& file) : file_(file) {
    // Renaming would put a file in the place of a device.
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        throw BadInput(
            fmt::format("{}: cannot be written: not a regular file", file.string()));
    // Two writers, threads or processes, must not share one.
    static std::atomic<int> count = 0;
    part_ = fmt::format("{}.{}-{}.part", file.string(), ::getpid(), count++);
    fd_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0) fail();
}

NewFile::~NewFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!part_.empty()) ::unlink(part_.c_str());
}

void NewFile::write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t put = ::write(fd_, bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) fail();
        bytes = bytes.subspan(std::size_t(put));
    }
}

void NewFile::finish() {
    if (::close(std::exchange(fd_, -1)) != 0) fail();
    if (::rename(part_.c_str(), file_.c_str()) != 0) fail();
    part_.clear();
}

void NewFile::fail() const {
    throw BadInput(
        fmt::format("{}: cannot be written: {}", file_.string(), std::strerror(errno)));
}

void write_file(const std::filesystem::path& file, std::string_view content) {
    NewFile out(file);
    out.write(std::as_bytes(std::span(content)));
    out.finish();
}

void check_writable(const std::filesystem::path& file) { const NewFile trial(file); }

}  // namespace gpt2
