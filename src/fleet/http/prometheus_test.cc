// SPDX-License-Identifier: MIT
#include "fleet/http/prometheus.h"

#include <gtest/gtest.h>

#include <limits>

namespace fathom::fleet {
namespace {

TEST(Prometheus, FamiliesAndTheirSamples) {
  PrometheusText text;
  text.begin_family("a", "counter", "What it is.");
  text.add("a", 3, {{"x", "1"}, {"y", "two words"}});
  text.begin_family("b", "gauge");
  text.add("b", 0.25);
  text.add_single("c", "gauge", "One.", -1);
  EXPECT_EQ(text.text(),
            "# HELP a What it is.\n# TYPE a counter\na{x=\"1\",y=\"two words\"} 3\n"
            "# TYPE b gauge\nb 0.25\n"
            "# HELP c One.\n# TYPE c gauge\nc -1\n");
}

TEST(Prometheus, NoLabelEndsItsLine) {
  const auto line = [](std::string_view label) {
    PrometheusText text;
    text.add("a", 1, {{"x", label}});
    return text.text();
  };
  EXPECT_EQ(line("a\"b"), "a{x=\"a\\\"b\"} 1\n");
  EXPECT_EQ(line("a\nb 7"), "a{x=\"a\\\\nb 7\"} 1\n");
  EXPECT_EQ(line("\xff"), "a{x=\"\\\\xff\"} 1\n") << "is no UTF-8";
  EXPECT_NE(line("a\nb"), line("a\\nb")) << "two names stay two";
}

TEST(Prometheus, NumbersAsItReadsThem) {
  const auto number = [](double value) {
    PrometheusText text;
    text.add("a", value);
    return text.text();
  };
  EXPECT_EQ(number(9007199254740991.0), "a 9007199254740991\n");
  EXPECT_EQ(number(std::numeric_limits<double>::quiet_NaN()), "a NaN\n");
  EXPECT_EQ(number(std::numeric_limits<double>::infinity()), "a +Inf\n");
  EXPECT_EQ(number(-std::numeric_limits<double>::infinity()), "a -Inf\n");
}

TEST(Prometheus, NamesHaveLettersDigitsAndLowLines) {
  EXPECT_EQ(metric_name("fathom_", "gpu-0 busy"), "fathom_gpu_0_busy");
  EXPECT_EQ(metric_name("fathom_", "a\n{\"ä"), "fathom_a_____");
}

}  // namespace
}  // namespace fathom::fleet
