// SPDX-License-Identifier: MIT
#include "session/watch/watch_settings.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fathom::session {
namespace {

std::string values(const Settings& settings, const std::string& key) {
  const auto found = settings.find(key);
  return found == settings.end() ? "-" : join(found->second.values, "|");
}

TEST(WatchSettings, OfAFile) {
  struct Case {
    const char* text;
    const char* key;
    const char* want;
  };
  const Case cases[] = {
      {"", "layers", "-"},
      {"layers: syscall", "layers", "syscall"},
      {"layers: syscall, block", "layers", "syscall|block"},
      {"layers: [syscall, block]", "layers", "syscall|block"},
      {"all: true", "all", "true"},
      {"interval: 100ms", "interval", "100ms"},
      {"user: anna", "user", "anna"},
      {"functions: ['libc.so.6:^a{1,2}$']", "functions", "libc.so.6:^a{1,2}$"},
      {"filter: 'path=/data,min=10us'", "filter", "path=/data|min=10us"},
      {"functions: 'libc.so.6:^a{1,2}$'", "functions", "libc.so.6:^a{1,2}$"},
      // as DataCrumbs says it
      {"mode: trace", "mode", "trace"},
      {"profile: {interval_sec: 0.5}", "interval", "0.5s"},
      {"user: [{name: c, link: libc.so.6, regex: ^malloc$}]", "functions", "libc.so.6:^malloc$"},
      {"user: [{name: c, link: libc.so.6}]", "functions", "libc.so.6:.*"},
      {"user: [{name: c, link: libc.so.6}]", "layers", "syscall|user"},
      {"categories: {a: malloc, b: [^x, 'libc.so.6:y,z']}", "categories",
       "a=malloc|b=^x|b=libc.so.6:y,z"},
      {"user: [{name: c, link: l, regex: x}]\ncategories: [b=y]", "categories", "c=l:x|b=y"},
      {"layers: block\nuser: [{link: libc.so.6}]", "layers", "block|user"},
      {"file: trace.pfw", "pfw", "trace.pfw"},
      {"profile: {interval_sec: 0.0001}", "interval", "1ms"},
      {"profile: {interval_sec: 0}", "interval", "0s"},
  };
  for (const Case& c : cases) {
    const Result<Settings> settings = parse_watch_settings(c.text, "w.yaml");
    ASSERT_TRUE(settings) << c.text << ": " << settings.error().message;
    EXPECT_EQ(values(*settings, c.key), c.want) << c.text;
  }
}

// The file that DataCrumbs ships, with one of its programs put where there is one.
TEST(WatchSettings, TheFileThatDataCrumbsShips) {
  const std::string text = R"(name: default
install_dir: build
mode: trace
file: trace.pfw
user:
  - name: app
    link: /no/such/place/ior
    regex: .*
  - name: self
    link: /proc/self/exe
    regex: ^H5.*

profile:
  interval_sec: 0.0001

trace:
  args: 1
  type: ring_buffer # ring_buffer
)";
  const Result<Settings> settings = parse_watch_settings(text, "default.yaml");
  ASSERT_TRUE(settings) << settings.error().message;
  const Result<WatchOptions> options = read_watch_options(*settings);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_TRUE(options->each_call);
  EXPECT_EQ(options->pfw, "trace.pfw");
  EXPECT_EQ(options->interval_ns, 1'000'000);
  EXPECT_EQ(options->layers, "syscall,user");
  EXPECT_EQ(options->functions, (std::vector<std::string>{"/proc/self/exe:^H5.*"}));
  EXPECT_EQ(options->categories, (std::vector<std::string>{"self=/proc/self/exe:^H5.*"}));
  EXPECT_EQ(options->absent, (std::vector<std::string>{"/no/such/place/ior"}));
}

// As the second generation says it: probes by their mechanism, most of them wishes.
TEST(WatchSettings, TheProbesOfDataCrumbs) {
  const std::string text = R"(trace_log_dir: /var/log/crumbs
inclusion_path: /scratch
capture_probes:
  - name: custom1
    start_event_id: 100000
    probe: custom
    type: custom
    file: /plugins/sysio.bpf.c
    probes: /plugins/probes.json
    process_header: /plugins/sysio_process.h
    event_type: 2
  - {name: sys, probe: syscalls, type: header, file: /include/linux/syscalls.h, regex: sys_.*}
  - {name: self, probe: uprobe, type: binary, file: /proc/self/exe, regex: .*fork.*, include_offsets: true}
  - {name: iomap, probe: kprobe, type: ksym, regex: '^iomap(?!.*cold).*'}
  - {name: python, probe: usdt, type: usdt, binary_path: /no/such/libpython.so, provider: python}
  - {name: os_page_cache, probe: kprobe, type: header, file: /include/linux/pagemap.h}
  - {name: swap, probe: kprobe, type: header, file: /include/linux/swap.h}
system:
  - {name: vfs, header: /include/linux/fs.h, regex: '^(?!__).*'}
)";
  const Result<Settings> settings = parse_watch_settings(text, "lead.yaml");
  ASSERT_TRUE(settings) << settings.error().message;
  const Result<WatchOptions> options = read_watch_options(*settings);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->layers, "syscall");
  EXPECT_EQ(options->wished, (std::vector<std::string>{"kernel", "pagecache", "user", "vfs"}));
  EXPECT_EQ(options->functions,
            (std::vector<std::string>{"/proc/self/exe:.*fork.*", "kernel:^iomap(?!.*cold).*"}));
  EXPECT_EQ(options->categories, (std::vector<std::string>{"self=/proc/self/exe:.*fork.*"}));
  EXPECT_EQ(options->filters, (std::vector<std::string>{"path=/scratch"}));
  EXPECT_EQ(options->pfw, "/var/log/crumbs/profile.pfw");
  EXPECT_EQ(options->absent,
            (std::vector<std::string>{"/no/such/libpython.so", "/include/linux/swap.h"}));
}

TEST(WatchSettings, WordsForLayers) {
  struct Case {
    const char* given;
    const char* layers;
    std::vector<std::string> wished;
  };
  for (const Case& c : {Case{"default", "syscall", {}}, Case{"+block", "syscall,block", {}},
                        Case{"default,block?", "syscall", {"block"}}, Case{"all", "all", {}},
                        Case{"vfs?", "syscall", {"vfs"}}}) {
    const Result<WatchOptions> options = read_watch_options({{"layers", {{c.given}, "--layers"}}});
    ASSERT_TRUE(options) << c.given;
    EXPECT_EQ(options->layers, c.layers) << c.given;
    EXPECT_EQ(options->wished, c.wished) << c.given;
  }
}

TEST(WatchSettings, WhatIsWrongWithAFileIsNamedByItsLine) {
  struct Case {
    const char* text;
    const char* want;  // how the message begins
  };
  const Case cases[] = {
      {"layers: syscall\ncolour: red\n", "w.yaml:2: unknown key 'colour'"},
      {"[a, b]", "w.yaml:1: the settings must be a mapping of keys to values"},
      {"layers: a\nlayers: b\n", "w.yaml:2: 'layers' is given twice"},
      {"layers:\n", "w.yaml:1: 'layers' needs a value"},
      {"all: perhaps", "w.yaml:1: 'all' must be true or false"},
      {"\n\nprofile: {colour: 1}", "w.yaml:3: unknown key 'profile.colour'"},
      {"interval: 1s\nprofile: {interval_sec: 1}", "w.yaml:2: 'interval' is given twice"},
      {"user: [{name: c}]", "w.yaml:1: 'link' is missing"},
      {"categories:\n  a: {b: c}\n", "w.yaml:2: 'categories' needs a value"},
      {"user: [malloc]", "w.yaml:1: a function must be a mapping"},
      {"user:\n - link: x\n   colour: y\n", "w.yaml:3: unknown key 'colour'"},
      {"trace: 1", "w.yaml:1: 'trace' must be a mapping"},
      {"trace: {colour: 1}", "w.yaml:1: unknown key 'trace.colour'"},
      {"pfw: a\nfile: b\n", "w.yaml:2: 'pfw' is given twice"},
      {"layers: [", "w.yaml:"},
      {"a: b: c", "w.yaml:1"},
  };
  for (const Case& c : cases) {
    const Result<Settings> settings = parse_watch_settings(c.text, "w.yaml");
    ASSERT_FALSE(settings) << c.text;
    EXPECT_TRUE(settings.error().message.starts_with(c.want)) << settings.error().message;
    EXPECT_EQ(settings.error().code, Code::kInvalid);
  }
}

Settings one(const std::string& key, const std::string& value) {
  return {{key, {{value}, "--" + key}}};
}

TEST(WatchSettings, Options) {
  EXPECT_EQ(read_watch_options({})->layers, "syscall");
  EXPECT_EQ(read_watch_options(one("interval", "100ms"))->interval_ns, 100'000'000);
  EXPECT_EQ(read_watch_options(one("interval", "1ms"))->interval_ns, 1'000'000) << "the shortest";
  EXPECT_EQ(read_watch_options(one("all", "true"))->choice.by, sources::Choice::By::kAll);
  EXPECT_EQ(read_watch_options(one("all", "false"))->choice.by, sources::Choice::By::kNobody);
  EXPECT_EQ(read_watch_options(one("user", "root"))->choice.user, 0U);
  EXPECT_EQ(read_watch_options(one("user", "12345"))->choice.user, 12345U);
  EXPECT_TRUE(read_watch_options(one("mode", "trace"))->each_call);
  Settings rolling = one("roll-size", "1M");
  rolling["output"] = {{"folder"}, "--output"};
  rolling["keep"] = {{"3"}, "--keep"};
  const Result<WatchOptions> options = read_watch_options(rolling);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_TRUE(options->rolls);
  EXPECT_EQ(options->roll_bytes, 1U << 20U);
  EXPECT_EQ(options->keep, 3);
}

TEST(WatchSettings, WrongOptions) {
  struct Case {
    const char* key;
    const char* value;
  };
  const Case cases[] = {
      {"interval", "soon"},   {"interval", "10us"},   {"user", "nobody-of-this-name"},
      {"user", "2147483647"}, {"cgroup", "/no/such"}, {"container", "short"},
      {"mode", "loud"},       {"keep", "3"},          {"roll-size", "1M"},
      {"roll-size", "-1"},    {"roll-time", "1ms"},   {"container", "0123456789abcdef0123"},
  };
  for (const Case& c : cases)
    EXPECT_FALSE(read_watch_options(one(c.key, c.value))) << c.key << " " << c.value;
  Settings both = one("all", "true");
  both["user"] = {{"root"}, "--user"};
  EXPECT_EQ(read_watch_options(both).error().code, Code::kUsage);
  EXPECT_EQ(read_watch_options(one("interval", "soon")).error().code, Code::kUsage);
  const Settings of_file{{"interval", {{"soon"}, "w.yaml:3"}}};
  const Error error = read_watch_options(of_file).error();
  EXPECT_EQ(error.code, Code::kInvalid);
  EXPECT_TRUE(error.message.starts_with("w.yaml:3: 'soon' is")) << error.message;
}

TEST(WatchSettings, RatesOfSamples) {
  const auto hz = [](const std::string& text) {
    const Result<WatchOptions> options =
        read_watch_options({{"sample", Setting{{text}, "--sample"}}});
    return options ? options->sample_hz : -1;
  };
  EXPECT_EQ(hz("499"), 499);
  EXPECT_EQ(hz("0.5"), 0.5);
  for (const char* text : {"0", "-1", "x", "9x", "100001", "", "nan"}) EXPECT_EQ(hz(text), -1);
}

}  // namespace
}  // namespace fathom::session
