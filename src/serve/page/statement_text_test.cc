// SPDX-License-Identifier: MIT
// The cases are those of web/src/api/statements.test.ts.
#include "serve/page/statement_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/text.h"

namespace fathom::serve {
namespace {

using nlohmann::json;

json web_file(const std::string& name) {
  const Result<std::string> text = read_file(std::string(FATHOM_SOURCE_ROOT) + "/web/" + name);
  EXPECT_TRUE(text) << name;
  return text ? json::parse(*text) : json();
}

// What the page fills in for a number, or for a list of them; a text is SQL here.
std::string in_sql(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::vector<std::string> each;
  for (const json& one : value) each.push_back(in_sql(one));
  return "[" + join(each, ", ") + "]";
}

TEST(StatementText, IsFilledAsByThePage) {
  const json cases = web_file("statement_cases.json");
  ASSERT_GT(cases.size(), 5U);
  for (const json& one : cases) {
    const auto text = one["text"].get<std::string>();
    StatementValues values;
    for (const auto& [name, value] : one["values"].items()) values[name] = in_sql(value);
    const Result<std::string> filled = statement_text(text, values);
    if (one.contains("needs")) {
      ASSERT_FALSE(filled) << text;
      EXPECT_EQ(filled.error().message, "the statement needs " + one["needs"].get<std::string>());
    } else {
      ASSERT_TRUE(filled) << text;
      EXPECT_EQ(*filled, one["filled"].get<std::string>());
    }
  }
}

}  // namespace
}  // namespace fathom::serve
