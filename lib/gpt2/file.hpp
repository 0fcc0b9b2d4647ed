#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "gpt2/hold_signals.hpp"

namespace gpt2 {

/// A regular file, open for reading at any place by any thread.
///
/// It is read, never mapped: a file that is cut short or changed meanwhile gives an error
/// or other bytes, not a crash, and numbers land in memory that is aligned for them.
class OpenFile {
public:
    /// @throws BadInput where it cannot be opened, or is a folder, a pipe or a device.
    explicit OpenFile(const std::filesystem::path& file);
    ~OpenFile();
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;

    /// Bytes, when it was opened.
    std::uint64_t size() const { return size_; }

    /// Reads `count` bytes from `offset` on.
    /// @throws BadInput where it cannot be read, or has become shorter.
    void read(std::uint64_t offset, void* out, std::size_t count) const;

private:
    std::string where_;
    int fd_;
    std::uint64_t size_;
};

/// The bytes of a regular file of at most `most` bytes.
/// @throws BadInput as OpenFile, and where it is larger.
std::string read_file(const std::filesystem::path& file, std::uint64_t most);

/// A file that appears under its name when it is complete, or never. Until then it has
/// another name beside it, and requests to end the program wait.
class NewFile {
public:
    /// @throws BadInput where it cannot be made, or something that is no regular file has
    ///         its name.
    explicit NewFile(const std::filesystem::path& file);

    /// Unless it was finished, nothing is left of it.
    ~NewFile();
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    /// Appends.
    /// @throws BadInput where the disk is full, among others.
    void write(std::span<const std::byte> bytes);

    /// Puts it in the place of whatever had its name.
    /// @throws BadInput
    void finish();

private:
    [[noreturn]] void fail() const;

    HoldSignals hold_;
    std::filesystem::path file_;
    std::string part_;
    int fd_;
};

/// Writes a whole file, or leaves what was there.
/// @throws BadInput as NewFile
void write_file(const std::filesystem::path& file, std::string_view content);

/// Finds out early whether write_file() would fail, and leaves nothing behind.
/// @throws BadInput where it would.
void check_writable(const std::filesystem::path& file);

}  // namespace gpt2
