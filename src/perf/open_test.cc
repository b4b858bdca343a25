// SPDX-License-Identifier: MIT
#include "perf/open.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "perf/event.h"

namespace fathom::perf {
namespace {

perf_event_attr attr_of(std::string_view name) { return parse_event(name).value().attr(); }

TEST(Open, RefusalsNameTheirCauseAndTheLineThatHelps) {
  struct Case {
    int number;
    std::string_view event;
    Target target;
    RefusalContext context;
    std::string_view said;
    std::string_view hint;
  };
  const RefusalContext user{};
  for (const Case& c : {
           Case{EACCES, "page-faults", {}, user, "paranoid is 2", "paranoid=1"},
           Case{EACCES, "page-faults:u", {}, {.paranoid = 3}, "only root", "paranoid=2"},
           Case{EACCES, "cycles:u", {.pid = -1, .cpu = 0}, user, "own programs", "paranoid=0"},
           Case{EPERM, "cycles:u", {}, {.filtered = true}, "seccomp", "PERFMON"},
           Case{EPERM, "cycles:u", {}, {.foreign = true}, "another user", "fathom"},
           Case{EPERM, "cycles", {}, {.is_root = true}, "CAP_PERFMON", "setcap"},
           Case{ENOENT, "cycles", {}, {.hardware_counters = false}, "no hardware counters", ""},
           Case{EINVAL, "r1", {}, {.hardware_counters = false}, "no hardware counters", ""},
           Case{ENOENT, "cycles", {}, user, "this CPU", ""},
           Case{ENOENT, "cgroup-switches", {}, user, "this kernel", ""},
           Case{EOPNOTSUPP, "cycles:p", {}, user, "precisely", ":p"},
           Case{ESRCH, "cycles", {.pid = 77}, user, "no process 77", ""},
           Case{EMFILE, "cycles", {}, user, "too many files", "ulimit -n"},
           Case{EBUSY, "cycles", {}, user, "another program", ""},
           Case{ENOSYS, "cycles", {}, user, "built without", ""},
           Case{EINVAL, "cycles", {}, user, "does not know", ""},
           Case{EIO, "cycles", {}, user, "performance event", ""},
       }) {
    const Error error = refusal(c.number, attr_of(c.event), c.target, c.context);
    EXPECT_NE(error.message.find(c.said), std::string::npos) << c.number << ": " << error.message;
    EXPECT_NE(error.hint.find(c.hint), std::string::npos) << c.number << ": " << error.hint;
    EXPECT_EQ(error.hint.empty(), c.hint.empty()) << c.number << ": " << error.hint;
  }
}

// Build ids need Linux 5.12, lost records 6.0, and namespaces are for root: with or without them
// the event is opened, and the rest is as it was asked for.
TEST(Open, SettingsThatAreNotToBeHadAreLeftOut) {
  perf_event_attr attr = attr_of("task-clock:u");
  if (const Result<Fd> plain = open_event(attr, {}); !plain) GTEST_SKIP() << plain.error().message;
  attr.read_format = PERF_FORMAT_LOST | PERF_FORMAT_TOTAL_TIME_ENABLED;
  attr.build_id = 1;
  attr.namespaces = 1;
  const Result<Fd> fd = open_event(attr, {});
  ASSERT_TRUE(fd) << fd.error().message;
  EXPECT_NE(attr.read_format & PERF_FORMAT_TOTAL_TIME_ENABLED, 0U);
  EXPECT_EQ(attr.exclude_kernel, 1U);
}

TEST(Open, AnAttrThatIsRefusedStaysAsItWas) {
  perf_event_attr attr = attr_of("task-clock");
  attr.sample_type = ~std::uint64_t{0};
  attr.build_id = 1;
  ASSERT_FALSE(open_event(attr, {}));
  EXPECT_EQ(attr.build_id, 1U);
}

}  // namespace
}  // namespace fathom::perf
