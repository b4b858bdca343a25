// SPDX-License-Identifier: MIT
#include "containers/instructions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.h"
#include "containers/engine.h"
#include "containers/init_text.h"
#include "trace/testing/spool_builder.h"

namespace fathom::containers {
namespace {

using trace::testing::TempDir;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Result<Instructions> parse(const std::string& text, const InstructionOrigin& around = {"/", ""}) {
  return parse_instructions(text, "a.yaml", around);
}

std::string refusal(const std::string& text, const InstructionOrigin& around = {"/", ""}) {
  const Result<Instructions> all = parse(text, around);
  EXPECT_FALSE(all) << text;
  if (all) return "";
  EXPECT_EQ(all.error().code, Code::kInvalid);
  return all.error().message;
}

TEST(Instructions, AnImageIsEnough) {
  const Result<Instructions> all = parse("image: my/app:1\n");
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->image, "my/app:1");
  EXPECT_EQ(all->network, "none");
  EXPECT_EQ(all->limits.pids, 4096);
  EXPECT_THAT(all->runs, ElementsAre(RunKind::kProbed, RunKind::kPlain));
  EXPECT_EQ(all->duration_ns, 60'000'000'000);
}

TEST(Instructions, EveryKey) {
  const TempDir folder;
  std::filesystem::create_directory(folder.path() + "/data");
  const Result<Instructions> all = parse(
      "image: a\narguments: [\"\", --privileged, 3]\nentrypoint: [run]\n"
      "environment: {B: x y, A: \"\"}\nworkdir: /w\nuser: 1000:1000\nread_only: true\ntty: true\n"
      "mounts: [{source: data, target: /in, write: true}]\ndata: {source: data, target: /data}\n"
      "results: /results\nlimits: {cpu: 0.5, memory: 96M, pids: 33, time: 2m}\nnetwork: host\n"
      "gpus: all\nname: sea-1\nlayers: +python,cpu\nruns: [plain]\nwarmup: 2\nrepetitions: 3\n"
      "duration: 1.5s\ngrace: 200ms\nruntime: runsc.v1\noutputs: [/a/, /b/../c]\nsuccess: {exit: "
      "[0, 3], output: ^done$}\ncount: [page-faults, task-clock]\n"
      "metrics: 127.0.0.1:9100\n",
      {folder.path(), ""});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_THAT(all->arguments, ElementsAre("", "--privileged", "3"));
  EXPECT_THAT(all->environment, ElementsAre(std::pair("B", "x y"), std::pair("A", "")));
  ASSERT_EQ(all->mounts.size(), 1U);
  EXPECT_EQ(all->mounts[0].source, *real_path(folder.path() + "/data"));
  EXPECT_TRUE(all->mounts[0].write);
  EXPECT_EQ(all->data.target, "/data");
  EXPECT_EQ(all->limits.cpus, 0.5);
  EXPECT_EQ(all->limits.memory, 96U << 20U);
  EXPECT_EQ(all->limits.time_ns, 120'000'000'000);
  EXPECT_EQ(all->gpus, kAllGpus);
  EXPECT_THAT(all->runs, ElementsAre(RunKind::kPlain));
  EXPECT_EQ(all->duration_ns, 1'500'000'000);
  EXPECT_EQ(all->grace_ns, 200'000'000);
  EXPECT_EQ(all->runtime, "runsc.v1");
  EXPECT_THAT(all->outputs, ElementsAre("/a", "/c"));
  EXPECT_THAT(all->success.exits, ElementsAre(0, 3));
  EXPECT_EQ(all->success.output, "^done$");
  EXPECT_THAT(all->count, ElementsAre("page-faults", "task-clock"));
  EXPECT_EQ(all->metrics, "127.0.0.1:9100");
  EXPECT_THAT(all->text, StartsWith("image: a\n"));
}

TEST(Instructions, WhereTheUsualResultsLieMayBeSaidOtherwise) {
  const TempDir folder;
  const auto has_them = [&](const std::string& text) {
    const Result<Instructions> all = parse(text, {folder.path(), ""});
    return all && has_usual_results(*all);
  };
  EXPECT_TRUE(has_them("image: a\n"));
  EXPECT_TRUE(has_them("image: a\noutputs: [/app/out]\n"));
  EXPECT_FALSE(has_them("image: a\nresults: /results\n"));
  EXPECT_FALSE(has_them("image: a\noutputs: [/app/profile_output/]\n"));
  EXPECT_FALSE(has_them("image: a\nmounts: [{source: ., target: /app/profile_output}]\n"));
}

TEST(Instructions, MistakesAreToldWhereTheyStand) {
  const std::pair<const char*, const char*> cases[] = {
      {"image: a\nargumnets: [x]\n",
       "a.yaml:2:1: unknown key 'argumnets'; did you mean 'arguments'?"},
      {"image: a\nlimits:\n  disks: 3\n", "a.yaml:3:3: unknown key 'disks' of 'limits'"},
      {"image: [1]\n", "a.yaml:1:8: this must be text"},
      {"image: a\nmounts: /data\n", "a.yaml:2:9: 'mounts' must be a list of mappings"},
      {"image: a\nrepetitions: many\n", "a.yaml:2:14: this must be a whole number from 1"},
      {"image: a\nrepetitions: 0\n", "a.yaml:2:14: this must be a whole number from 1"},
      {"image: a\nlimits: {memory: 2 GX}\n", "a.yaml:2:18: this must be a size"},
      {"image: a\nlimits: {cpu: nan}\n", "a.yaml:2:15: this must be a number of cores"},
      {"image: a\nduration: soon\n", "a.yaml:2:11: this must be a time"},
      {"image: a\nlayers: +keel\n", "a.yaml:2:9: there is no layer 'keel'"},
      {"image: a\nname: x\nname: y\n", "a.yaml:3:1: 'name' is given twice"},
      {"name: x\n", "a.yaml:1:1: 'image' is missing, or a 'command'"},
      {"- image\n", "a.yaml:1:1: instructions are a mapping"},
      {"", "a.yaml:1:1: instructions are a mapping"},
      {"image: a\nname:\n", "a.yaml:2:1: 'name' needs a value"},
      {"image: a\nruns: [plain, plain]\n", "a.yaml:2:7: 'runs' has"},
      {"image: a\nresults: here\n", "a.yaml:2:10: 'results' must be a path inside"},
      {"image: a\nruntime: /bin/sh\n", "a.yaml:2:10: not a valid runtime name"},
      {"image: a\nruntime: -x\n", "a.yaml:2:10: not a valid runtime name"},
      {"image: a\ncount: cycles\n", "a.yaml:2:8: 'count' must be a list"},
      {"image: a\ncount: [page-faults, page-falts]\n", "a.yaml:2:22: "},
      {"image: a\ncount: [\"\"]\n", "a.yaml:2:9: an event needs a name"},
      {"image: a\nmetrics: 70000\n", "a.yaml:2:10: 'metrics' must be a port"},
      {"command: [x]\nimage: a\n", "a.yaml:2:1: 'command' and 'image' exclude each other"},
      {"command: []\n", "a.yaml:1:10: 'command' must be a list that begins"},
      {"command: ./x\n", "a.yaml:1:10: this must be a list of texts"},
      {"command: [x]\nnetwork: host\n", "a.yaml:2:1: 'network' needs an 'image'"},
      {"gpus: 1\ncommand: [x]\n", "a.yaml:1:1: 'gpus' needs an 'image'"},
      {"command: [x]\nlimits: {time: 1s, cpu: 1}\n", "a.yaml:2:20: 'cpu' needs an 'image'"},
      {"command: [x]\noutputs: [/etc/passwd]\n", "a.yaml:2:11: this must be a path below"},
      {"command: [x]\noutputs: [a, b/../../c]\n", "a.yaml:2:14: this must be a path below"},
      {"command: [x]\noutputs: [a, ./a]\n", "a.yaml:2:14: this path is given twice"},
      {"image: a\noutputs: /x\n", "a.yaml:2:10: 'outputs' must be a list"},
      {"image: a\noutputs: [x]\n", "a.yaml:2:11: this must be a path inside"},
      {"image: a\noutputs: [/x/.., /x]\n", "a.yaml:2:11: this must be a path inside"},
      {"image: a\noutputs: [/x, /x/]\n", "a.yaml:2:15: this path is given twice"},
      {"image: a\noutputs: [/proc/1/environ]\n", "a.yaml:2:11: this must be a path inside"},
      {"image: a\nsuccess: 0\n", "a.yaml:2:10: 'success' must be a mapping"},
      {"image: a\nsuccess: {}\n", "a.yaml:2:10: 'success' has 'exit', 'output' or both"},
      {"image: a\nsuccess: {exit: 0}\n", "a.yaml:2:17: 'exit' must be a list"},
      {"image: a\nsuccess: {exit: [256]}\n", "a.yaml:2:18: an exit status is"},
      {"image: a\nsuccess: {output: ^$}\n", "a.yaml:2:19: 'output' must be a text"},
      {"image: \"a\n", "a.yaml:"},
  };
  for (const auto& [text, words] : cases) EXPECT_THAT(refusal(text), StartsWith(words)) << text;
}

TEST(Instructions, ACommandNeedsNoEngine) {
  const Result<Instructions> all =
      parse("command: [./app, 3]\nenvironment: {A: b}\nlimits: {time: 2s}\noutputs: [out/./x]\n",
            {"/somewhere", ""});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_THAT(all->command, ElementsAre("./app", "3"));
  EXPECT_EQ(all->workdir, "/somewhere");
  EXPECT_THAT(all->outputs, ElementsAre("out/x"));
}

TEST(Instructions, NoTextBecomesAnOptionOfTheEngine) {
  for (const char* text :
       {"image: --privileged\n", "image: \"a b\"\n", "image: a\nname: \"x --cap-add\"\n",
        "image: a\nname: -x\n", "image: a\nnetwork: \"container:b\"\n",
        "image: a\nnetwork: \"none --x\"\n", "image: a\nuser: \"0 --x\"\n",
        "image: a\nenvironment: {\"A\\nB\": x}\n", "image: a\nenvironment: {\"A=B\": x}\n",
        "image: a\nworkdir: here\n"})
    (void)refusal(text);
}

TEST(Instructions, WhatOpensTheMachineIsRefused) {
  const TempDir folder;
  const std::string socket = folder.path() + "/engine.sock";
  std::ofstream(socket).put('x');
  std::filesystem::create_symlink("/", folder.path() + "/link");
  std::filesystem::create_directory(folder.path() + "/fine");
  const InstructionOrigin around{folder.path(), socket};
  const auto mount = [&](const std::string& source, const std::string& target) {
    return "image: a\nmounts:\n  - {source: " + source + ", target: " + target + "}\n";
  };
  for (const std::string& source :
       {std::string("/"), std::string("/proc"), std::string("/proc/self"), std::string("/sys"),
        std::string("/dev"), std::string("link"), socket, folder.path(), std::string("missing")})
    EXPECT_THAT(refusal(mount(source, "/x"), around), StartsWith("a.yaml:3:")) << source;
  for (const char* target : {"/", "//", "/..", "x", "/proc", "/.fathom/x"})
    EXPECT_THAT(refusal(mount("fine", target), around), StartsWith("a.yaml:3:")) << target;
  EXPECT_TRUE(parse(mount("fine", "/x"), around));
}

// docs/schema/container.json has the keys that the code takes, and no others.
TEST(Instructions, ThePublishedSchemaHasTheSameKeys) {
  const std::string path = std::string(FATHOM_SOURCE_ROOT) + "/docs/schema/container.json";
  const Result<std::string> text = read_file(path);
  ASSERT_TRUE(text) << path;
  const nlohmann::json schema = nlohmann::json::parse(*text);
  std::set<std::pair<std::string, std::string>> published;
  std::set<std::pair<std::string, std::string>> taken;
  for (const auto& [key, value] : schema["properties"].items()) {
    published.emplace("", key);
    const nlohmann::json& inner = value.contains("items") ? value["items"] : value;
    if (!inner.contains("properties")) continue;
    EXPECT_EQ(inner["additionalProperties"], false) << key;
    for (const auto& [below, ignored] : inner["properties"].items()) published.emplace(key, below);
  }
  for (const KeyName& key : instruction_keys()) taken.emplace(key.of, key.key);
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(published, taken);
}

TEST(Instructions, WhatInitWritesIsTaken) {
  const ImageFacts facts{.id = "x",
                         .entrypoint = {"run", "a \"b\""},
                         .command = {"--x"},
                         .environment = {"PATH=/bin", "ODD=a: b #c", "NOTHING"},
                         .workdir = "/app",
                         .user = "sailor",
                         .volumes = {"/data"},
                         .ports = {"80/tcp"}};
  const std::string text = init_text("my/app:1", facts);
  const Result<Instructions> all = parse(text);
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->image, "my/app:1");
  EXPECT_THAT(text, HasSubstr("# entrypoint: [\"run\", \"a \\\"b\\\"\"]"));
  for (const KeyName& key : instruction_keys()) EXPECT_THAT(text, HasSubstr(std::string(key.key)));
  // Without the signs before them, all but hints in brackets are instructions, too.
  std::string bare;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    const bool is_key = line.starts_with("# ") && line.find(": ") != std::string::npos &&
                        line[2] >= 'a' && line[2] <= 'z' && !line.starts_with("# data") &&
                        !line.starts_with("# mounts") && !line.starts_with("# environment");
    if (is_key || line.starts_with("image")) bare += (is_key ? line.substr(2) : line) + "\n";
    at = end + 1;
  }
  const Result<Instructions> whole = parse(bare);
  EXPECT_TRUE(whole) << whole.error().message << "\n" << bare;
}

TEST(Instructions, ASecondDocumentIsNotOverlooked) {
  const Result<Instructions> two = parse_instructions("image: a\n---\nimage: b\n", "f", {});
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().message, "f:3:1: a file has the instructions for one application");
  EXPECT_FALSE(parse_instructions("", "f", {}));
}

TEST(Instructions, DocumentsWithoutEndAreNotCounted) {
  EXPECT_THAT(refusal("!,"), HasSubstr("a file has the instructions for one application"));
}

TEST(Instructions, AFileWithoutAnEndIsReadNoFurtherThanNeeded) {
  const Result<std::string> zeros = read_instruction_file("/dev/zero");
  ASSERT_TRUE(zeros);
  EXPECT_LT(zeros->size(), std::size_t{2} << 20U);
  EXPECT_FALSE(parse_instructions(*zeros, "f", {}));
}

}  // namespace
}  // namespace fathom::containers
