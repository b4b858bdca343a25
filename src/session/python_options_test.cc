// SPDX-License-Identifier: MIT
#include "session/python_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::session {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PythonOptions, NothingAskedForIsNoVariable) {
  EXPECT_FALSE(PythonOptions().any());
  EXPECT_THAT(python_variables({}).value(), IsEmpty());
}

TEST(PythonOptions, BecomeVariables) {
  PythonOptions options;
  options.modules = {"train", "-numpy*"};
  options.paths = {"/work", "-/work/venv/"};
  options.depth = 3;
  options.min = "10us";
  options.c_calls = true;
  options.loops = {"*"};
  options.turns = 100;
  EXPECT_TRUE(options.any());
  EXPECT_THAT(
      python_variables(options).value(),
      ElementsAre("FATHOM_PYTHON_MODULES=train,-numpy*", "FATHOM_PYTHON_PATHS=/work,-/work/venv",
                  "FATHOM_PYTHON_DEPTH=3", "FATHOM_PYTHON_MIN=10us", "FATHOM_PYTHON_C=1",
                  "FATHOM_PYTHON_LOOPS=*", "FATHOM_PYTHON_TURNS=100"));
}

TEST(PythonOptions, WhatCannotBeMeantIsRefused) {
  const auto refused = [](const PythonOptions& options) {
    return !python_variables(options).has_value();
  };
  EXPECT_TRUE(refused({.modules = {""}}));
  EXPECT_TRUE(refused({.modules = {"-"}}));
  EXPECT_TRUE(refused({.modules = {std::string(5000, 'x')}}));
  EXPECT_TRUE(refused({.paths = {"-"}}));
  EXPECT_TRUE(refused({.depth = -1}));
  EXPECT_TRUE(refused({.turns = 5})) << "of which loops?";
  for (const char* min : {"us", "-1us", "1.5us", "10 us", "10h", "99999999999999999s"})
    EXPECT_TRUE(refused({.min = min})) << min;
  for (const char* min : {"0", "250", "10ns", "10us", "1ms", "2s"})
    EXPECT_FALSE(refused({.min = min})) << min;
}

}  // namespace
}  // namespace fathom::session
