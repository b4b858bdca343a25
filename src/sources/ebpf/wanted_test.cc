// SPDX-License-Identifier: MIT
#include "sources/ebpf/wanted.h"

#include <gtest/gtest.h>

namespace fathom::sources::ebpf {
namespace {

using Names = std::vector<std::string>;

// outer(int), outer(char*), ns::outer(int), ns::Box<int>::get() const, int twice<int>(int), malloc,
// realpath and an older one, and what the compiler split off outer(int).
const Names kNames = {"_Z5outeri",        "_Z5outerPc", "_ZN2ns5outerEi", "_ZNK2ns3BoxIiE3getEv",
                      "_Z5twiceIiET_S0_", "malloc",     "realpath",       "realpath@GLIBC_2.2.5",
                      "_Z5outeri.cold"};

Names found_by(const std::string& text) {
  const Result<Pattern> pattern = read_pattern(text);
  EXPECT_TRUE(pattern) << text;
  Names found;
  if (!pattern) return found;
  for (const std::size_t i : find_wanted(*pattern, kNames)) found.push_back(kNames[i]);
  return found;
}

TEST(EbpfWanted, NamesAsFilesAndAsProgrammersHaveThem) {
  EXPECT_EQ(found_by("outer"), (Names{"_Z5outeri", "_Z5outerPc"}));
  EXPECT_EQ(found_by("outer(int)"), (Names{"_Z5outeri"}));
  EXPECT_EQ(found_by("outer( char * )"), (Names{"_Z5outerPc"}));
  EXPECT_EQ(found_by("_Z5outeri"), (Names{"_Z5outeri"}));
  EXPECT_EQ(found_by("ns::outer"), (Names{"_ZN2ns5outerEi"}));
  EXPECT_EQ(found_by("ns::Box<int>::get"), (Names{"_ZNK2ns3BoxIiE3getEv"}));
  EXPECT_EQ(found_by("ns::Box<int>::get() const"), (Names{"_ZNK2ns3BoxIiE3getEv"}));
  EXPECT_EQ(found_by("twice"), (Names{"_Z5twiceIiET_S0_"}));
  EXPECT_EQ(found_by("malloc"), (Names{"malloc"}));
  EXPECT_EQ(found_by("realpath"), (Names{"realpath", "realpath@GLIBC_2.2.5"}));
  EXPECT_EQ(found_by("oute"), (Names{}));
  EXPECT_EQ(found_by("get"), (Names{})) << "a name without its class is not the name";
}

TEST(EbpfWanted, RegularExpressions) {
  EXPECT_EQ(found_by("^outer$"), (Names{"_Z5outeri", "_Z5outerPc"}));
  EXPECT_EQ(found_by("^ns::"), (Names{"_ZN2ns5outerEi", "_ZNK2ns3BoxIiE3getEv"}));
  EXPECT_EQ(found_by("realpath$"), (Names{"realpath", "realpath@GLIBC_2.2.5"}));
  EXPECT_EQ(found_by(".*alloc.*"), (Names{"malloc"}));
  for (const char* text : {"(", "a[", "x{3"}) {
    const Result<Pattern> pattern = read_pattern(text);
    ASSERT_FALSE(pattern) << text;
    EXPECT_EQ(pattern.error().code, Code::kUsage);
  }
}

TEST(EbpfWanted, PlainNames) {
  const std::pair<const char*, const char*> cases[] = {
      {"outer(int)", "outer"},
      {"int ns::twice<int>(int)", "ns::twice"},
      {"(anonymous namespace)::helper(std::string const&)", "(anonymous namespace)::helper"},
      {"ns::Box<std::pair<int, int> >::get() const", "ns::Box<std::pair<int, int> >::get"},
      {"ns::Box::operator()(int)", "ns::Box::operator()"},
      {"operator new(unsigned long)", "operator new"},
      {"outer(int) [clone .cold]", "outer(int) [clone .cold]"},
      {"malloc", "malloc"},
      {"", ""},
  };
  for (const auto& [name, want] : cases) EXPECT_EQ(plain_name(name), want) << name;
}

TEST(EbpfWanted, NearOnes) {
  EXPECT_EQ(did_you_mean_of("otuer", kNames), "did you mean outer?");
  EXPECT_EQ(did_you_mean_of("nothing_like_it", kNames), "");
}

}  // namespace
}  // namespace fathom::sources::ebpf
