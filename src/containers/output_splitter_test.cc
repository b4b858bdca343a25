// SPDX-License-Identifier: MIT
#include "containers/output_splitter.h"

#include <gtest/gtest.h>

#include <string>

namespace fathom::containers {
namespace {

struct Said {
  std::string out, err;
};

OutputSplitter splitter_into(Said& said, bool is_raw = false) {
  return {is_raw, [&said](Stream stream, std::string_view bytes) {
            (stream == Stream::kErr ? said.err : said.out) += bytes;
          }};
}

std::string frame(char stream, const std::string& text) {
  return std::string{stream,
                     0,
                     0,
                     0,
                     0,
                     0,
                     static_cast<char>(text.size() >> 8U),
                     static_cast<char>(text.size())} +
         text;
}

TEST(OutputSplitter, TellsStreamsApartHoweverThePiecesAreCut) {
  const std::string all = frame(1, "out") + frame(2, std::string(300, 'e')) + frame(1, "") +
                          frame(1, std::string("\0\1\2", 3));
  for (std::size_t piece = 1; piece <= all.size(); ++piece) {
    Said said;
    OutputSplitter splitter = splitter_into(said);
    for (std::size_t at = 0; at < all.size(); at += piece)
      ASSERT_TRUE(splitter.feed(std::string_view(all).substr(at, piece)));
    EXPECT_EQ(said.out, std::string("out\0\1\2", 6));
    EXPECT_EQ(said.err, std::string(300, 'e'));
    EXPECT_EQ(splitter.missing(), 0U);
  }
}

TEST(OutputSplitter, ATerminalHasNoFrames) {
  Said said;
  OutputSplitter splitter = splitter_into(said, true);
  ASSERT_TRUE(splitter.feed(frame(2, "x")));
  EXPECT_EQ(said.out, frame(2, "x"));
  EXPECT_EQ(said.err, "");
}

TEST(OutputSplitter, WhatIsNoFrameIsRefused) {
  Said said;
  OutputSplitter splitter = splitter_into(said);
  EXPECT_EQ(splitter.feed("HTTP/1.1 200 OK").error().code, Code::kCorrupt);
  EXPECT_EQ(said.out, "");
}

TEST(OutputSplitter, KnowsWhatDidNotCome) {
  Said said;
  OutputSplitter splitter = splitter_into(said);
  ASSERT_TRUE(splitter.feed(frame(1, "abcdef").substr(0, 10)));
  EXPECT_EQ(said.out, "ab");
  EXPECT_EQ(splitter.missing(), 4U);
}

}  // namespace
}  // namespace fathom::containers
