// SPDX-License-Identifier: MIT
#include "serve/http/coding.h"

#include <gtest/gtest.h>

#include <string>

#include "serve/http/long_answer.h"

namespace fathom::serve {
namespace {

std::string encoded(Coding coding, const std::string& text) {
  const std::unique_ptr<Encoder> encoder = make_encoder(coding);
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += 1000)
    EXPECT_TRUE(encoder->add(std::string_view(text).substr(at, 1000), out));
  EXPECT_TRUE(encoder->finish(out));
  return out;
}

class Codings : public ::testing::TestWithParam<Coding> {};

TEST_P(Codings, GoAndComeBack) {
  for (const std::size_t size : {0UL, 1UL, 1000UL, 65536UL, 65537UL, 131072UL, 1'000'000UL}) {
    const std::string text(size, 'x');
    const Result<std::string> back = decode(GetParam(), encoded(GetParam(), text), size);
    ASSERT_TRUE(back) << size;
    EXPECT_EQ(*back, text);
  }
}

TEST_P(Codings, ABombIsStoppedWhileItGrows) {
  const Result<std::string> back =
      decode(GetParam(), encoded(GetParam(), std::string(10'000'000, '\0')), 1'000'000);
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code, Code::kFull);
}

TEST_P(Codings, WhatIsCutOrDamagedIsRefused) {
  const std::string whole = encoded(GetParam(), "some text that is long enough to be cut");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Result<std::string> back = decode(GetParam(), whole.substr(0, size), 1000);
    ASSERT_FALSE(back) << size;
    EXPECT_EQ(back.error().code, Code::kInvalid);
  }
  EXPECT_FALSE(decode(GetParam(), whole + "rubbish", 1000));
  EXPECT_FALSE(decode(GetParam(), "rubbish", 1000));
}

TEST_P(Codings, SeveralMembersAreOneText) {
  const std::string two = encoded(GetParam(), "one ") + encoded(GetParam(), "two");
  const Result<std::string> back = decode(GetParam(), two, 1000);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, "one two");
}

INSTANTIATE_TEST_SUITE_P(All, Codings, ::testing::Values(Coding::kGzip, Coding::kZstd));

TEST(Coding, NamesAndChoices) {
  EXPECT_EQ(*coding_named("GZIP"), Coding::kGzip);
  EXPECT_EQ(*coding_named(""), Coding::kIdentity);
  EXPECT_FALSE(coding_named("br"));
  EXPECT_FALSE(coding_named("gzip, gzip"));
  EXPECT_EQ(accepted_coding("gzip, deflate, br"), Coding::kGzip);
  EXPECT_EQ(accepted_coding("gzip;q=0.8, zstd"), Coding::kZstd);
  EXPECT_EQ(accepted_coding("gzip;q=0, br"), Coding::kIdentity);
  EXPECT_EQ(accepted_coding(""), Coding::kIdentity);
}

TEST(LongAnswer, ALittleStaysInMemoryAndMuchGoesIntoAFile) {
  for (const std::size_t rows : {10UL, 100'000UL}) {
    LongAnswer answer(Head{});
    for (std::size_t i = 0; i < rows; ++i)
      ASSERT_TRUE(answer.add("0123456789abcdef0123456789abcdef"));
    const Result<Response> response = answer.finish();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->body.size(), 32 * rows);
    EXPECT_EQ(response->body.file != nullptr, rows > 1000);
    if (response->body.file) {
      const Result<std::string> end = response->body.file->read_range(32 * rows - 16, 100);
      EXPECT_EQ(*end, "0123456789abcdef");
    }
  }
}

TEST(LongAnswer, IsCompressedForWhoAcceptsIt) {
  LongAnswer answer(Head{"GET", "/", {{"Accept-Encoding", "gzip"}}});
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(answer.add("the same text again and again"));
  const Result<Response> response = answer.finish();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->headers[0].value, "gzip");
  EXPECT_EQ(decode(Coding::kGzip, response->body.text, 1'000'000)->size(), 29'000U);
}

}  // namespace
}  // namespace fathom::serve
