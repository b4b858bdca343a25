// SPDX-License-Identifier: MIT
#include "perf/event.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace fathom::perf {
namespace {

// Devices and tracepoints as another machine shows them.
class Machine {
 public:
  Machine() : root_(::testing::TempDir() + "perf-event-test") {
    std::filesystem::remove_all(root_);
    put("devices/cpu/type", "4\n");
    put("devices/cpu/format/event", "config:0-7,32-35\n");
    put("devices/cpu/format/umask", "config:8-15\n");
    put("devices/cpu/format/edge", "config:18\n");
    put("devices/cpu/format/ldlat", "config1:0-15\n");
    put("devices/cpu/format/odd", "config7:0-15\n");
    put("devices/cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
    put("devices/power/type", "21\n");
    put("devices/power/format/event", "config:0-7\n");
    put("devices/power/events/energy-pkg", "event=0x02\n");
    put("devices/power/events/energy-pkg.scale", "2.3283064365386962890625e-10\n");
    put("devices/power/events/energy-pkg.unit", "Joules\n");
    put("tracing/events/sched/sched_switch/id", "314\n");
    put("tracing/events/sched/sched_wakeup/id", "315\n");
  }
  ~Machine() { std::filesystem::remove_all(root_); }

  [[nodiscard]] Places places() const {
    return {.devices = root_ + "/devices", .tracing = {root_ + "/none", root_ + "/tracing"}};
  }

 private:
  void put(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::string root_;
};

Event known(std::string_view text, const Places& places = {}) {
  Result<Event> event = parse_event(text, places);
  EXPECT_TRUE(event) << text << ": " << event.error().message;
  return event ? std::move(event).value() : Event();
}

TEST(Event, GenericNamesAreTheKernelsNumbers) {
  struct Case {
    std::string_view name;
    std::uint32_t type;
    std::uint64_t config;
  };
  for (const Case& c :
       {Case{"cycles", 0, 0}, Case{"cpu-cycles", 0, 0}, Case{"branch-misses", 0, 5},
        Case{"page-faults", 1, 2}, Case{"context-switches", 1, 3}, Case{"L1-dcache-loads", 3, 0},
        Case{"L1-dcache-load-misses", 3, 0x10000}, Case{"L1-dcache-prefetches", 3, 0x200},
        Case{"L1-icache-prefetch-misses", 3, 0x10201}, Case{"iTLB-load-misses", 3, 0x10004},
        Case{"LLC-store-misses", 3, 0x10102}, Case{"node-loads", 3, 6}, Case{"r01c2", 4, 0x1c2},
        Case{"rffff", 4, 0xffff}}) {
    const Event event = known(c.name);
    EXPECT_EQ(event.name, c.name);
    EXPECT_EQ(event.type, c.type) << c.name;
    EXPECT_EQ(event.config, c.config) << c.name;
  }
}

TEST(Event, AllFifteenOfProfilingFramework) {
  for (const std::string_view name :
       {"branch-misses", "cache-misses", "cpu-cycles", "instructions", "cpu-clock",
        "L1-dcache-loads", "L1-dcache-load-misses", "L1-dcache-stores", "L1-dcache-store-misses",
        "L1-dcache-prefetches", "L1-dcache-prefetch-misses", "L1-icache-loads",
        "L1-icache-load-misses", "iTLB-loads", "iTLB-load-misses"})
    EXPECT_EQ(known(name).name, name);
}

TEST(Event, ClocksCarryTheirUnit) {
  EXPECT_EQ(known("task-clock").unit, "ns");
  EXPECT_EQ(known("cpu-clock:u").unit, "ns");
  EXPECT_EQ(known("page-faults").unit, "");
}

TEST(Event, ModifiersSayWhoIsCounted) {
  const perf_event_attr user = known("cycles:u").attr();
  EXPECT_TRUE(user.exclude_kernel && user.exclude_hv && !user.exclude_user);
  const perf_event_attr kernel = known("cycles:k").attr();
  EXPECT_TRUE(!kernel.exclude_kernel && kernel.exclude_user);
  const perf_event_attr both = known("cycles:uk").attr();
  EXPECT_TRUE(!both.exclude_kernel && !both.exclude_user && both.exclude_hv);
  EXPECT_EQ(known("cycles:upp").attr().precise_ip, 2U);
  EXPECT_EQ(known("cycles:P").attr().precise_ip, 3U);
  EXPECT_TRUE(known("cycles:G").attr().exclude_host);
  EXPECT_TRUE(known("cycles:D").attr().pinned);
}

TEST(Event, DevicesPlaceTheirTerms) {
  const Machine machine;
  const Event event = known("cpu/event=0x1ab,umask=0x2,edge/u", machine.places());
  EXPECT_EQ(event.type, 4U);
  EXPECT_EQ(event.config, 0x1'0004'02abULL);
  EXPECT_TRUE(event.exclude_kernel);
  EXPECT_EQ(event.name, "cpu/event=0x1ab,umask=0x2,edge/u");
  EXPECT_EQ(known("cpu/config=0x3c,config1=7/", machine.places()).config1, 7U);
  const Event alias = known("cpu/mem-loads,ldlat=30/", machine.places());
  EXPECT_EQ(alias.config, 0x1cdU);
  EXPECT_EQ(alias.config1, 30U);
  const Event bare = known("energy-pkg", machine.places());
  EXPECT_EQ(bare.type, 21U);
  EXPECT_EQ(bare.unit, "Joules");
  EXPECT_NEAR(bare.scale, 2.328e-10, 1e-12);
}

TEST(Event, TracepointsHaveTheNumberThatTracefsTells) {
  const Machine machine;
  const Event event = known("sched:sched_switch:k", machine.places());
  EXPECT_EQ(event.type, std::uint32_t{PERF_TYPE_TRACEPOINT});
  EXPECT_EQ(event.config, 314U);
  EXPECT_TRUE(event.exclude_user);
  const Event blind = known("sched:sched_switch", {.devices = "/none", .tracing = {"/none"}});
  EXPECT_NE(blind.reason, "");
  EXPECT_NE(blind.fix, "");
}

TEST(Event, ACpuWithoutCountersIsNoMistake) {
  const Event event = known("cpu/event=0x3c/", {.devices = "/none", .tracing = {"/none"}});
  EXPECT_NE(event.reason, "");
}

TEST(Event, MistakesAreUsageErrorsWithNearNames) {
  const Machine machine;
  struct Case {
    std::string_view text;
    std::string_view said;  // in the message or the hint
  };
  for (const Case& c : {Case{"page-fault", "page-faults"},
                        Case{"L1-dcache-lods", "L1-dcache-loads"},
                        Case{"sched:sched_swich", "sched:sched_switch"},
                        Case{"cycles:z", "modifier"},
                        Case{"cycles:pppp", "modifier"},
                        Case{"{cycles", "}"},
                        Case{"cycles}", "brace"},
                        Case{"", "empty"},
                        Case{"cycles,", "empty"},
                        Case{"cycles,cycles", "twice"},
                        Case{"{cycles}x", "modifier"},
                        Case{"cpu/event=1", "second"},
                        Case{"cpu//", "empty term"},
                        Case{"cpu/evnt=1/", "event"},
                        Case{"cpu/event=x/", "number"},
                        Case{"cpu/umask=0x100/", "more bits"},
                        Case{"cpu/odd=1/", "format"},
                        Case{"powr/event=1/", "power"},
                        Case{"../cpu/event=1/", "device"},
                        Case{"r", "unknown"},
                        Case{"rxyz", "unknown"},
                        Case{"node-fetches", "unknown event"}}) {
    const Result<std::vector<EventGroup>> groups = parse_events(c.text, machine.places());
    ASSERT_FALSE(groups) << c.text;
    const std::string words = groups.error().message + "; " + groups.error().hint;
    EXPECT_NE(words.find(c.said), std::string::npos) << c.text << ": " << words;
  }
}

TEST(Event, ListsHaveGroups) {
  const Machine machine;
  const Result<std::vector<EventGroup>> groups = parse_events(
      "{task-clock,page-faults}, cpu/event=1,umask=2/ ,{cycles,instructions}:u", machine.places());
  ASSERT_TRUE(groups) << groups.error().message;
  ASSERT_EQ(groups->size(), 3U);
  EXPECT_EQ((*groups)[0].events[1].name, "page-faults");
  EXPECT_EQ((*groups)[1].events[0].config, 0x201U);
  EXPECT_EQ((*groups)[2].events[1].name, "instructions:u");
  EXPECT_TRUE((*groups)[2].events[1].exclude_kernel);
}

TEST(Event, SwitchesHappenInTheKernel) {
  EXPECT_TRUE(known("cs").happens_in_kernel());
  EXPECT_TRUE(known("cpu-migrations").happens_in_kernel());
  EXPECT_FALSE(known("page-faults").happens_in_kernel());
  EXPECT_FALSE(known("cycles").happens_in_kernel());
}

}  // namespace
}  // namespace fathom::perf
