#include "gpt2/safetensors.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "gpt2/error.hpp"
#include "largest_allocation.hpp"
#include "support.hpp"

namespace {

using gpt2::BadInput;
using gpt2::DType;
using gpt2::Safetensors;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

const fs::path cases = fs::path(TEST_DATA) / "safetensors";

class SafetensorsTest : public testing::Test {
protected:
    fs::path write(const std::string& bytes) const {
        const fs::path path = folder_ / "test.safetensors";
        support::spew(path, bytes);
        return path;
    }

    const support::TempDir temporary_;
    const fs::path& folder_ = temporary_.path();
};

std::string with_length(std::uint64_t length, const std::string& rest) {
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &length, 8);
    return bytes + rest;
}

std::string file_of(const std::string& header, std::size_t data_size) {
    return with_length(header.size(), header + std::string(data_size, '\1'));
}

using support::slurp;

std::vector<float> values(const Safetensors& file, const Safetensors::Tensor& tensor) {
    std::vector<float> out(std::size_t(tensor.elements()));
    file.read(tensor, 0, out);
    return out;
}

/// The message of the refusal, or "" where the file was accepted. Anything else that is
/// thrown fails the test.
std::string refusal(const fs::path& path) {
    try {
        const Safetensors file(path);
        // What was accepted must be readable.
        for (const Safetensors::Tensor& tensor : file.tensors())
            if (tensor.dtype) values(file, tensor);
    } catch (const BadInput& error) {
        EXPECT_EQ(error.exit_status(), 2);
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos)
            << error.what();
        EXPECT_LT(std::strlen(error.what()), 600u);
        EXPECT_THAT(error.what(), HasSubstr(path.string()));
        return error.what();
    }
    return "";
}

TEST_F(SafetensorsTest, EveryCaseOfTheManifest) {
    const auto manifest = nlohmann::json::parse(slurp(cases / "manifest.json"));
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(cases))
        files += entry.path().extension() == ".safetensors";
    EXPECT_EQ(manifest.size(), files);
    for (const auto& item : manifest) {
        const std::string name = item["file"], expect = item["expect"];
        const std::string message = refusal(cases / name);
        if (expect.starts_with("accept"))
            EXPECT_EQ(message, "") << name;
        else
            EXPECT_NE(message, "") << name << ": " << expect;
    }
}

TEST_F(SafetensorsTest, RefusalsSayWhatIsWrong) {
    const std::pair<const char*, const char*> expected[] = {
        {"bad_len_past_end", "header length: expected at most 0 bytes"},
        {"bad_len_100M1", "found 100000001"},
        {"bad_len_zero", "expected to begin with '{'"},
        {"bad_len_short", "not JSON"},
        {"bad_len_long", "not JSON"},
        {"bad_not_utf8", "expected to begin with '{'"},
        {"bad_bom", "expected to begin with '{'"},
        {"bad_truncated", "expected 16 bytes of data behind the header, found 14"},
        {"bad_overlap_partial", "data_offsets: expected to begin where"},
        {"bad_dup_key", "duplicate name \"a\""},
        {"bad_dup_key_same_span", "duplicate name \"a\""},
        {"bad_reversed", "data_offsets: expected 16 bytes, found 16 to 0"},
        {"bad_negative", "data_offsets: expected two whole numbers"},
        {"bad_neg_shape", "shape: expected whole numbers from 0 to 2^63 - 1, found -2"},
        {"bad_float_shape", "found \"2.0\""},
        {"bad_three_offsets", "data_offsets: expected two whole numbers"},
        {"bad_size", "data_offsets: expected 16 bytes"},
        {"bad_empty_span", "data_offsets: expected 4 bytes, found 0 to 0"},
        {"bad_overflow_32", "data_offsets: expected 4295229440 bytes"},
        {"bad_dtype", "dtype: expected a type of the format, found \"F31\""},
        {"bad_dtype_case", "found \"f32\""},
        {"bad_missing_field", "dtype: missing"},
        {"bad_metadata_type", "__metadata__: expected a string"},
    };
    for (const auto& [name, message] : expected)
        EXPECT_THAT(refusal(cases / fmt::format("{}.safetensors", name)),
                    HasSubstr(message))
            << name;
}

TEST_F(SafetensorsTest, ValuesOfTheGoodCases) {
    const Safetensors plain(cases / "ok_min.safetensors");
    ASSERT_EQ(plain.tensors().size(), 1u);
    EXPECT_THAT(plain.tensors()[0].shape, ElementsAre(2, 2));
    EXPECT_EQ(plain.tensors()[0].type_name, "F32");
    EXPECT_THAT(values(plain, plain.tensors()[0]), ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(plain.find("wte"), nullptr);
    EXPECT_EQ(plain.find("wte.weight"), &plain.tensors()[0]);

    const float infinity = std::numeric_limits<float>::infinity();
    const Safetensors bf16(cases / "ok_bf16.safetensors");
    EXPECT_THAT(values(bf16, *bf16.find("t")),
                ElementsAre(1.0f, -3.0f, infinity, 0x1p-133f));
    const Safetensors f16(cases / "ok_f16.safetensors");
    const std::vector<float> halves = values(f16, *f16.find("t"));
    EXPECT_THAT(halves, ElementsAre(1.0f, 0x1p-24f, 0x1p-15f, 65504.0f, infinity, -0.0f));
    EXPECT_TRUE(std::signbit(halves[5]));

    const Safetensors scalar(cases / "ok_scalar.safetensors");
    EXPECT_TRUE(scalar.tensors()[0].shape.empty());
    EXPECT_EQ(scalar.tensors()[0].elements(), 1);
    EXPECT_THAT(values(scalar, scalar.tensors()[0]), ElementsAre(-10000.0f));

    const Safetensors empty(cases / "ok_zero_dim.safetensors");
    EXPECT_EQ(empty.tensors()[0].elements(), 0);
    EXPECT_TRUE(values(empty, empty.tensors()[0]).empty());

    const Safetensors order(cases / "ok_header_order.safetensors");
    EXPECT_EQ(order.tensors()[0].name, "a");
    EXPECT_THAT(values(order, *order.find("a")), ElementsAre(7.0f));
    EXPECT_THAT(values(order, *order.find("b")), ElementsAre(8.0f));

    const Safetensors named(cases / "ok_utf8_name.safetensors");
    EXPECT_NE(named.find("h\u00e9.\U0001F600"), nullptr);
}

TEST_F(SafetensorsTest, TruncatedAtEveryLengthOrLonger) {
    for (const char* name : {"ok_min", "ok_header_order", "ok_space_padded", "ok_bf16"}) {
        const std::string whole = slurp(cases / fmt::format("{}.safetensors", name));
        for (std::size_t length = 0; length < whole.size(); ++length)
            EXPECT_NE(refusal(write(whole.substr(0, length))), "")
                << name << ' ' << length;
        for (std::size_t extra : {1, 5, 4096})
            EXPECT_THAT(refusal(write(whole + std::string(extra, '\0'))),
                        HasSubstr("bytes of data behind the header"));
        EXPECT_EQ(refusal(write(whole)), "");
    }
}

TEST_F(SafetensorsTest, HolesAndOverlaps) {
    const auto two = [&](const char* a, const char* b, std::size_t size) {
        return refusal(write(
            file_of(fmt::format(R"({{"a":{{"dtype":"U8","shape":[4],"data_offsets":{}}},)"
                                R"("b":{{"dtype":"U8","shape":[4],"data_offsets":{}}}}})",
                                a, b),
                    size)));
    };
    EXPECT_EQ(two("[0,4]", "[4,8]", 8), "");
    EXPECT_EQ(two("[4,8]", "[0,4]", 8), "");
    EXPECT_THAT(two("[0,4]", "[5,9]", 9), HasSubstr("tensor \"b\""));  // a hole
    EXPECT_THAT(two("[1,5]", "[5,9]", 9), HasSubstr("tensor \"a\""));  // before the first
    EXPECT_THAT(two("[0,4]", "[4,8]", 9), HasSubstr("found 9"));       // after the last
    EXPECT_THAT(two("[0,4]", "[3,7]", 7), HasSubstr("tensor \"b\""));
    EXPECT_NE(two("[0,4]", "[0,4]", 4), "");
    EXPECT_NE(two("[0,4]", "[0,4]", 8), "");
    EXPECT_NE(two("[4,8]", "[4,8]", 8), "");
    EXPECT_NE(two("[0,4]", "[18446744073709551612,18446744073709551616]", 8), "");
    EXPECT_NE(two("[0,4]", "[18446744073709551611,18446744073709551615]", 8), "");
}

TEST_F(SafetensorsTest, ShapesThatDoNotFit) {
    const auto one = [&](const char* dtype, const char* shape, std::size_t size) {
        return refusal(write(file_of(
            fmt::format(R"({{"t":{{"dtype":"{}","shape":{},"data_offsets":[0,{}]}}}})",
                        dtype, shape, size),
            size)));
    };
    EXPECT_EQ(one("F32", "[1,1,1,2]", 8), "");
    EXPECT_EQ(one("F32", "[0,4611686018427387904]", 0), "");
    EXPECT_EQ(one("F32", "[0]", 0), "");
    EXPECT_NE(one("F32", "[0]", 4), "");
    EXPECT_NE(one("F32", "[3,0,5]", 4), "");
    // Each wraps to a size that is right.
    EXPECT_THAT(one("U8", "[4294967296,4294967296]", 0), HasSubstr("2^63 - 1 elements"));
    EXPECT_NE(one("U8", "[4294967296,4294967296,0]", 0), "");
    EXPECT_NE(one("U8", "[4294967297,4294967297]", 8), "");
    EXPECT_THAT(one("F64", "[2305843009213693953]", 8), HasSubstr("2^64 - 1 bytes"));
    EXPECT_NE(one("F32", "[9223372036854775808]", 0), "");
    EXPECT_NE(one("F32", "[18446744073709551615]", 4), "");
    EXPECT_NE(one("F32", "[18446744073709551617]", 4), "");
    EXPECT_NE(one("F32", "[1e0]", 4), "");
    EXPECT_NE(one("F32", "[-0]", 0), "");
    EXPECT_NE(one("F32", "[true]", 4), "");
    EXPECT_NE(one("F32", "[null]", 4), "");
    EXPECT_NE(one("F32", "[[1]]", 4), "");
    EXPECT_NE(one("F32", "[{}]", 4), "");
    EXPECT_NE(one("F32", "[\"1\"]", 4), "");
    EXPECT_NE(one("F32", "1", 4), "");
    EXPECT_NE(one("F32", "{}", 4), "");
}

TEST_F(SafetensorsTest, EveryTypeHasItsSizeAndFewAreRead) {
    const std::pair<const char*, std::size_t> types[] = {
        {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1},
        {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},
        {"U32", 4},  {"F32", 4}, {"F64", 8}, {"I64", 8},     {"U64", 8},
    };
    for (const auto& [name, size] : types) {
        const auto header = [&](std::size_t end) {
            return fmt::format(
                R"({{"t":{{"dtype":"{}","shape":[3],"data_offsets":[0,{}]}}}})", name,
                end);
        };
        EXPECT_NE(refusal(write(file_of(header(3 * size - 1), 3 * size - 1))), "")
            << name;
        const Safetensors file(write(file_of(header(3 * size), 3 * size)));
        const Safetensors::Tensor& tensor = file.tensors()[0];
        EXPECT_EQ(tensor.type_name, name);
        float out[3];
        const std::string_view type = name;
        if (type == "F32" || type == "F16" || type == "BF16") {
            EXPECT_NO_THROW(file.read(tensor, 0, out));
        } else {
            EXPECT_FALSE(tensor.dtype);
            EXPECT_THROW(file.read(tensor, 0, out), BadInput) << name;
        }
    }
    for (const char* name : {"F31", "f32", "F32 ", "", "float32", "I4", "F3"})
        EXPECT_THAT(
            refusal(write(file_of(
                fmt::format(
                    R"({{"t":{{"dtype":"{}","shape":[1],"data_offsets":[0,4]}}}})", name),
                4))),
            HasSubstr("dtype: expected a type of the format"));
}

TEST_F(SafetensorsTest, HeadersOfTheWrongKind) {
    const std::string good = R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
    const std::string bad[] = {
        "[]",
        "3",
        "null",
        "\"a\"",
        " {}",
        "{",
        "{}}",
        "{}{}",
        "{} x",
        "{\"t\"}",
        "{\"t\":}",
        "{\"t\":1}",
        "{\"t\":[]}",
        "{\"t\":null}",
        "{\"t\":\"F32\"}",
        "{\"t\":true}",
        "{\"t\":1.5}",
        "{\"t\":{}}",
        "{\"t\":1e999}",
        R"({"__metadata__":[]})",
        R"({"__metadata__":{"a":{}}})",
        R"({"__metadata__":{"a":null}})",
        R"({"__metadata__":{"a":"1","a":"2"}})",
        R"({"__metadata__":{},"__metadata__":{}})",
        R"({"t":{"dtype":1,"shape":[1],"data_offsets":[0,1]}})",
        R"({"t":{"dtype":["U8"],"shape":[1],"data_offsets":[0,1]}})",
        R"({"t":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
        R"({"t":{"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]}})",
        R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"data_offsets":[0,1]}})",
        R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"strides":[1]}})",
        R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0]}})",
        R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[]}})",
        R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1.0]}})",
        R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,"1"]}})",
        R"({"t":{"dtype":"U8","shape":[1],"data_offsets":{"0":1}}})",
        R"({"t":{"dtype":"U8","shape":[1]}})",
        R"({"t":{"dtype":"U8","data_offsets":[0,1]}})",
        "{\"t\":" + good + ",}",
        "{\"t\":" + good + "}//",
        "{\"t\":" + good + "}/**/",
        "{\"t\xff\":" + good + "}",
        "{\"t\xc0\xaf\":" + good + "}",
        "{\"t\xed\xa0\x80\":" + good + "}",
        R"({"t\ud800":)" + good + "}",
        "{\"t\n\":" + good + "}",
        "{\"t\":" + good + "}" + '\0',
        "{\"t\":" + good + "}" + '\0' + "x",
        std::string(200'000, '{'),
        "{\"t\":" + std::string(1'000'000, '['),
        "{\"t\":{\"shape\":" + std::string(1'000'000, '['),
        "{\"__metadata__\":{\"a\":" + std::string(1'000'000, '['),
    };
    for (const std::string& header : bad)
        EXPECT_NE(refusal(write(file_of(header, 1))), "") << header.substr(0, 80);
    EXPECT_EQ(refusal(write(file_of("{\"t\":" + good + "}", 1))), "");
    EXPECT_EQ(refusal(write(file_of("{}", 0))), "");
    EXPECT_NE(refusal(write(file_of("{}", 1))), "");
    EXPECT_EQ(refusal(write(file_of(R"({"__metadata__":{"a":"1","b":"2"}})", 0))), "");
}

TEST_F(SafetensorsTest, MessagesStayOneShortLine) {
    const std::string name = "a\\nb" + std::string(10'000, 'x');
    const std::string message = refusal(write(file_of("{\"" + name + "\":3}", 0)));
    EXPECT_THAT(message, HasSubstr("tensor \"a\\nb"));
    EXPECT_THAT(refusal(write(file_of("{\"a\":{\"" + name + "\":3}}", 0))),
                HasSubstr("found \"a\\nb"));
}

TEST_F(SafetensorsTest, LargeLengthsAreCheckedBeforeTheyAreBelieved) {
    for (std::uint64_t length :
         {std::uint64_t(100'000'001), std::uint64_t(132'095'296), std::uint64_t(1) << 31,
          std::uint64_t(1) << 32, std::uint64_t(1) << 63, ~std::uint64_t(0),
          ~std::uint64_t(7), std::uint64_t(100'000'000)}) {
        const fs::path path = write(with_length(length, "{}"));
        largest_allocation = 0;
        EXPECT_THAT(refusal(path), HasSubstr(fmt::format("found {}", length)));
        EXPECT_LT(largest_allocation, 1u << 20);
    }
    // A file that does hold so much: 200 MB of nothing, which takes no room on the disk.
    const fs::path path = write(with_length(100'000'001, "{}"));
    fs::resize_file(path, 200'000'000);
    largest_allocation = 0;
    EXPECT_THAT(refusal(path), HasSubstr("at most 100000000 bytes"));
    EXPECT_LT(largest_allocation, 1u << 20);
}

TEST_F(SafetensorsTest, ExactlyTheLargestHeaderIsAccepted) {
    std::string header = "{}";
    header.resize(100'000'000, ' ');
    EXPECT_EQ(refusal(write(file_of(header, 0))), "");
}

TEST_F(SafetensorsTest, WhatIsNoFile) {
    EXPECT_THAT(refusal(folder_ / "missing"), HasSubstr("No such file"));
    EXPECT_THAT(refusal(folder_), HasSubstr("regular file"));
    EXPECT_THAT(refusal(write("")), HasSubstr("found 0"));
    EXPECT_THAT(refusal("/dev/null"), HasSubstr("regular file"));
    const fs::path pipe = folder_ / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_THAT(refusal(pipe), HasSubstr("regular file"));
}

TEST_F(SafetensorsTest, AFileThatShrinksWhileOpen) {
    const std::string whole = slurp(cases / "ok_min.safetensors");
    const fs::path path = write(whole);
    const Safetensors file(path);
    float out[4];
    fs::resize_file(path, whole.size() - 3);
    EXPECT_THROW(file.read(file.tensors()[0], 0, out), BadInput);
    EXPECT_NO_THROW(file.read(file.tensors()[0], 0, std::span(out).first(3)));
    fs::resize_file(path, 0);
    EXPECT_THROW(file.read(file.tensors()[0], 3, std::span(out).first(1)), BadInput);
}

// 5 GB of zeros, which take no room on the disk, lie in front of the tensor.
TEST_F(SafetensorsTest, OffsetsPass32Bits) {
    const std::string header =
        R"({"a":{"dtype":"F16","shape":[50000,50000],"data_offsets":[0,5000000000]},)"
        R"("b":{"dtype":"F32","shape":[2],"data_offsets":[5000000000,5000000008]}})";
    const fs::path path = write(with_length(header.size(), header));
    std::error_code error;
    fs::resize_file(path, 8 + header.size() + 5'000'000'008, error);
    if (error) GTEST_SKIP() << "no sparse file of 5 GB here: " << error.message();
    const float numbers[] = {1.5f, -3};
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary)
        .seekp(std::streamoff(8 + header.size()) + 5'000'000'000)
        .write(reinterpret_cast<const char*>(numbers), sizeof numbers);
    const Safetensors file(path);
    EXPECT_THAT(values(file, *file.find("b")), ElementsAre(1.5f, -3));
    float last[3] = {1, 1, 1};
    file.read(*file.find("a"), 2'499'999'997, last);
    EXPECT_THAT(last, ElementsAre(0, 0, 0));
    EXPECT_THROW(file.read(*file.find("a"), 2'499'999'998, last), BadInput);
}

TEST_F(SafetensorsTest, ReadsOnlyWithinATensor) {
    const Safetensors file(cases / "ok_header_order.safetensors");
    const Safetensors::Tensor& a = *file.find("a");
    float out[2];
    EXPECT_THROW(file.read(a, 0, out), BadInput);
    EXPECT_THROW(file.read(a, 1, std::span(out).first(1)), BadInput);
    EXPECT_THROW(file.read(a, -1, std::span(out).first(1)), BadInput);
    EXPECT_THROW(file.read(a, std::numeric_limits<std::int64_t>::max(), out), BadInput);
    EXPECT_NO_THROW(file.read(a, 1, {}));
}

TEST_F(SafetensorsTest, ChangedBytesAreRefusedOrReadableAndNothingElse) {
    std::mt19937 random(3);
    int accepted = 0, refused = 0;
    for (const char* name : {"ok_min", "ok_header_order", "ok_f16", "ok_utf8_name"}) {
        const std::string whole = slurp(cases / fmt::format("{}.safetensors", name));
        for (int i = 0; i < 1000; ++i) {
            std::string changed = whole;
            for (unsigned n = random() % 3 + 1; n > 0; --n)
                changed[random() % changed.size()] =
                    random() % 2 ? char(random()) : "[]{},:\"0129-"[random() % 12];
            ++(refusal(write(changed)).empty() ? accepted : refused);
        }
    }
    EXPECT_GT(accepted, 50);
    EXPECT_GT(refused, 500);
}

/// A file of every half, every bfloat16 and as many floats, written by this library.
class WrittenTest : public SafetensorsTest {
protected:
    WrittenTest() {
        for (std::uint32_t bits = 0; bits < halves_.size(); ++bits)
            halves_[bits] = std::uint16_t(bits);
        std::mt19937 random(5);
        for (float& value : floats_)
            value = std::bit_cast<float>(std::uint32_t(random()));
        const auto bytes = [](const auto& all) { return std::as_bytes(std::span(all)); };
        tensors_ = {{"f16", DType::f16, {256, 256}, bytes(halves_)},
                    {"f32", DType::f32, {65536}, bytes(floats_)},
                    {"bf16", DType::bf16, {1, 65536}, bytes(halves_)},
                    {"none", DType::f32, {3, 0}, {}},
                    {"a \"name\"\n\u8bfb", DType::f16, {}, bytes(halves_).first(2)}};
        path_ = folder_ / "written.safetensors";
    }

    std::vector<std::uint16_t> halves_ = std::vector<std::uint16_t>(65536);
    std::vector<float> floats_ = std::vector<float>(65536);
    std::vector<gpt2::TensorToWrite> tensors_;
    fs::path path_;
};

TEST_F(WrittenTest, ReadsBackToTheBit) {
    gpt2::write_safetensors(path_, tensors_);
    const Safetensors file(path_);
    ASSERT_EQ(file.tensors().size(), tensors_.size());
    for (const gpt2::TensorToWrite& tensor : tensors_) {
        const Safetensors::Tensor* found = file.find(tensor.name);
        ASSERT_NE(found, nullptr) << tensor.name;
        EXPECT_EQ(found->shape, tensor.shape);
        EXPECT_EQ(found->dtype, tensor.dtype);
        EXPECT_EQ(found->begin % gpt2::size_of(tensor.dtype), 0u);
    }
    const std::vector<float> f32 = values(file, *file.find("f32"));
    EXPECT_EQ(std::memcmp(f32.data(), floats_.data(), f32.size() * 4), 0);
    const std::vector<float> f16 = values(file, *file.find("f16"));
    const std::vector<float> bf16 = values(file, *file.find("bf16"));
    for (std::size_t i = 0; i < halves_.size(); ++i) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(f16[i]),
                  std::bit_cast<std::uint32_t>(gpt2::from_f16(halves_[i])));
        ASSERT_EQ(std::bit_cast<std::uint32_t>(bf16[i]), std::uint32_t(halves_[i]) << 16);
    }
    std::uint64_t length = 0;
    std::memcpy(&length, slurp(path_).data(), 8);
    EXPECT_EQ(length % 8, 0u);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "a part was left";
}

TEST_F(WrittenTest, PartsAndThreadsAndAMovedReaderGiveTheSame) {
    gpt2::write_safetensors(path_, tensors_);
    Safetensors opened(path_);
    Safetensors file = std::move(opened);
    for (const char* name : {"f16", "f32", "bf16"}) {
        const Safetensors::Tensor& tensor = *file.find(name);
        const std::vector<float> whole = values(file, tensor);
        std::vector<float> parts(whole.size());
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                std::mt19937 random{unsigned(t)};
                std::size_t at = parts.size() / 4 * std::size_t(t);
                const std::size_t end = at + parts.size() / 4;
                while (at < end) {
                    const std::size_t count =
                        std::min<std::size_t>(random() % 3000 + 1, end - at);
                    file.read(tensor, std::int64_t(at),
                              std::span(parts).subspan(at, count));
                    at += count;
                }
            });
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(std::memcmp(parts.data(), whole.data(), whole.size() * 4), 0) << name;
    }
}

TEST_F(WrittenTest, WholeOrNotAtAll) {
    const auto refused = [&](gpt2::TensorToWrite extra) {
        std::vector<gpt2::TensorToWrite> all = tensors_;
        all.push_back(std::move(extra));
        try {
            gpt2::write_safetensors(path_, all);
        } catch (const BadInput& error) {
            EXPECT_TRUE(fs::is_empty(folder_));
            return std::string(error.what());
        }
        return std::string();
    };
    const auto some = std::as_bytes(std::span(floats_)).first(16);
    EXPECT_THAT(refused({"t", DType::f32, {5}, some}), HasSubstr("expected 20 bytes"));
    EXPECT_NE(refused({"t", DType::f16, {4}, some}), "");
    EXPECT_NE(refused({"t", DType::f32, {-2, -2}, some}), "");
    EXPECT_NE(refused({"t", DType::f32, {1LL << 32, 1LL << 32}, {}}), "");
    EXPECT_THAT(refused({"f16", DType::f32, {4}, some}), HasSubstr("duplicate name"));
    EXPECT_NE(refused({"__metadata__", DType::f32, {4}, some}), "");
    EXPECT_THAT(refused({"t", DType::int8, {16}, some}), HasSubstr("int8's scales"));
    EXPECT_THAT(refused({"t\xff", DType::f32, {4}, some}), HasSubstr("UTF-8"));

    EXPECT_THROW(gpt2::write_safetensors(folder_ / "no" / "folder", tensors_), BadInput);
    EXPECT_THROW(gpt2::write_safetensors(folder_, tensors_), BadInput);
    EXPECT_THROW(gpt2::write_safetensors("/dev/null", tensors_), BadInput);
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(WrittenTest, AnOldFileStaysUntilTheNewOneIsWhole) {
    gpt2::write_safetensors(path_, tensors_);
    const Safetensors old(path_);
    std::vector<gpt2::TensorToWrite> bad = tensors_;
    bad.push_back(tensors_[0]);
    EXPECT_THROW(gpt2::write_safetensors(path_, bad), BadInput);
    EXPECT_EQ(refusal(path_), "");
    gpt2::write_safetensors(path_, std::span(tensors_).first(1));
    EXPECT_EQ(Safetensors(path_).tensors().size(), 1u);
    EXPECT_EQ(values(old, *old.find("f32")).size(), 65536u);  // still the old one's bytes
}

}  // namespace
