// SPDX-License-Identifier: MIT
// Tables of symbols that few objects of this machine have: by the old hash alone, and by GNU's with
// a chain that goes on.
#include "guest/elf_object.h"

#include <gtest/gtest.h>

namespace fathom::guest {
namespace {

constexpr char kNames[] = "\0one\0two\0gone";
constexpr uintptr_t kBase = 0x10000;

ElfW(Sym) symbol(uint32_t name, uint16_t section) {
  ElfW(Sym) made{};
  made.st_name = name;
  made.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  made.st_shndx = section;
  made.st_value = ElfW(Addr){0x100} * name;
  return made;
}

const ElfW(Sym) kSymbols[] = {{}, symbol(1, 5), symbol(5, 5), symbol(9, SHN_UNDEF)};

Object object_with_symbols() {
  Object object;
  object.base = kBase;
  object.symbols = kSymbols;
  object.strings = kNames;
  return object;
}

void* address(uintptr_t value) { return reinterpret_cast<void*>(kBase + value); }

TEST(ElfObject, SymbolsAreFoundByTheOldHashAlone) {
  constexpr uint32_t kTable[] = {1, 4, 1, 0, 2, 3, 0};  // one bucket: all of them, one by one
  Object object = object_with_symbols();
  EXPECT_EQ(find_symbol(object, {"one"}), nullptr) << "no table";
  EXPECT_EQ(count_symbols(object), 0U);
  object.hash = kTable;
  EXPECT_EQ(find_symbol(object, {"one"}), address(0x100));
  EXPECT_EQ(find_symbol(object, {"two"}), address(0x500));
  EXPECT_EQ(find_symbol(object, {"gone"}), nullptr) << "it is another object's";
  EXPECT_EQ(find_symbol(object, {"three"}), nullptr);
  EXPECT_EQ(count_symbols(object), 4U);
}

// Head, one word of the filter that lets everything pass, one bucket, a chain of three.
TEST(ElfObject, GnuHashCountsToTheEndOfItsLastChain) {
  constexpr uint32_t kAll = UINT32_MAX;
  const uint32_t table[] = {1,
                            1,
                            1,
                            0,
                            kAll,
                            kAll,
                            1,
                            gnu_hash_of("one") & ~1U,
                            gnu_hash_of("two") & ~1U,
                            gnu_hash_of("gone") | 1U};
  Object object = object_with_symbols();
  object.gnu_hash = table;
  EXPECT_EQ(count_symbols(object), 4U);
  EXPECT_EQ(find_symbol(object, {"one"}), address(0x100));
  EXPECT_EQ(find_symbol(object, {"two"}), address(0x500));
  EXPECT_EQ(find_symbol(object, {"gone"}), nullptr);
  EXPECT_EQ(find_symbol(object, {"three"}), nullptr);
  const uint32_t empty[] = {1, 3, 1, 0, kAll, kAll, 0};
  object.gnu_hash = empty;
  EXPECT_EQ(count_symbols(object), 3U) << "symbols that it does not list";
}

}  // namespace
}  // namespace fathom::guest
