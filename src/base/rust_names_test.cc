// SPDX-License-Identifier: MIT
#include "base/rust_names.h"

#include <gtest/gtest.h>

#include <string>

#include "base/demangle.h"

namespace fathom {
namespace {

TEST(RustNames, AsAProgrammerWroteThem) {
  struct Case {
    const char* name;
    const char* want;
  };
  const Case cases[] = {
      // The older scheme: a hash at the end, signs as words.
      {"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
      {"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h"
       "930b740aa94f1d3aE",
       "<Test + 'static as foo::Bar<Test>>::bar"},
      {"_ZN3foo13_$RF$$BP$$C$x17h0123456789abcdefE", "foo::&*,x"},
      // v0.
      {"_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function"},
      {"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
      {"_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}"},
      {"_RNvMCs4fqI2P2rA04_13const_genericINtB2_8UnsignedKhb_E1f",
       "<const_generic::Unsigned<11>>::f"},
      {"_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_"
       "ECs1iopQbuBiw2_3std",
       "alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>"},
      {"_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
       "utf8_idents::საჭმელად_გემრიელი_სადილი"},
      {"_RNvXs_Cs1_1aNtB4_1SNtB4_1T1f", "<a::S as a::T>::f"},
      {"_RINvC1a1fRShQmPyOaTlEThhEAhj4_E",
       "a::f::<&[u8], &mut u32, *const u64, *mut i8, (i32,), (u8, u8), [u8; 4]>"},
      {"_RINvC1a1fFUKChEuFK5c_abiEbE",
       "a::f::<unsafe extern \"C\" fn(u8), extern \"c-abi\" fn() -> bool>"},
      {"_RINvC1a1fKb1_Kb0_Kc41_Kan5_E", "a::f::<true, false, 'A', -5>"},
      {"_RINvC1a1fFG_RL0_hEuE", "a::f::<for<'a> fn(&'a u8)>"},
      {"_RNvC1a1f.llvm.1234", "a::f"},
  };
  for (const Case& one : cases) EXPECT_EQ(demangle(one.name), one.want) << one.name;
}

TEST(RustNames, WhatIsNoneStaysAsItIs) {
  for (const char* name : {"_R", "_RN", "_RNvC3foo", "_RNvC99999999999999999999a", "_RB_", "_RBa_",
                           "_Random", "_RINvC1a1fBz_E", "_ZN1a17hxyzE", "_ZN9"})
    EXPECT_EQ(demangle(name), name);
  EXPECT_EQ(demangle("_ZN1a1bEv"), "a::b()");
  EXPECT_EQ(demangle("_Znwm"), "operator new(unsigned long)");
}

// Each level names the one before twice.
TEST(RustNames, OneThatGrowsWithoutEndIsLeftAlone) {
  std::string name = "_RINvC1a1fThhE";
  std::size_t last = 7;
  for (int i = 0; i < 40; ++i) {
    const std::size_t here = name.size() - 2;
    std::string back;
    for (std::size_t value = last - 1; back.empty() || value > 0; value /= 62) {
      const std::size_t digit = value % 62;
      const char sign = static_cast<char>(digit < 10   ? '0' + digit
                                          : digit < 36 ? 'a' + digit - 10
                                                       : 'A' + digit - 36);
      back.insert(back.begin(), sign);
    }
    name += "TB" + back + "_B" + back + "_E";
    last = here;
  }
  name += "E";
  EXPECT_EQ(demangle(name), name);
}

}  // namespace
}  // namespace fathom
