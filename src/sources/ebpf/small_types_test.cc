// SPDX-License-Identifier: MIT
#include "sources/ebpf/small_types.h"

#include <bpf/btf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "sources/ebpf/kernel_types.h"

namespace fathom::sources::ebpf {
namespace {

using Names = std::unordered_set<std::string>;
using Numbers = std::vector<std::uint32_t>;

struct FreeTypes {
  void operator()(btf* types) const { btf__free(types); }
};

// An outer structure with an inner one inside of it (in an array), and a pointer to a third.
class SmallTypes : public ::testing::Test {
 protected:
  SmallTypes() : types(btf__new_empty()) {
    number = btf__add_int(types.get(), "int", 4, BTF_INT_SIGNED);
    inner = btf__add_struct(types.get(), "inner", 4);
    btf__add_field(types.get(), "value", number, 0, 0);
    other = btf__add_struct(types.get(), "other", 4);
    btf__add_field(types.get(), "value", number, 0, 0);
    array = btf__add_array(types.get(), number, inner, 2);
    pointer = btf__add_ptr(types.get(), other);
    outer = btf__add_struct(types.get(), "outer", 16);
    btf__add_field(types.get(), "parts", array, 0, 0);
    btf__add_field(types.get(), "next", pointer, 64, 0);
    btf__add_struct(types.get(), "fathom_own", 0);
    old = btf__add_struct(types.get(), "other___old", 0);
  }

  [[nodiscard]] Numbers named(const Names& names) const {
    Numbers found = types_named(types.get(), names);
    std::ranges::sort(found);
    return found;
  }
  static Numbers sorted(std::initializer_list<int> numbers) {
    Numbers all(numbers.begin(), numbers.end());
    std::ranges::sort(all);
    return all;
  }

  std::unique_ptr<btf, FreeTypes> types;
  int number, inner, other, array, pointer, outer, old;
};

TEST_F(SmallTypes, NamesOfTheKernel) {
  EXPECT_EQ(kernel_names_in(types.get()), (Names{"inner", "outer", "other"}));
  EXPECT_TRUE(kernel_names_in(nullptr).empty());
}

TEST_F(SmallTypes, HoldWhatLiesInside) {
  EXPECT_EQ(named({"inner"}), sorted({number, inner}));
  EXPECT_EQ(named({"outer"}), sorted({number, inner, array, pointer, outer}));
  EXPECT_EQ(named({"outer", "other"}), sorted({number, inner, other, array, pointer, outer}));
}

TEST_F(SmallTypes, AllNamesOrNone) { EXPECT_TRUE(named({"inner", "of_a_module"}).empty()); }

// What is looked for in them is found as it is among all.
TEST(SmallTypesOfTheKernel, AreAFile) {
  if (!read_kernel_types()) GTEST_SKIP() << "no types here";
  const Fd file = small_types(kModules[0].typed);
  ASSERT_TRUE(file.valid());
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  const std::unique_ptr<btf, FreeTypes> small(btf__parse(path.c_str(), nullptr));
  ASSERT_TRUE(small);
  EXPECT_LT(btf__type_cnt(small.get()) * 10, btf__type_cnt(kernel_types()));
  const int task = btf__find_by_name_kind(small.get(), "task_struct", BTF_KIND_STRUCT);
  const int same = btf__find_by_name_kind(kernel_types(), "task_struct", BTF_KIND_STRUCT);
  ASSERT_GT(task, 0);
  EXPECT_EQ(btf__type_by_id(small.get(), static_cast<std::uint32_t>(task))->size,
            btf__type_by_id(kernel_types(), static_cast<std::uint32_t>(same))->size);
}

}  // namespace
}  // namespace fathom::sources::ebpf
