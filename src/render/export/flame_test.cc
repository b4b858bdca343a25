// SPDX-License-Identifier: MIT
// Flame graphs from rows that a test wrote down; tests/formats looks at them in a browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "render/export/flame_layout.h"
#include "render/export/flame_svg.h"
#include "render/export/flame_tree.h"
#include "render/testing/export_rows.h"

namespace fathom::render {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Samples of process 7, and the frames that they point at.
class Stacks : public testing::FakeStream {
 public:
  Stacks() {
    ExportProcess process;
    process.host = "vm";
    process.pid = 7;
    process.name = "work";
    process_rows.push_back(process);
  }

  void add(std::string_view event, std::int64_t weight, std::vector<ExportFrame> stack) {
    frames_.push_back(std::move(stack));
    ExportSample sample;
    sample.host = "vm";
    sample.pid = 7;
    sample.tid = 7;
    sample.event = event;
    sample.weight = weight;
    sample.frames = frames_.back();
    sample_rows.push_back(sample);
  }

 private:
  std::deque<std::vector<ExportFrame>> frames_;
};

ExportFrame frame(std::string_view function, std::string_view module = "work",
                  std::int64_t line = 0) {
  ExportFrame made;
  made.function = function;
  made.module = module;
  made.line = line;
  return made;
}

// "name level x width" of each box.
std::vector<std::string> boxes(const FlameTree& tree, const FlameLayout& layout) {
  std::vector<std::string> lines;
  for (const FlameBox& box : layout.boxes) {
    const std::string name = box.level == 0 ? "all" : tree.name(box.node).text;
    lines.push_back(name + " " + std::to_string(box.level) + " " +
                    std::to_string(std::lround(box.x)) + " " +
                    std::to_string(std::lround(box.width)));
  }
  return lines;
}

std::vector<std::string> drawn(Stacks& stacks, StackWeight weight = StackWeight::kOwn) {
  const Result<FlameTree> tree = load_flames(stacks, weight);
  EXPECT_TRUE(tree.has_value());
  return boxes(*tree, lay_out(*tree, nullptr));
}

TEST(Flames, WidthsAreSharesAndTheWidestIsFirst) {
  Stacks stacks;
  stacks.add("cpu-clock", 10, {frame("main"), frame("small")});
  stacks.add("cpu-clock", 30, {frame("main"), frame("large")});
  stacks.add("cpu-clock", 60, {frame("main")});
  EXPECT_THAT(drawn(stacks), ::testing::ElementsAre("all 0 0 100", "work 1 0 100", "main 2 0 100",
                                                    "large 3 0 30", "small 3 30 10"));
}

TEST(Flames, LinesOfAFunctionAreOneFrame) {
  Stacks stacks;
  stacks.add("cpu-clock", 1, {frame("main", "work", 10)});
  stacks.add("cpu-clock", 1, {frame("main", "work", 20)});
  EXPECT_THAT(drawn(stacks), ::testing::ElementsAre("all 0 0 100", "work 1 0 100", "main 2 0 100"));
}

TEST(Flames, WeightsChooseWhatIsShown) {
  Stacks stacks;
  stacks.add("cpu-clock", 10, {frame("main"), frame("runs")});
  stacks.add("off-cpu", 30, {frame("main"), frame("waits")});
  stacks.add("cycles", 777, {frame("main"), frame("counts")});
  EXPECT_THAT(
      drawn(stacks, StackWeight::kCpu),
      ::testing::ElementsAre("all 0 0 100", "work 1 0 100", "main 2 0 100", "runs 3 0 100"));
  EXPECT_THAT(
      drawn(stacks, StackWeight::kOffCpu),
      ::testing::ElementsAre("all 0 0 100", "work 1 0 100", "main 2 0 100", "waits 3 0 100"));
  EXPECT_THAT(drawn(stacks, StackWeight::kAll),
              ::testing::ElementsAre("all 0 0 100", "off-cpu 1 0 75", "work 2 0 75", "main 3 0 75",
                                     "waits 4 0 75", "cpu-clock 1 75 25", "work 2 75 25",
                                     "main 3 75 25", "runs 4 75 25"));
  EXPECT_THAT(load_flames(stacks, StackWeight::kCpu)->remark, HasSubstr("cycles"));
}

TEST(Flames, OfOneEventWhereNoTimeWasSampled) {
  Stacks stacks;
  stacks.add("cycles", 5, {frame("often")});
  stacks.add("cycles", 5, {frame("often")});
  stacks.add("page-faults", 90, {frame("rare")});
  EXPECT_THAT(drawn(stacks),
              ::testing::ElementsAre("all 0 0 100", "work 1 0 100", "often 2 0 100"));
  const Result<FlameTree> tree = load_flames(stacks, StackWeight::kOwn);
  EXPECT_FALSE(tree->is_time);
  EXPECT_THAT(flame_file(*tree, lay_out(*tree, nullptr)), HasSubstr("10 cycles, 2 samples"));
}

TEST(Flames, OfRecordedCalls) {
  Stacks stacks;
  ExportEvent outer = testing::event(0, 100, "app", "step");
  ExportEvent inner = testing::event(10, 40, "posix", "read");
  stacks.event_rows = {outer, inner};
  EXPECT_THAT(
      drawn(stacks, StackWeight::kCalls),
      ::testing::ElementsAre("all 0 0 100", "work 1 0 100", "step 2 0 100", "read [posix] 3 0 40"));
}

TEST(Flames, WithoutSamplesSayWhyAndWhatToDo) {
  Stacks stacks;
  const Result<FlameTree> tree = load_flames(stacks, StackWeight::kOwn);
  ASSERT_FALSE(tree.has_value());
  EXPECT_EQ(tree.error().code, Code::kNotFound);
  EXPECT_EQ(tree.error().message, "no CPU time was sampled");
  EXPECT_THAT(tree.error().hint, HasSubstr("fathom run -- CMD"));
}

TEST(Flames, KindsHaveColours) {
  Stacks stacks;
  stacks.add("cpu-clock", 1,
             {frame("main.py:work", "/srv/app/main.py"), frame("PyObject_Call", "/usr/bin/python3"),
              frame("sys_read", "[kernel]"), frame("", ""), frame("hot.js", "[jit]"),
              frame("py::f:/srv/a.py", "[jit]")});
  const Result<FlameTree> tree = load_flames(stacks, StackWeight::kOwn);
  const std::string text = flame_file(*tree, lay_out(*tree, nullptr));
  EXPECT_THAT(text, HasSubstr("<g class=\"k2\"><title>main.py:work\n"));
  EXPECT_THAT(text, HasSubstr("<g class=\"k1\"><title>PyObject_Call\n"));
  EXPECT_THAT(text, HasSubstr("<g class=\"k3\"><title>sys_read\n"));
  EXPECT_THAT(text, HasSubstr("<g class=\"k4\"><title>[unknown]\n"));
  EXPECT_THAT(text, HasSubstr("<g class=\"k4\"><title>hot.js\n"));
  EXPECT_THAT(text, HasSubstr("<g class=\"k2\"><title>py::f:/srv/a.py\n"));
  EXPECT_THAT(text, HasSubstr("Python, /srv/app/main.py</title>"));
}

TEST(Flames, NamesAreTextAndNothingElse) {
  Stacks stacks;
  const std::string long_name = "f<" + std::string(5000, 'x') + ">";
  stacks.add("cpu-clock", 1,
             {frame("a<b>&\"c\"'d'"), frame("\x1b[31m\n\x01"), frame("]]></title><script>"),
              frame("\xef\xbf\xbf\xff"), frame("größe"), frame(long_name)});
  const Result<FlameTree> tree = load_flames(stacks, StackWeight::kOwn);
  const std::string text = flame_file(*tree, lay_out(*tree, nullptr));
  EXPECT_THAT(text, HasSubstr("<title>a&lt;b&gt;&amp;&quot;c&quot;'d'\n"));
  EXPECT_THAT(text, HasSubstr("<title>\\x1b[31m\\n\\x01\n"));
  EXPECT_THAT(text, HasSubstr("<title>]]&gt;&lt;/title&gt;&lt;script&gt;\n"));
  EXPECT_THAT(text, HasSubstr("<title>\\u{ffff}\\xff\n"));
  EXPECT_THAT(text, HasSubstr("<title>größe\n"));
  EXPECT_THAT(text, Not(HasSubstr(std::string(400, 'x'))));
}

TEST(Flames, DeepStacksEndAtALevelThatIsSaid) {
  Stacks stacks;
  stacks.add("cpu-clock", 1, std::vector<ExportFrame>(10'000, frame("again")));
  const Result<FlameTree> tree = load_flames(stacks, StackWeight::kOwn);
  const FlameLayout layout = lay_out(*tree, nullptr);
  EXPECT_EQ(layout.levels, 1000U);
  EXPECT_EQ(layout.too_deep, 10'002U - 1000U);
  const std::string text = flame_file(*tree, layout);
  EXPECT_THAT(text, HasSubstr("Left out: 9002 frames below level 1000"));
  EXPECT_LT(text.size(), 400'000U);
}

TEST(Flames, ManyFunctionsStaySmall) {
  Stacks stacks;
  std::deque<std::string> names;
  for (int i = 0; i < 100'000; ++i) {
    names.push_back("function_" + std::to_string(i));
    stacks.add("cpu-clock", 1 + i % 3, {frame("main"), frame(names.back())});
  }
  const Result<FlameTree> tree = load_flames(stacks, StackWeight::kOwn);
  const FlameLayout layout = lay_out(*tree, nullptr);
  EXPECT_EQ(layout.boxes.size() + layout.too_narrow, 100'003U);
  EXPECT_LE(layout.boxes.size(), 6000U);
  const FlameLayout all = lay_out(*tree, nullptr, {.frames = 5000, .least_percent = 0});
  EXPECT_EQ(all.boxes.size(), 5000U);
  EXPECT_EQ(all.too_narrow, 95'003U);
  EXPECT_EQ(tree->name(all.boxes.back().node).text.substr(0, 9), "function_");
  EXPECT_LT(flame_file(*tree, all).size(), 1'500'000U);
}

TEST(Flames, ShowTheChangeOfShares) {
  Stacks before, after;
  before.add("cpu-clock", 50, {frame("main"), frame("same")});
  before.add("cpu-clock", 40, {frame("main"), frame("less")});
  before.add("cpu-clock", 10, {frame("main"), frame("gone")});
  after.add("cpu-clock", 500, {frame("main", "/new/build/work"), frame("same")});
  after.add("cpu-clock", 200, {frame("main"), frame("less")});
  after.add("cpu-clock", 300, {frame("main"), frame("fresh")});
  const Result<FlameTree> old_tree = load_flames(before, StackWeight::kOwn);
  const Result<FlameTree> tree = load_flames(after, StackWeight::kOwn);
  const FlameLayout layout = lay_out(*tree, &*old_tree);
  EXPECT_NEAR(layout.gone, 10, 1e-9);
  const std::string text = flame_file(*tree, layout);
  EXPECT_THAT(text,
              HasSubstr("<g class=\"d3\"><title>same (+0.0)\n500 ns, 50.00 % (before: 50.00 %)"));
  EXPECT_THAT(text,
              HasSubstr("<g class=\"d0\"><title>less (-20.0)\n200 ns, 20.00 % (before: 40.00 %)"));
  EXPECT_THAT(text,
              HasSubstr("<g class=\"d6\"><title>fresh (+30.0)\n300 ns, 30.00 % (before: none)"));
  EXPECT_THAT(text, HasSubstr("10.0 % of the other's time is in calls that are not here"));
}

class FlameExport : public testing::ExportTest {};

TEST_F(FlameExport, NeedsNothingFromElsewhere) {
  Stacks stacks;
  stacks.add("cpu-clock", 1, {frame("main")});
  const std::string text = exported("flamegraph", stacks);
  EXPECT_TRUE(text.starts_with("<?xml"));
  for (const char* word : {"href", "src=", "@import", "url("})
    EXPECT_THAT(text, Not(HasSubstr(word)));
}

TEST_F(FlameExport, CollapsedStacksAreThoseOfTheWeight) {
  Stacks stacks;
  stacks.event_rows = {testing::event(0, 100, "app", "step")};
  EXPECT_EQ(exported("collapsed", stacks), "work;step 100\n");
  stacks.add("cpu-clock", 5, {frame("main")});
  stacks.add("off-cpu", 7, {frame("main"), frame("wait")});
  EXPECT_EQ(exported("collapsed", stacks), "cpu-clock;work;main 5\noff-cpu;work;main;wait 7\n");
  EXPECT_EQ(exported("collapsed", stacks, "", {.weight = StackWeight::kCpu}), "work;main 5\n");
  EXPECT_EQ(exported("collapsed", stacks, "", {.weight = StackWeight::kOffCpu}),
            "work;main;wait 7\n");
  EXPECT_EQ(exported("collapsed", stacks, "", {.weight = StackWeight::kCalls}), "work;step 100\n");
}

TEST(StackWeights, HaveWords) {
  EXPECT_EQ(*parse_weight("off-cpu"), StackWeight::kOffCpu);
  const Result<StackWeight> wrong = parse_weight("of-cpu\n");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().message, "there is no weight 'of-cpu\\n'");
}

}  // namespace
}  // namespace fathom::render
