// SPDX-License-Identifier: MIT
#include "render/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace fathom::render {
namespace {

std::string json(const Value& value) {
  std::string out;
  JsonWriter(out).value(value);
  return out;
}

TEST(JsonWriter, ValuesAreExact) {
  struct Case {
    Value in;
    const char* want;
  };
  const Case cases[] = {
      {Value(), "null"},
      {Value(true), "true"},
      {Value(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808"},
      {Value(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615"},
      {Value(0.1), "0.1"},
      {Value(1.0), "1.0"},
      {Value(-0.0), "-0.0"},
      {Value(1e300), "1e+300"},
      {Value(std::nan("")), "null"},
      {Value(-std::numeric_limits<double>::infinity()), "null"},
      {Value(std::string("it's a \"name\" \\ /")), R"("it's a \"name\" \\ /")"},
      {Value(std::string("one\ntwo\ttab\rend")), R"("one\ntwo\ttab\rend")"},
      {Value(std::string("\x01\x1f\x7f\0", 4)), R"("\u0001\u001f\u007f\u0000")"},
      {Value(std::string("naïve-測深-🌊")), R"("naïve-測深-🌊")"},
      {Value(std::string("bad-\xff-\xe6\xb8")), R"("bad-\\xff-\\xe6\\xb8")"},
      {Value(List{Value(true), Value(), Value(List{})}), "[true,null,[]]"},
      {Value(Object{{"a\"b", Value(2.5)}, {"c", Value(Object{})}}), R"({"a\"b":2.5,"c":{}})"},
  };
  for (const Case& c : cases) EXPECT_EQ(json(c.in), c.want);
}

TEST(JsonWriter, DoublesReadBackTheSame) {
  for (const double number :
       {1.0 / 3, 2.2250738585072014e-308, 5e-324, 123456789.123456789, -1e-7}) {
    EXPECT_EQ(std::strtod(json(number).c_str(), nullptr), number);
  }
}

TEST(JsonWriter, CommasAndLines) {
  std::string out;
  JsonWriter writer(out);
  writer.begin_object().key("a").value(1).key("b").begin_array().value("x").value(2U).null();
  writer.new_line().begin_object().end_object().new_line().end_array();
  writer.key("c").value(false).end_object();
  EXPECT_EQ(out, "{\"a\":1,\"b\":[\"x\",2,null,\n{}\n],\"c\":false}");
}

TEST(JsonWriter, MayBeFlushedBetweenValues) {
  std::string out;
  std::string all;
  JsonWriter writer(out);
  writer.begin_array();
  for (int i = 0; i < 3; ++i) {
    writer.value(i);
    all += out;
    out.clear();
  }
  writer.end_array();
  EXPECT_EQ(all + out, "[0,1,2]");
}

}  // namespace
}  // namespace fathom::render
