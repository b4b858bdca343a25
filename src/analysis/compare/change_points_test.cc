// SPDX-License-Identifier: MIT
// Published examples of step detection (Apache Otava's and airspeed velocity's own tests, the flow
// of the Nile), and histories that are simulated, whose steps are known.
#include "analysis/compare/change_points.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "base/dice.h"

namespace fathom::analysis {
namespace {

using Values = std::vector<double>;
using Places = std::vector<std::size_t>;

std::vector<ChangePoint> points_in(const Values& values, const ChangeOptions& options = {}) {
  return change_points({{std::string(kWall), values}}, options).at(0);
}

Places places_in(const Values& values, const ChangeOptions& options = {}) {
  Places places;
  for (const ChangePoint& point : points_in(values, options)) places.push_back(point.index);
  return places;
}

// Numbers of the standard normal distribution, the same everywhere (Box and Muller).
class Bell {
 public:
  explicit Bell(std::uint64_t seed) : dice_(seed) {}
  double even() {
    return (static_cast<double>(dice_.below(kMany)) + 0.5) / static_cast<double>(kMany);
  }
  double draw() {
    constexpr double kPi = 3.14159265358979323846;
    return std::sqrt(-2 * std::log(even())) * std::cos(2 * kPi * even());
  }

 private:
  static constexpr std::size_t kMany = std::size_t{1} << 40U;
  Dice dice_;
};

TEST(ChangePoints, OtavasExamples) {
  const Values one = {1.02, 0.95, 0.99, 1.00, 1.12, 0.90, 0.50, 0.51, 0.48, 0.48, 0.55};
  const Values two = {2.02, 2.03, 2.01, 2.04, 1.82, 1.85, 1.79, 1.81, 1.80, 1.76, 1.78};
  EXPECT_EQ(places_in(one), Places{6});
  EXPECT_EQ(places_in(two), Places{4});
  // Only one of them changes by a fifth.
  EXPECT_EQ(places_in(one, {.equal = 0.2}), Places{6});
  EXPECT_EQ(places_in(two, {.equal = 0.2}), Places{});
  const Values halves = {1.02, 0.95, 0.99, 1.00, 1.12, 1.00, 1.01, 0.98, 1.01, 0.96,
                         0.50, 0.51, 0.48, 0.48, 0.55, 0.50, 0.49, 0.51, 0.50, 0.49};
  EXPECT_EQ(places_in(halves), Places{10});
}

TEST(ChangePoints, OtavasManySteps) {
  Values values(5, 1.0);
  values.insert(values.end(), 8, 5.0);
  values.insert(values.end(), 8, 9.0);
  values.insert(values.end(), 9, 3.0);
  EXPECT_EQ(places_in(values), (Places{5, 13, 21}));
}

// The flow at Aswan from 1871 to 1970: a dam was begun in 1898.
TEST(ChangePoints, TheNileSankIn1898) {
  const Values flow = {1120, 1160, 963,  1210, 1160, 1160, 813,  1230, 1370, 1140, 995,  935,  1110,
                       994,  1020, 960,  1180, 799,  958,  1140, 1100, 1210, 1150, 1250, 1260, 1220,
                       1030, 1100, 774,  840,  874,  694,  940,  833,  701,  916,  692,  1020, 1050,
                       969,  831,  726,  456,  824,  702,  1120, 1100, 832,  764,  821,  768,  845,
                       864,  862,  698,  845,  744,  796,  1040, 759,  781,  865,  845,  944,  984,
                       897,  822,  1010, 771,  676,  649,  846,  812,  742,  801,  1040, 860,  874,
                       848,  890,  744,  749,  838,  1050, 918,  986,  797,  923,  975,  815,  1020,
                       906,  901,  1170, 912,  746,  919,  718,  714,  740};
  ASSERT_EQ(flow.size(), 100U);
  EXPECT_EQ(places_in(flow), Places{28});
}

// Of airspeed velocity's test_solve_potts: five steps, the smallest four times the noise.
TEST(ChangePoints, AirspeedVelocitysSteps) {
  Bell bell(1234);
  Values values;
  for (int t = 0; t < 100; ++t) {
    const double level =
        1 + 0.4 * (t >= 5) + 0.9 * (t >= 10) - 0.2 * (t >= 20) + 0.2 * (t >= 50) + 1.1 * (t >= 70);
    values.push_back(level + 0.05 * bell.even());
  }
  EXPECT_EQ(places_in(values), (Places{5, 10, 20, 50, 70}));
}

// Nothing varies; and one value of fifty is far off.
TEST(ChangePoints, AirspeedVelocitysOtherExamples) {
  EXPECT_EQ(places_in(Values(1000, 1.0)), Places{});
  Values outlier(50, 1.0);
  outlier[25] = 1000;
  EXPECT_EQ(places_in(outlier), Places{});
}

TEST(ChangePoints, FewValuesProveNothing) {
  EXPECT_EQ(places_in({}), Places{});
  EXPECT_EQ(places_in({1, 9}), Places{});
  EXPECT_EQ(places_in({1, 1, 1, 9, 9, 9}), Places{});
  // Of eight values, one order of 35 splits like this: not rare enough.
  EXPECT_EQ(places_in({1, 1, 1, 1, 9, 9, 9, 9}), Places{});
  // Three on a side never do, however many there are on the other.
  Values late(40, 1.0);
  late.insert(late.end(), 3, 2.0);
  EXPECT_EQ(places_in(late), Places{});
  late.push_back(2.0);
  EXPECT_EQ(places_in(late), Places{40});
}

TEST(ChangePoints, ASmallChangeIsNoneHoweverSure) {
  Values values(30, 1000.0);
  values.insert(values.end(), 30, 1005.0);
  EXPECT_EQ(places_in(values), Places{});
  EXPECT_EQ(places_in(values, {.equal = 0.001}), Places{30});
}

TEST(ChangePoints, FromNothingToSomethingIsAChange) {
  Values values(10, 0.0);
  values.insert(values.end(), 10, 3.0);
  const std::vector<ChangePoint> points = points_in(values);
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].index, 10U);
  EXPECT_EQ(points[0].estimate.before, 0);
  EXPECT_EQ(points[0].estimate.after, 3);
}

TEST(ChangePoints, NumbersOfTheChange) {
  Bell bell(5);
  Values values;
  for (int day = 0; day < 60; ++day)
    values.push_back((day < 30 ? 1.0 : 1.05) * (1 + 0.01 * bell.draw()));
  const std::vector<ChangePoint> points = points_in(values);
  ASSERT_EQ(points.size(), 1U);
  EXPECT_NEAR(static_cast<double>(points[0].index), 30, 1);
  EXPECT_LE(points[0].first, points[0].index);
  EXPECT_GE(points[0].last, points[0].index);
  EXPECT_NEAR(points[0].estimate.ratio->value, 1.05, 0.01);
  EXPECT_GT(points[0].estimate.ratio->interval.low, 1);
  EXPECT_LE(points[0].p, 0.001);
}

TEST(ChangePoints, ManyMetricsAreCorrected) {
  Values weak;  // sure enough alone: 2 of 462 orders
  for (int i = 0; i < 11; ++i) weak.push_back((i < 6 ? 1.0 : 2.0) + 0.01 * (i % 3));
  EXPECT_EQ(places_in(weak), Places{6});
  Trials history = {{"cycles", weak}};
  EXPECT_EQ(change_points(history, {})[0].size(), 1U);
  for (int i = 0; i < 9; ++i) history.push_back({"steady-" + std::to_string(i), Values(11, 1.0)});
  EXPECT_TRUE(change_points(history, {})[0].empty());
  // Wall time is asked by itself.
  history.push_back({std::string(kWall), weak});
  EXPECT_EQ(change_points(history, {}).back().size(), 1U);
}

TEST(ChangePoints, TheSameAnswerTwice) {
  Bell bell(9);
  Values values;
  for (int i = 0; i < 80; ++i) values.push_back((i < 40 ? 1.0 : 1.02) + 0.01 * bell.draw());
  const std::vector<ChangePoint> one = points_in(values), two = points_in(values);
  ASSERT_EQ(one.size(), two.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].index, two[i].index);
    EXPECT_EQ(one[i].p, two[i].p);
    EXPECT_EQ(one[i].estimate.ratio->interval.low, two[i].estimate.ratio->interval.low);
  }
}

// --- How often: simulated histories. docs/fleet-trends.md shows what FATHOM_FULL=1 prints. ---

enum class Noise { kEven, kSkewed, kBadNights, kLasting, kTwoModes };
struct NoiseName {
  Noise noise;
  const char* name;
};
constexpr NoiseName kNoises[] = {{Noise::kEven, "normal"},
                                 {Noise::kSkewed, "skewed"},
                                 {Noise::kBadNights, "1 in 20 half as slow again"},
                                 {Noise::kTwoModes, "two modes"},
                                 {Noise::kLasting, "lasting (AR 0.4)"}};

// Around 1, with a standard deviation of 1 %.
Values simulate(Noise noise, std::size_t count, std::uint64_t seed) {
  constexpr double kShare = 0.01;
  Bell bell(seed);
  Values values;
  double last = bell.draw();
  for (std::size_t i = 0; i < count; ++i) {
    const double drawn = bell.draw();
    const double other = bell.even();
    switch (noise) {
      case Noise::kEven:
        values.push_back(1 + kShare * drawn);
        break;
      case Noise::kSkewed:  // log-normal, of the same deviation
        values.push_back(1 + kShare * (std::exp(0.8 * drawn) - 1.377) / 1.303);
        break;
      case Noise::kBadNights:
        values.push_back((1 + kShare * drawn) * (other < 0.05 ? 1.5 : 1));
        break;
      case Noise::kTwoModes:
        values.push_back(1 + 0.5 * kShare * drawn + (other < 0.3 ? 2 * kShare : 0));
        break;
      case Noise::kLasting:
        last = 0.4 * last + std::sqrt(1 - 0.16) * drawn;
        values.push_back(1 + kShare * last);
        break;
    }
  }
  return values;
}

struct Shape {
  const char* name;
  Places steps(std::size_t count) const {
    const std::string which = name;
    if (which == "in the middle") return {count / 2};
    if (which == "five from the end") return {count - 5};
    if (which == "there and back") return {count / 2, count / 2 + count / 6};
    return {count / 3, 2 * count / 3};  // two steps up
  }
};
constexpr Shape kShapes[] = {
    {"in the middle"}, {"five from the end"}, {"there and back"}, {"two steps up"}};

Values with_steps(Values values, const Shape& shape, double size) {
  const Places steps = shape.steps(values.size());
  const bool goes_back = std::string(shape.name) == "there and back";
  for (std::size_t i = 0; i < values.size(); ++i) {
    double factor = 1;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      if (i >= steps[s]) factor *= goes_back && s == 1 ? 1 / (1 + size) : 1 + size;
    }
    values[i] *= factor;
  }
  return values;
}

bool are_found(const Places& found, const Places& steps) {
  if (found.size() != steps.size()) return false;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (std::llabs(static_cast<long long>(found[i]) - static_cast<long long>(steps[i])) > 1)
      return false;
  }
  return true;
}

std::size_t histories() { return std::getenv("FATHOM_FULL") != nullptr ? 1000 : 20; }

double false_alarms(Noise noise, std::size_t count) {
  std::size_t alarms = 0;
  for (std::uint64_t i = 0; i < histories(); ++i)
    alarms += places_in(simulate(noise, count, 1000 + i)).empty() ? 0 : 1;
  return static_cast<double>(alarms) / static_cast<double>(histories());
}

double found_exactly(Noise noise, const Shape& shape, double size, std::size_t count) {
  std::size_t found = 0;
  for (std::uint64_t i = 0; i < histories(); ++i) {
    const Values values = with_steps(simulate(noise, count, 5000 + i), shape, size);
    found += are_found(places_in(values), shape.steps(count)) ? 1 : 0;
  }
  return static_cast<double>(found) / static_cast<double>(histories());
}

TEST(ChangePointRates, FalseAlarms) {
  for (const std::size_t count : {20U, 60U, 200U}) {
    for (const auto& [noise, name] : kNoises) {
      const double rate = false_alarms(noise, count);
      std::cout << "false alarms, " << count << " records, " << name << ": " << 100 * rate
                << " %\n";
      EXPECT_LE(rate, noise == Noise::kLasting ? 0.2 : 0.05) << name;
    }
  }
}

TEST(ChangePointRates, Detection) {
  for (const Shape& shape : kShapes) {
    for (const double size : {0.02, 0.03, 0.05}) {
      for (const Noise noise : {Noise::kEven, Noise::kBadNights}) {
        const double rate = found_exactly(noise, shape, size, 60);
        std::cout << "found, 60 records, " << shape.name << ", " << 100 * size << " %, "
                  << kNoises[static_cast<std::size_t>(noise)].name << ": " << 100 * rate << " %\n";
        if (size == 0.05) {
          EXPECT_GE(rate, noise == Noise::kEven ? 0.9 : 0.6) << shape.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace fathom::analysis
