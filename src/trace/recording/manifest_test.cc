// SPDX-License-Identifier: MIT
#include "trace/recording/manifest.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "trace/testing/spool_builder.h"

namespace fathom::trace {
namespace {

Manifest sample() {
  Manifest manifest;
  manifest.run_id = "00112233445566778899aabbccddeeff";
  manifest.command = {"prog", "a b", "\xff"};
  manifest.cwd = "/tmp";
  manifest.environment = {{"LANG", "C"}};
  manifest.host.hostname = "h";
  manifest.host.cores = 2;
  manifest.origin = "run";
  manifest.start_realtime_ns = 1700000000000000001;
  manifest.clock = Clock(FATHOM_TICK_COUNTER, {1ULL << 63, 5}, 0.5);
  manifest.clock.add({(1ULL << 63) + 10000000, 5000005});
  manifest.state = RunState::kPartial;
  manifest.state_reason = "killed";
  manifest.layers = {{"posix", "on", "", 7}, {"python", "off", "not asked for", 0}};
  manifest.losses = {{"posix", "no room", 3}};
  manifest.not_covered = {{5, "/bin/x", "static binary", ""}, {6, "/bin/y", "unseen", "io_uring"}};
  manifest.in_flight = {{6, 7, "read", 123}};
  manifest.pid = 4711;
  manifest.exit_status = 139;
  return manifest;
}

TEST(ManifestTest, RoundTrip) {
  const Result<Manifest> read = parse_manifest(format_manifest(sample()));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->command, (std::vector<std::string>{"prog", "a b", "\\xff"}));
  EXPECT_EQ(read->start_realtime_ns, 1700000000000000001);
  EXPECT_EQ(read->clock.pairs().size(), 2U);
  EXPECT_EQ(read->clock.pairs()[0].tick, 1ULL << 63);
  EXPECT_EQ(read->clock.ns((1ULL << 63) + 10000000), 5000000);
  EXPECT_EQ(read->state, RunState::kPartial);
  EXPECT_EQ(read->layers[1].reason, "not asked for");
  EXPECT_EQ(read->losses[0].count, 3);
  EXPECT_EQ(read->not_covered[0].reason, "static binary");
  EXPECT_EQ(read->not_covered[0].what, "");
  EXPECT_EQ(read->not_covered[1].what, "io_uring");
  EXPECT_EQ(read->in_flight[0].since_ns, 123);
  EXPECT_EQ(read->pid, 4711);
  EXPECT_EQ(read->exit_status, 139);
  EXPECT_FALSE(read->overhead_ns.has_value());
  EXPECT_EQ(format_manifest(*read),
            format_manifest(parse_manifest(format_manifest(*read)).value()));
}

TEST(ManifestTest, RefusesWhatItCannotRead) {
  struct Case {
    const char* text;
    Code code;
  };
  const Case cases[] = {
      {"", Code::kCorrupt},
      {"{", Code::kCorrupt},
      {"[]", Code::kCorrupt},
      {"{}", Code::kCorrupt},
      {R"({"schema": "1", "state": "complete"})", Code::kCorrupt},
      {R"({"schema": 0, "state": "complete"})", Code::kCorrupt},
      {R"({"schema": 1, "state": "odd"})", Code::kCorrupt},
      {R"({"schema": 4, "state": "complete"})", Code::kUnsupported},
      {R"({"schema": 99, "more": {}})", Code::kUnsupported},
  };
  for (const Case& c : cases) {
    const Result<Manifest> read = parse_manifest(c.text);
    ASSERT_FALSE(read.has_value()) << c.text;
    EXPECT_EQ(read.error().code, c.code) << c.text;
    EXPECT_EQ(read.error().message.find('\n'), std::string::npos);
  }
  EXPECT_EQ(parse_manifest(R"({"schema": 4, "state": "complete"})").error().message,
            "made by a newer Fathom (schema 4)");
}

TEST(ManifestTest, UnknownKeysAndOddTypesAreIgnored) {
  const Result<Manifest> read = parse_manifest(
      R"({"schema": 1, "state": "complete", "new": [1], "layers": {"a": 1}, "losses": [3, {"count": "x"}], "command": 5})");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_TRUE(read->command.empty());
}

TEST(ManifestTest, TruncatedOrFlippedAnywhere) {
  const std::string text = format_manifest(sample());
  for (std::size_t at = 0; at < text.size(); at++) {
    const Result<Manifest> cut = parse_manifest(std::string_view(text).substr(0, at));
    EXPECT_EQ(cut.has_value(), at + 1 == text.size()) << at;
    std::string flipped = text;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x21);
    (void)parse_manifest(flipped);
  }
}

TEST(ManifestTest, LossesSumUp) {
  Manifest manifest;
  manifest.add_loss({"posix", "r", 2});
  manifest.add_loss({"posix", "r", 3});
  manifest.add_loss({"stdio", "r", 1});
  manifest.add_loss({"stdio", "none", 0});
  ASSERT_EQ(manifest.losses.size(), 2U);
  EXPECT_EQ(manifest.losses[0].count, 5);
  manifest.add_loss({"posix", "r", INT64_MAX});
  EXPECT_EQ(manifest.losses[0].count, INT64_MAX);
}

TEST(SchemaTest, ParsesAndRefuses) {
  const Result<Schema> schema = Schema::parse(testing::kSchemaText);
  ASSERT_TRUE(schema.has_value());
  ASSERT_NE(schema->find(testing::kPread), nullptr);
  EXPECT_EQ(schema->find(testing::kPread)->entry, "pread64");
  EXPECT_TRUE(schema->find(testing::kPread)->ret_is_bytes);
  EXPECT_EQ(schema->find(99), nullptr);
  EXPECT_EQ(schema->find(5000), nullptr);
  const char* const bad[] = {"x\t3\tposix\ta\ta\tc\t-\tfd",
                             "31\t3\tposix\ta\ta\tc\t-\tfd",
                             "2048\t3\tposix\ta\ta\tc\t-\tfd",
                             "32\t3\tposix\ta\ta\tc\todd\tfd",
                             "32\t3\tposix\ta\ta\tc\t-\tnope",
                             "32\t3\tposix\ta\ta\tc\t-\targ::int",
                             "32\t3",
                             "32\t3\tp\ta\ta\tc\t-\tfd\n32\t3\tp\ta\ta\tc\t-\tfd"};
  for (const char* text : bad) EXPECT_FALSE(Schema::parse(text).has_value()) << text;
  const std::string text = testing::kSchemaText;
  for (std::size_t at = 0; at < text.size(); at++) {
    (void)Schema::parse(std::string_view(text).substr(0, at));
    std::string flipped = text;
    flipped[at] = static_cast<char>(flipped[at] ^ 0xff);
    (void)Schema::parse(flipped);
  }
}

}  // namespace
}  // namespace fathom::trace
