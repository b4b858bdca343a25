// SPDX-License-Identifier: MIT
#include "sql/engine_error.h"

#include <gtest/gtest.h>

#include "sql/quote.h"

namespace fathom::sql {
namespace {

TEST(EngineError, SeveralLinesBecomeOneAndAHint) {
  struct Case {
    const char* in;
    Code code;
    const char* message;
    const char* hint;
  };
  const Case cases[] = {
      {"Parser Error: syntax error at or near \"SELEC\"\n\nLINE 1: SELEC 1\n        ^",
       Code::kInvalid, "Parser Error: syntax error at or near \"SELEC\"", ""},
      {"Binder Error: Referenced column \"depht\" not found in FROM clause!\nCandidate bindings: "
       "\"depth\"\n\nLINE 1: SELECT depht\n               ^",
       Code::kInvalid, "Binder Error: Referenced column \"depht\" not found in FROM clause",
       "Candidate bindings: \"depth\""},
      {"IO Error: No files found that match the pattern \"x\"", Code::kIo,
       "IO Error: No files found that match the pattern \"x\"", ""},
      {"Permission Error: Cannot access file \"/etc/passwd\"", Code::kDenied,
       "Permission Error: Cannot access file \"/etc/passwd\"", ""},
      {"", Code::kInvalid, "DuckDB failed and did not say why", ""},
  };
  for (const Case& c : cases) {
    const Error error = engine_error(c.in);
    EXPECT_EQ(error.code, c.code) << c.in;
    EXPECT_EQ(error.message, c.message);
    EXPECT_EQ(error.hint, c.hint);
  }
}

TEST(EngineError, SomeMayComeFromBytesOfAFile) {
  for (const char* text :
       {"Invalid Error: Variable-length int over 10 bytes", "Invalid Error: invalid TType",
        "Invalid Input Error: The width (253) of the bitpacked data exceeds the supported max "
        "width (65), the file might be corrupted",
        "INTERNAL Error: Attempted to access index 9 within vector of size 3"})
    EXPECT_TRUE(may_be_of_data(engine_error(text))) << text;
  for (const char* text : {"Parser Error: syntax error at or near \"SELEC\"",
                           "Conversion Error: Could not convert string 'x' to INT32",
                           "INTERRUPT Error: Interrupted!", "Out of Memory Error: failed",
                           "Invalid Input Error: Cannot change configuration option", ""})
    EXPECT_FALSE(may_be_of_data(engine_error(text))) << text;
  EXPECT_FALSE(may_be_of_data({Code::kIo, "Invalid Error: of somebody else", ""}));
}

TEST(Quote, MarksInsideAreDoubled) {
  EXPECT_EQ(quote_identifier("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(quote_literal("it's"), "'it''s'");
  const std::string texts[] = {"a", "b'c"};
  EXPECT_EQ(quote_list(texts), "['a', 'b''c']");
  EXPECT_EQ(quote_list({}), "[]");
}

}  // namespace
}  // namespace fathom::sql
