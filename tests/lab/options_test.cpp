#include "lab/options.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "gpt2/error.hpp"

namespace {

/// What a chapter with options of its own would read.
struct Read {
    lab::Options common;
    int tokens = 512;
    double temperature = 1;
    std::string prompt = "Once";
    bool stream = false;
    bool go = false;
};

Read parse(std::vector<const char*> words) {
    Read read;
    lab::Arguments arguments("program", "What it does");
    arguments.add("--tokens", read.tokens, "Tokens",
                  {.least = 2, .most = 1024, .quick = 96});
    arguments.add("--temperature", read.temperature, "Temperature");
    arguments.add("--prompt", read.prompt, "Prompt");
    arguments.add("--stream", read.stream, "Stream");
    lab::add_common(arguments, read.common);
    words.insert(words.begin(), "program");
    read.go = arguments.parse(int(words.size()), words.data());
    if (read.common.quick) arguments.use_quick_defaults();
    return read;
}

TEST(Options, Defaults) {
    const Read read = parse({});
    EXPECT_TRUE(read.go);
    EXPECT_EQ(read.common.model, "");
    EXPECT_EQ(read.common.shape, "");
    EXPECT_EQ(read.common.dtype, gpt2::DType::f32);
    EXPECT_EQ(read.common.kv, gpt2::DType::f32);
    EXPECT_EQ(read.common.threads, 0);
    EXPECT_FALSE(read.common.quick);
    EXPECT_EQ(read.tokens, 512);
}

TEST(Options, AllOfThem) {
    const Read read = parse({"--model",    "m",
                             "--shape",    "own",
                             "--device",   "cpu",
                             "--dtype",    "f16",
                             "--kv",       "f16",
                             "--threads",  "3",
                             "--seed",     "18446744073709551615",
                             "--json",     "out.json",
                             "--tokens=7", "--temperature",
                             "0.5",        "--prompt",
                             "a b",        "--stream"});
    EXPECT_EQ(read.common.model, "m");
    EXPECT_EQ(read.common.shape, "own");
    EXPECT_EQ(read.common.dtype, gpt2::DType::f16);
    EXPECT_EQ(read.common.kv, gpt2::DType::f16);
    EXPECT_EQ(read.common.threads, 3);
    EXPECT_EQ(read.common.seed, 18446744073709551615u);
    EXPECT_EQ(read.common.json, "out.json");
    EXPECT_EQ(read.tokens, 7);
    EXPECT_EQ(read.temperature, 0.5);
    EXPECT_EQ(read.prompt, "a b");
    EXPECT_TRUE(read.stream);
}

TEST(Options, QuickHasDefaultsOfItsOwn) {
    EXPECT_EQ(parse({"--quick"}).tokens, 96);
    EXPECT_EQ(parse({"--quick", "--tokens", "8"}).tokens, 8);
    EXPECT_EQ(parse({"--tokens", "512", "--quick"}).tokens, 512);
}

TEST(Options, HelpListsThem) {
    testing::internal::CaptureStdout();
    EXPECT_FALSE(parse({"--help"}).go);
    const std::string help = testing::internal::GetCapturedStdout();
    for (const char* part :
         {"--model", "--shape", "--device", "--dtype", "--kv", "--threads", "--seed",
          "--quick", "--json", "--tokens", "96 with --quick", "What it does"})
        EXPECT_NE(help.find(part), std::string::npos) << part;
}

class Refused : public testing::TestWithParam<std::vector<const char*>> {};

TEST_P(Refused, InOneLineWithStatusTwo) {
    try {
        parse(GetParam());
        FAIL() << "was accepted";
    } catch (const gpt2::BadInput& error) {
        const std::string what = error.what();
        EXPECT_FALSE(what.empty());
        EXPECT_EQ(what.find('\n'), std::string::npos) << what;
        EXPECT_EQ(error.exit_status(), 2);
    }
}

INSTANTIATE_TEST_SUITE_P(
    BadOptions, Refused,
    testing::Values(
        std::vector{"--threads", "12x"}, std::vector{"--threads", "1e3"},
        std::vector{"--threads", "-1"}, std::vector{"--threads", "0"},
        std::vector{"--threads", "257"}, std::vector{"--threads", "2.0"},
        std::vector{"--threads", ""}, std::vector{"--threads", " 2"},
        std::vector{"--threads", "0x2"}, std::vector{"--threads", "99999999999999999999"},
        std::vector{"--threads"}, std::vector{"--threads", "2", "--threads", "3"},
        std::vector{"--seed", "-1"}, std::vector{"--seed", "18446744073709551616"},
        std::vector{"--tokens", "1"}, std::vector{"--tokens", "1025"},
        std::vector{"--temperature", "nan"}, std::vector{"--temperature", "inf"},
        std::vector{"--temperature", "-0.1"}, std::vector{"--temperature", "1.5f"},
        std::vector{"--shape", "tiny"}, std::vector{"--shape", ""},
        std::vector{"--device", "gpu"}, std::vector{"--kv", "bf16"},
        std::vector{"--dtype", "f64"}, std::vector{"--kv", "int8"},
        std::vector{"--quick=perhaps"}, std::vector{"--unknown"}, std::vector{"stray"},
        std::vector{"--thread", "2"}, std::vector{"-h"}, std::vector{"--model"}));

}  // namespace
