// SPDX-License-Identifier: MIT
#include "containers/dftracer_log.h"

#include <gtest/gtest.h>

namespace fathom::containers {
namespace {

Instructions with(const std::string& enable, const std::string& log,
                  const std::string& results = "/results") {
  Instructions wanted;
  wanted.environment = {{"DFTRACER_ENABLE", enable}, {"DFTRACER_LOG_FILE", log}};
  wanted.results = results;
  return wanted;
}

TEST(DftracerLog, IsOneThatComesOut) {
  EXPECT_EQ(dftracer_log_name(with("1", "/results/log"), {}), "log");
  EXPECT_EQ(dftracer_log_name(with("Yes", "/results/log"), {}), "log");
  ImageFacts image;
  image.environment = {"DFTRACER_ENABLE=1"};
  Instructions wanted = with("1", "/results/log");
  wanted.environment.erase(wanted.environment.begin());
  EXPECT_EQ(dftracer_log_name(wanted, image), "log");
}

TEST(DftracerLog, NobodyAskedForIt) {
  for (const char* no : {"0", "", "of", "11"})
    EXPECT_EQ(dftracer_log_name(with(no, "/results/log"), {}), "") << no;
  EXPECT_EQ(dftracer_log_name({}, {}), "");
}

TEST(DftracerLog, LiesElsewhere) {
  for (const char* log : {"/tmp/log", "log", "/results", "/results2/log", "/results/a/log"})
    EXPECT_EQ(dftracer_log_name(with("1", log), {}), "") << log;
  EXPECT_EQ(dftracer_log_name(with("1", "/results/log", ""), {}), "");
}

}  // namespace
}  // namespace fathom::containers
