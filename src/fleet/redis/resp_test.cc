// SPDX-License-Identifier: MIT
#include "fleet/redis/resp.h"

#include <gtest/gtest.h>

#include <string>

namespace fathom::fleet {
namespace {

using Type = RespValue::Type;

// A value as text that tells all of it.
std::string shown(const RespValue& value) {
  switch (value.type) {
    case Type::kNull:
      return "null";
    case Type::kString:
      return "'" + value.text + "'";
    case Type::kError:
      return "!" + value.text;
    case Type::kInteger:
      return std::to_string(value.number);
    case Type::kArray:
    case Type::kPush:
      break;
  }
  std::string text = value.type == Type::kPush ? "push[" : "[";
  for (const RespValue& item : value.items) text += shown(item) + " ";
  return text + "]";
}

// All values of these bytes, fed in pieces.
std::string read(const std::string& bytes, std::size_t piece, const RespLimits& limits = {}) {
  RespReader reader(limits);
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.feed(std::string_view(bytes).substr(at, piece));
    for (;;) {
      const Result<std::optional<RespValue>> value = reader.next();
      if (!value) return text + "damaged";
      if (!*value) break;
      text += shown(**value) + ";";
    }
  }
  return reader.buffered() > 0 ? text + "more" : text;
}

struct Case {
  std::string bytes;
  std::string want;
};

TEST(Resp, Values) {
  using std::string_literals::operator""s;
  const Case cases[] = {
      {"+OK\r\n", "'OK';"},
      {"-ERR no\r\n", "!ERR no;"},
      {":-7\r\n:9223372036854775807\r\n", "-7;9223372036854775807;"},
      {"$5\r\na\r\nb\0\r\n"s, "'a\r\nb\0';"s},
      {"$0\r\n\r\n", "'';"},
      {"$-1\r\n*-1\r\n_\r\n", "null;null;null;"},
      {"*0\r\n", "[];"},
      {"*2\r\n*1\r\n:1\r\n$1\r\nx\r\n:2\r\n", "[[1 ]'x' ];2;"},
      {"%1\r\n+k\r\n~1\r\n#t\r\n", "['k'[1 ]];"},
      {",1.5\r\n(12345678901234567890\r\n#f\r\n", "'1.5';'12345678901234567890';0;"},
      {"=8\r\ntxt:note\r\n!5\r\nERR x\r\n", "'note';!ERR x;"},
      {">2\r\n+message\r\n+x\r\n+OK\r\n", "push['message''x'];'OK';"},
      {"|1\r\n+ttl\r\n:3\r\n:7\r\n", "7;"},
      {"*1\r\n|1\r\n+ttl\r\n:3\r\n:7\r\n", "[7 ];"},
  };
  for (const Case& one : cases) {
    std::string want = one.want;
    for (std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{1000}}) {
      std::string got = read(one.bytes, piece);
      std::erase(got, ' ');
      std::string expected = want;
      std::erase(expected, ' ');
      EXPECT_EQ(got, expected) << one.bytes;
    }
  }
}

TEST(Resp, WhatIsDamaged) {
  for (const char* bytes : {"HTTP/1.1 400\r\n", "$x\r\n", "$-2\r\n", "$3\r\nabcde\r\n", ":\r\n",
                            ":1x\r\n", "*-3\r\n", "+a\rb\r\n", "#x\r\n", "_x\r\n", "=2\r\nab\r\n",
                            "~-1\r\n", "$99999999999999999999\r\n", "$\r\n", "\r\n"}) {
    EXPECT_EQ(read(bytes, 1000), "damaged") << bytes;
    EXPECT_EQ(read(bytes, 1), "damaged") << bytes;
  }
}

TEST(Resp, WhatIsNotThereYet) {
  for (const char* bytes : {"+O", "$5\r\nab", "$5\r\nabcde\r", ":12"})
    EXPECT_EQ(read(bytes, 1000), "more") << bytes;
  EXPECT_EQ(read("*2\r\n:1\r\n", 1000), "");  // waits inside the array
}

TEST(Resp, LimitsHoldBeforeMemoryIsTaken) {
  const RespLimits small{.line = 8, .bulk = 16, .total = 24, .values = 4, .depth = 2};
  EXPECT_EQ(read("+12345678\r\n", 1, small), "'12345678';");
  EXPECT_EQ(read("+123456789", 1, small), "damaged");
  EXPECT_EQ(read("$16\r\n0123456789abcdef\r\n", 1, small), "'0123456789abcdef';");
  EXPECT_EQ(read("$17\r\n", 1000, small), "damaged");
  EXPECT_EQ(read("*5\r\n", 1000, small), "damaged");
  EXPECT_EQ(read("%3\r\n", 1000, small), "damaged");
  EXPECT_EQ(read("*1\r\n*1\r\n*1\r\n", 1000, small), "damaged");
  EXPECT_EQ(read("*2\r\n$16\r\n0123456789abcdef\r\n$10\r\n", 1000, small), "damaged");
  EXPECT_EQ(read("*2\r\n*2\r\n:1\r\n:2\r\n:3\r\n", 1000, small), "damaged");
}

TEST(Resp, Commands) {
  using std::string_literals::operator""s;
  std::string out;
  append_command(out, {"SET", "a b", std::string_view("\r\n\0", 3)});
  append_command(out, {""});
  EXPECT_EQ(out, "*3\r\n$3\r\nSET\r\n$3\r\na b\r\n$3\r\n\r\n\0\r\n*1\r\n$0\r\n\r\n"s);
}

}  // namespace
}  // namespace fathom::fleet
