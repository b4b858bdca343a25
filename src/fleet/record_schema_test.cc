// SPDX-License-Identifier: MIT
#include "fleet/record_schema.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/ids.h"
#include "fleet/stores/checked_store.h"
#include "fleet/stores/open_store.h"

namespace fathom::fleet {
namespace {

constexpr char kLoss[] = R"({"type": "object", "required": ["epoch", "loss"],
  "properties": {"epoch": {"type": "integer", "minimum": 0},
                 "loss": {"type": "number", "exclusiveMaximum": 100},
                 "kind": {"enum": ["train", "test"]},
                 "tags": {"type": "array", "items": {"type": "string", "maxLength": 3},
                          "maxItems": 2}},
  "additionalProperties": false})";

TEST(RecordSchema, TakesWhatFitsAndNamesThePlaceOfWhatDoesNot) {
  const Result<RecordSchema> schema = RecordSchema::parse(kLoss);
  ASSERT_TRUE(schema);
  for (const char* const good :
       {R"({"epoch": 1, "loss": 0.5})", R"({"epoch": 1.0, "loss": -3, "kind": "test"})",
        R"({"epoch": 0, "loss": 1, "tags": ["größ", "b"]})"}) {
    const Status status = schema->check(good);
    EXPECT_EQ(std::string(good).find("größ") == std::string::npos, status.has_value()) << good;
  }
  const std::pair<const char*, const char*> bad[] = {
      {"[]", "object"},
      {"{", "object"},
      {R"({"epoch": 1})", "'loss' is missing"},
      {R"({"epoch": -1, "loss": 1})", "/epoch: "},
      {R"({"epoch": 1.5, "loss": 1})", "/epoch: "},
      {R"({"epoch": 1, "loss": 100})", "/loss: "},
      {R"({"epoch": 1, "loss": "x"})", "/loss: "},
      {R"({"epoch": 1, "loss": 1, "kind": "x"})", "/kind: "},
      {R"({"epoch": 1, "loss": 1, "tags": [7]})", "/tags/0: "},
      {R"({"epoch": 1, "loss": 1, "tags": ["a", "b", "c"]})", "/tags: "},
      {R"({"epoch": 1, "loss": 1, "more": 1})", "/more: "}};
  for (const auto& [record, place] : bad) {
    const Status status = schema->check(record);
    ASSERT_FALSE(status) << record;
    EXPECT_NE(std::string::npos, status.error().message.find(place)) << status.error().message;
  }
}

TEST(RecordSchema, RefusesWhatItWouldNotCheck) {
  for (const char* const text :
       {"", "[]", "7", R"({"type": "text"})", R"({"pattern": "x"})", R"({"anyOf": []})",
        R"({"properties": {"a": {"$ref": "#"}}})", R"({"required": "a"})", R"({"minimum": "1"})",
        R"({"maxItems": -1})", R"({"type": []})"})
    EXPECT_FALSE(RecordSchema::parse(text)) << text;
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += R"({"items": )";
  deep += "true" + std::string(100, '}');
  EXPECT_FALSE(RecordSchema::parse(deep));
}

TEST(CheckedStore, ChecksRecordsOfEveryKind) {
  const std::string folder = ::testing::TempDir() + "/checked-" + random_id();
  ASSERT_TRUE(make_dirs(folder));
  const std::unique_ptr<JobStore> store =
      checked(open_store("sqlite:" + folder + "/jobs.db").value());
  ASSERT_TRUE(store->create({"j", "", 0}));
  EXPECT_FALSE(store->add_kind({"bad", R"({"pattern": "x"})"}));
  ASSERT_TRUE(store->add_kind({"loss", kLoss}));
  const std::string good = R"({"epoch": 1, "loss": 0.5})";
  const Status mixed = store->add_records("j", "loss", {{"c", 1}, {good, R"({"epoch": 1})"}});
  ASSERT_FALSE(mixed);
  EXPECT_EQ(Code::kInvalid, mixed.error().code);
  EXPECT_TRUE(mixed.error().message.starts_with("record 1: ")) << mixed.error().message;
  EXPECT_TRUE(store->add_records("j", "loss", {{"c", 1}, {good}}));
  const Status unknown = store->add_records("j", "unknown", {{"c", 1}, {good}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(Code::kNotFound, unknown.error().code);
  EXPECT_FALSE(store->add_records("j", "benchmark", {{"c", 1}, {good}}));
  EXPECT_TRUE(store->add_records("j", "benchmark", {{"c", 1}, {R"({"command": [], "runs": []})"}}));
  (void)remove_tree(folder);
}

}  // namespace
}  // namespace fathom::fleet
