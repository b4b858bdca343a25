// SPDX-License-Identifier: MIT
#include "serve/http/json_input.h"

#include <gtest/gtest.h>

#include <string>

namespace fathom::serve {
namespace {

Result<fleet::ProfileBatch> read(std::string text) { return read_profile_batch(text); }
std::string rows(const std::string& row) {
  return R"({"client":"c","seq":1,"rows":[)" + row + "]}";
}

std::string fault(const std::string& text) {
  const auto batch = read(text);
  return batch ? "" : batch.error().message;
}

TEST(ProfileBatch, IsReadInAnyOrder) {
  const auto batch = read(R"( {"rows" : [ {"count":7,"event":"e","exec":"","node":"gr\u00f6\u0000"},
      {"node":"f","exec":"a b","event":"x:u","count":9223372036854775807}], "seq": 0, "client": "c"} )");
  ASSERT_TRUE(batch) << batch.error().message;
  ASSERT_EQ(batch->rows.size(), 2U);
  EXPECT_EQ(batch->rows[0].node, std::string("gr\xc3\xb6\0", 5));
  EXPECT_EQ(batch->rows[1].count, 9223372036854775807);
  EXPECT_EQ(batch->id.client, "c");
}

TEST(ProfileBatch, TellsThePlaceOfWhatIsWrong) {
  const std::string good = R"({"node":"f","exec":"a","event":"e","count":1})";
  EXPECT_EQ(fault(rows(good)), "");
  EXPECT_EQ(fault(rows("")), "");
  EXPECT_NE(fault(rows(good + R"(,{"node":"f","exec":"a","event":"e","count":-1})"))
                .find("rows[1]: count must be a whole number from 0"),
            std::string::npos);
  EXPECT_NE(fault(rows(R"({"node":"f","exec":"a","count":1})")).find("rows[0] lacks event"),
            std::string::npos);
  EXPECT_NE(
      fault(rows(R"({"node":7,"exec":"a","event":"e","count":1})")).find("node must be a text"),
      std::string::npos);
  EXPECT_NE(fault(R"({"seq":1,"rows":[]})").find("lacks client"), std::string::npos);
}

TEST(ProfileBatch, WhatIsNoBatchIsRefused) {
  using std::string_literals::operator""s;
  const std::string deep = std::string(200'000, '[');
  for (const std::string& text :
       {""s,
        "{"s,
        "[]"s,
        "null"s,
        "7"s,
        R"({"client":"c","seq":1,"rows":[)"s,
        R"({"client":"c","seq":1,"rows":[]} {})"s,
        R"({"client":"c","seq":1,"rows":[],})"s,
        R"({"client":"c","seq":1,"rows":{}})"s,
        R"({"client":"c","seq":1,"rows":[1]})"s,
        R"({"client":"c","seq":1.5,"rows":[]})"s,
        R"({"client":"c","seq":-1,"rows":[]})"s,
        R"({"client":"c","seq":"1","rows":[]})"s,
        R"({"client":"c","seq":1e0,"rows":[]})"s,
        R"({"client":"c","seq":18446744073709551616,"rows":[]})"s,
        R"({"client":"c","seq":01,"rows":[]})"s,
        R"({"client":"\ud800","seq":1,"rows":[]})"s,
        R"({"client":"\udc00","seq":1,"rows":[]})"s,
        "{\"client\":\"\xff\",\"seq\":1,\"rows\":[]}"s,
        R"({"client":"c","seq":1,"rows":[],"more":1})"s,
        R"({"client":"c","client":"d","seq":1,"rows":[]})"s,
        "client=c&seq=1"s,
        deep,
        R"({"client":"c","seq":1,"rows":)" + deep,
        rows(deep),
        rows(R"({"node":"f","exec":"a","event":"e","count":1e999})"),
        rows(R"({"node":"f","exec":"a","event":"e","count":1,"count":2})"),
        rows(R"({"node":"f","exec":"a","event":"e","count":1,"x":{}})"),
        R"({"client":")" + std::string(300, 'c') + R"(","seq":1,"rows":[]})"})
    EXPECT_FALSE(read(text)) << text.substr(0, 100);
}

TEST(RecordBatch, KeepsRecordsAsTheyCame) {
  std::string text =
      R"({"client":"c","seq":1,"records":[ {"a": 1.50, "b": [ 1 ]} ,{"c":"\u00e9"}]})";
  const auto batch = read_record_batch(text);
  ASSERT_TRUE(batch) << batch.error().message;
  ASSERT_EQ(batch->records.size(), 2U);
  EXPECT_EQ(batch->records[0], R"({"a": 1.50, "b": [ 1 ]})");
  EXPECT_EQ(batch->records[1], R"({"c":"\u00e9"})");
}

TEST(RecordBatch, RecordsAreWholeObjects) {
  for (const std::string record :
       {"1", "[]", "null", R"({"a":})", R"({"a":tru})", R"({"a":"\ud800"})", R"({"a":1e999})",
        R"({"a":01})", "{\"a\":\"\n\"}"}) {
    std::string text = R"({"client":"c","seq":1,"records":[{},)" + record + "]}";
    const auto batch = read_record_batch(text);
    EXPECT_FALSE(batch) << record;
  }
  std::string deep = R"({"client":"c","seq":1,"records":[{"a":)" + std::string(100, '[') +
                     std::string(100, ']') + "}]}";
  const auto batch = read_record_batch(deep);
  ASSERT_FALSE(batch);
  EXPECT_NE(batch.error().message.find("records[0]: brackets"), std::string::npos);
}

TEST(SmallBodies, AreRead) {
  EXPECT_EQ(read_job(R"({"name":"a"})")->info, "");
  EXPECT_EQ(read_job(R"({"name":"a","info":"b"})")->info, "b");
  for (const char* text : {"", "{", "[]", R"({"info":"b"})", R"({"name":1})",
                           R"({"name":"a","x":1})", R"({"name":"a"} x)"})
    EXPECT_FALSE(read_job(text)) << text;
  EXPECT_EQ(*read_what(R"({"what":"profile"})"), "profile");
  EXPECT_FALSE(read_what("{}"));
  EXPECT_EQ(read_kind(R"({"name":"k","schema":{"type":"object"}})")->schema,
            R"({"type":"object"})");
  EXPECT_FALSE(read_kind(R"({"name":"k"})"));
}

}  // namespace
}  // namespace fathom::serve
