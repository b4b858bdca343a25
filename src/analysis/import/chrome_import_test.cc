// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/import/chrome_event.h"
#include "analysis/import/import.h"
#include "analysis/import/json_events.h"
#include "analysis/testing/import_box.h"

namespace fathom::analysis {
namespace {

class ChromeImportTest : public testing::ImportBox {
 protected:
  Result<ImportOutcome> import(std::string_view content) {
    return import_into_trace({file("x.json", content)});
  }
};

constexpr char kKineto[] = R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"GPU {x}"}],
"baseTimeNanoseconds":1700000000000000000,"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":8,"ts":1000.001,"dur":50.25,"args":{"Ev Idx":3}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":8,"ts":1010,"dur":5,"args":{"correlation":12}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":1020,"dur":30,"args":{"stream":7,"device":0,"correlation":12,"grid":[1,2]}},
{"ph":"s","id":12,"pid":7,"tid":8,"ts":1010,"cat":"ac2g","name":"ac2g"},
{"ph":"X","cat":"Trace","name":"span","pid":"Spans","tid":"Profiler","ts":1000,"dur":100},
{"ph":"M","name":"process_name","pid":7,"tid":0,"ts":0,"args":{"name":"python"}},
{"ph":"M","name":"thread_name","pid":7,"tid":8,"args":{"name":"main"}},
{"ph":"C","name":"mem","pid":7,"ts":1001,"args":{"bytes":42}}
],"traceName":"x.json"})";

TEST_F(ChromeImportTest, Kineto) {
  const Result<ImportOutcome> outcome = import(kKineto);
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->rows, 5);
  EXPECT_EQ(outcome->damaged_lines, 0);
  EXPECT_EQ(outcome->left_out, (std::map<std::string, std::int64_t>{{"event of phase s", 1}}));
  expect_one({{"events",
               "name = 'aten::mm' AND layer = 'app' AND category = 'cpu_op' AND ts = 1 AND dur = "
               "50250 AND depth = 0 AND args['Ev Idx'] = '3'"},
              {"events",
               "name = 'cudaLaunchKernel' AND layer = 'cuda' AND depth = 1 AND correlation = 12"},
              {"events",
               "name = 'gemm' AND layer = 'gpu' AND stream = 7 AND device = 0 AND depth IS NULL "
               "AND args['grid'] = '[1,2]'"},
              {"events", "name = 'span' AND pid IS NULL AND args['pid'] = 'Spans'"},
              {"counters", "name = 'mem' AND unit = 'bytes' AND value = 42 AND ts = 1000"},
              {"processes", "pid = 7 AND name = 'python'"},
              {"threads", "tid = 8 AND name = 'main'"},
              {"losses", "reason = 'event of phase s' AND count = 1"},
              {"run", "key = 'start' AND value LIKE '2023-11-14T22:13:20.001%'"}});
}

// Kineto gives a device's work a process of its own.
TEST_F(ChromeImportTest, KernelsOfKinetoMeetTheirCalls) {
  const Result<ImportOutcome> outcome = import(R"({"deviceProperties":[],"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":8,"ts":1000,"dur":100},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":8,"ts":1010,"dur":5,"args":{"correlation":12}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":1020,"dur":30,"args":{"stream":7,"device":0,"correlation":12}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":8,"ts":1060,"dur":6,"args":{"correlation":13}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":1070,"dur":30,"args":{"stream":7,"device":0,"correlation":13}},
{"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"stream 7"}}
]})");
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  expect_one({{"events", "layer = 'gpu' AND correlation = 12 AND tid IS NULL AND stream = 7"},
              {"threads", "true"},  // a stream is none
              {"gpu_idle", "cause = 'busy' AND time = 60000 AND stretches = 2"},
              {"gpu_idle", "cause = 'regions' AND name = 'aten::mm' AND time = 10000"},
              {"gpu_idle", "cause = 'launch' AND time = 6000"},
              {"gpu_idle", "cause = 'start' AND time = 4000"}});
}

TEST_F(ChromeImportTest, BeginsAndEndsAndTasks) {
  const Result<ImportOutcome> outcome = import(R"([
{"ph":"B","name":"a","cat":"x","pid":1,"tid":1,"ts":10,"args":{"k":"v"}},
{"ph":"B","name":"b","cat":"x","pid":1,"tid":1,"ts":11},
{"ph":"E","pid":1,"tid":1,"ts":12,"args":{"r":1}},
{"ph":"E","pid":1,"tid":1,"ts":20},
{"ph":"E","pid":1,"tid":1,"ts":21},
{"ph":"B","name":"never ends","pid":1,"tid":1,"ts":22},
{"ph":"b","name":"task","cat":"t","id":"0x1","pid":1,"tid":1,"ts":5},
{"ph":"b","name":"task","cat":"t","id":"0x2","pid":1,"tid":1,"ts":6},
{"ph":"e","name":"task","cat":"t","id":"0x1","pid":1,"tid":2,"ts":9},
{"ph":"i","name":"mark","pid":1,"tid":1,"ts":13,"s":"t"},
{"ph":"C","name":"two","pid":1,"ts":13,"args":{"x":1,"y":2.5,"z":"no"}},
{"ph":"X","name":"no time","pid":1,"tid":1},
)");
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->damaged_lines, 1);
  EXPECT_EQ(outcome->left_out, (std::map<std::string, std::int64_t>{{"begin without an end", 2},
                                                                    {"end without a begin", 1}}));
  expect_one({{"events", "name = 'a' AND dur = 10000 AND depth = 0 AND args['k'] = 'v'"},
              {"events", "name = 'b' AND dur = 1000 AND depth = 1 AND args['r'] = '1'"},
              {"events",
               "name = 'task' AND ts = 0 AND dur = 4000 AND depth IS NULL AND args['id'] = '0x1'"},
              {"events", "name = 'mark' AND dur = 0 AND depth = 1"},
              {"counters", "name = 'two.x' AND value = 1"},
              {"counters", "name = 'two.y' AND value = 2.5"}});
}

TEST_F(ChromeImportTest, DamageCostsItsObject) {
  const Result<ImportOutcome> outcome = import(
      "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":1},"
      "{\"ph\":\"X\",\"name\":\"b\" \"ts\":1}, rubbish ,"
      "{\"ph\":\"X\",\"name\":\"c\",\"ts\":3,\"dur\":1,\"pid\":1,\"tid\":1},"
      "{\"ph\":\"X\",\"name\":\"cut");
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->rows, 2);
  EXPECT_EQ(outcome->damaged_lines, 3);
  EXPECT_FALSE(import("{\"traceEvents\":[]}").has_value());
}

TEST_F(ChromeImportTest, OurOwnExportComesBack) {
  ASSERT_TRUE(import(R"({"displayTimeUnit":"ns","traceEvents":[
{"ph":"X","name":"read","cat":"posix,read","ts":1.234,"dur":0.500,"pid":7,"tid":8,"args":{"file":"/x","bytes":10,"error":"EIO","key":"v"}}
]})")
                  .has_value());
  expect_one({{"events",
               "name = 'read' AND layer = 'posix' AND category = 'read' AND dur = 500 AND file = "
               "'/x' AND bytes = 10 AND error = 'EIO' AND args['key'] = 'v'"}});
}

TEST(JsonEvents, ObjectsOfEveryShapeOfFile) {
  struct Case {
    const char* text;
    std::vector<std::string> objects;
    std::int64_t damaged;
  };
  const Case cases[] = {
      {"[{\"a\":1},{\"b\":\"]}\\\"\"}]", {"{\"a\":1}", "{\"b\":\"]}\\\"\"}"}, 0},
      {"[\n{\"a\":[{}]}\n,", {"{\"a\":[{}]}"}, 0},
      {"{\"x\":{\"traceEvents\":[{}]},\"y\":\"[{\",\"traceEvents\" : [ {\"a\":1} ],\"z\":2}",
       {"{\"a\":1}"},
       0},
      {"{\"traceEvents\":[{\"a\":1}],\"other\":[{\"no\":1}]}", {"{\"a\":1}"}, 0},
      {"[1,2,{\"a\":1}]", {"{\"a\":1}"}, 1},
      {"[{\"a\":", {}, 1},
      {"hello", {}, 0},
      {"", {}, 0},
  };
  for (const auto& [text, wanted, damaged] : cases) {
    JsonEvents reader = JsonEvents::of(text);
    std::vector<std::string> got;
    while (true) {
      const auto object = reader.next();
      ASSERT_TRUE(object.has_value());
      if (!*object) break;
      got.emplace_back(**object);
    }
    EXPECT_EQ(got, wanted) << text;
    EXPECT_EQ(reader.damaged(), damaged) << text;
  }
}

TEST(JsonEvents, AnObjectThatIsTooLongIsCountedAndPassedOver) {
  const std::string text =
      "[{\"a\":\"" + std::string(JsonEvents::kMaxObject, '{') + "\"},{\"b\":1}]";
  JsonEvents reader = JsonEvents::of(text);
  const auto object = reader.next();
  ASSERT_TRUE(object.has_value() && *object);
  EXPECT_EQ(**object, "{\"b\":1}");
  EXPECT_FALSE(*reader.next());
  EXPECT_EQ(reader.damaged(), 0);
  EXPECT_EQ(reader.too_long(), 1);
}

TEST(JsonEvents, TimesKeepAllTheirDigits) {
  const RawTimes times = raw_times(
      R"({"args":{"ts":1,"dur":2},"name":"\"ts\":3","ts": 1700000000000000.123,"dur":"4.5"})");
  EXPECT_EQ(times.ts, "1700000000000000.123");
  EXPECT_EQ(times.dur, "4.5");
  EXPECT_EQ(raw_times("{\"ts\"").ts, "");
  EXPECT_EQ(raw_times("{\"ts\":").ts, "");
}

TEST(ChromePlaces, LayersFromCategories) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"posix,read", "posix", "read"},
      {"app", "app", ""},
      {"cpu_op", "app", "cpu_op"},
      {"kernel", "gpu", "kernel"},
      {"python_function", "python", "python_function"},
      {"", "app", ""}};
  for (const auto& [category, layer, rest] : cases) {
    EXPECT_EQ(place_of(category).layer, layer) << category;
    EXPECT_EQ(place_of(category).category, rest) << category;
  }
}

}  // namespace
}  // namespace fathom::analysis
