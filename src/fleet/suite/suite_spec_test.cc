// SPDX-License-Identifier: MIT
#include "fleet/suite/suite_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::fleet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

SuiteSpec parsed(const std::string& text) {
  Result<SuiteSpec> spec = parse_suite(text, "s");
  EXPECT_TRUE(spec) << (spec ? "" : spec.error().message);
  return spec ? *spec : SuiteSpec();
}

TEST(SuiteSpec, EntriesBeginWithWhatAllShare) {
  const SuiteSpec spec = parsed(
      "job: nightly\nrepetitions: 3\ntimeout: 2m\nenvironment: {A: b}\n"
      "benchmarks:\n"
      "- {name: one, command: [./one, x y]}\n"
      "- {name: two, command: ./two | wc, repetitions: 5, measure: nothing, after: one}\n"
      "- {command: [z], job: other, measure: profile}\n");
  ASSERT_EQ(spec.entries.size(), 3U);
  EXPECT_EQ(spec.executor, SuiteExecutor::kLocal);
  const SuiteEntry& one = spec.entries[0];
  EXPECT_THAT(one.command, ElementsAre("./one", "x y"));
  EXPECT_EQ(one.job, "nightly");
  EXPECT_EQ(one.measure, SuiteMeasure::kBench);
  EXPECT_EQ(one.repetitions, 3);
  EXPECT_EQ(one.timeout_ns, 120'000'000'000);
  EXPECT_EQ(one.environment.at("A"), "b");
  EXPECT_EQ(spec.entries[1].measure, SuiteMeasure::kNothing);
  EXPECT_TRUE(spec.entries[1].by_shell);
  EXPECT_THAT(spec.entries[1].after, ElementsAre("one"));
  EXPECT_EQ(spec.entries[2].measure, SuiteMeasure::kProfile);
  EXPECT_EQ(spec.entries[2].name, "benchmark-3");
}

TEST(SuiteSpec, ExecutorsHaveTheirOwnKeys) {
  const SuiteSpec spec = parsed(
      "executor: slurm\nat_once: 6\nslurm: {partition: p, time: '1:00', lease: 5s, exclusive: "
      "true}\n"
      "docker: {image: i, mounts: [{source: /a, target: /b, write: true}]}\n"
      "jenkins: {url: http://x, user: u, label: big}\n"
      "benchmarks: [{command: [true]}]\n");
  EXPECT_EQ(spec.executor, SuiteExecutor::kSlurm);
  EXPECT_EQ(spec.slurm.at_once, 6);
  EXPECT_EQ(spec.slurm.partition, "p");
  EXPECT_EQ(spec.slurm.lease_ns, 5'000'000'000);
  EXPECT_TRUE(spec.slurm.exclusive);
  EXPECT_FALSE(spec.slurm.requeue);
  EXPECT_EQ(spec.docker.mounts.at(0).target, "/b");
  EXPECT_TRUE(spec.docker.mounts.at(0).write);
  EXPECT_EQ(spec.jenkins.label, "big");
}

TEST(SuiteSpec, MistakesNameTheirPlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "must be a mapping"},
      {"[]", "must be a mapping"},
      {"a: 1", "unknown key 'a' of a suite"},
      {"job: x", "'benchmarks' is missing"},
      {"benchmarks: []", "must be a list"},
      {"benchmarks: [{name: x}]", "'command' is missing"},
      {"benchmarks: [{command: ''}]", "'command' is empty"},
      {"benchmarks: [{command: []}]", "list is empty"},
      {"benchmarks: [{command: a, colour: red}]", "unknown key 'colour' of a benchmark"},
      {"benchmarks: [{command: a, command: b}]", "given twice"},
      {"benchmarks: [{command: a, repetitions: 0}]", "whole number from 1"},
      {"benchmarks: [{command: a, timeout: soon}]", "must be a time"},
      {"benchmarks: [{command: a, job: ../x}]", "not a valid job name"},
      {"benchmarks: [{command: a, measure: bench}]", "'job' is missing"},
      {"benchmarks: [{command: a, measure: much, job: j}]", "bench, profile or nothing"},
      {"benchmarks: [{command: a, after: b}]", "does not come before"},
      {"benchmarks: [{command: a, name: n}, {command: a, name: n}]", "two benchmarks"},
      {"benchmarks: [{command: a, matrix: [1]}]", "'matrix' must be"},
      {"benchmarks: [{command: a, matrix: {'a b': [1]}}]", "a parameter's name"},
      {"executor: cloud\nbenchmarks: [{command: a}]", "'executor' must be"},
      {"executor: docker\nbenchmarks: [{command: a}]", "'docker.image' is missing"},
      {"executor: jenkins\nbenchmarks: [{command: a}]", "'jenkins.url' is missing"},
      {"docker: {mounts: [{source: /, target: /x}]}\nbenchmarks: [{command: a}]", "must not have"},
      {"docker: {mounts: [{source: a, target: /x}]}\nbenchmarks: [{command: a}]", "absolute"},
      {"docker: {privileged: true}\nbenchmarks: [{command: a}]", "unknown key 'privileged'"},
      {"benchmarks: [{command: a", "s:1:"},
  };
  for (const auto& [text, words] : cases) {
    const Result<SuiteSpec> spec = parse_suite(text, "s");
    ASSERT_FALSE(spec) << text;
    EXPECT_EQ(spec.error().code, Code::kInvalid);
    EXPECT_THAT(spec.error().message, HasSubstr(words)) << text;
    EXPECT_THAT(spec.error().message, StartsWith("s:")) << text;
  }
  EXPECT_THAT(parse_suite("job: a\nbenchmarks:\n- {command: a,\n   x: 1}", "s").error().message,
              StartsWith("s:4:4: "));
}

TEST(SuiteSpec, AnImageIsACommandOfOurs) {
  const SuiteSpec spec = parsed(
      "job: nightly\nmatrix: {tag: ['1', '2']}\n"
      "benchmarks: [{name: i, image: 'my/app:{tag}', arguments: ['{tag}', -x]}]");
  EXPECT_EQ(spec.entries[0].measure, SuiteMeasure::kNothing);
  const Result<std::vector<SuiteItem>> items = items_of(spec);
  ASSERT_TRUE(items);
  EXPECT_THAT(items->at(1).command, ElementsAre("my/app:2", "2", "-x"));
  const std::pair<const char*, const char*> mistakes[] = {
      {"[{image: a, command: [b]}]", "exclude each other"},
      {"[{arguments: [b], command: [c]}]", "belong to an 'image'"},
      {"[{image: a, measure: bench, job: j}]", "must be nothing"},
      {"[{name: a}]", "'command' is missing, or an 'image'"},
      {"[{image: a}]\nexecutor: docker\ndocker: {image: b}", "needs executor local"},
      {"[{command: [a]}]\nimage: b", "unknown key 'image'"}};
  for (const auto& [text, words] : mistakes) {
    const Result<SuiteSpec> wrong = parse_suite(std::string("benchmarks: ") + text, "s");
    ASSERT_FALSE(wrong) << text;
    EXPECT_THAT(wrong.error().message, HasSubstr(words));
  }
}

TEST(SuiteItems, AllChoicesOfTheMatrix) {
  const SuiteSpec spec = parsed(
      "matrix: {size: [1, 2], mode: [a b, c]}\n"
      "benchmarks:\n- {name: x, command: [p, '{size}', '--{mode}', '{other}']}\n"
      "- {name: y, command: 'p {size} {mode}', repetitions: 2, matrix: {size: [7], mode: "
      "[\"it's\"]}}\n");
  const Result<std::vector<SuiteItem>> items = items_of(spec);
  ASSERT_TRUE(items);
  ASSERT_EQ(items->size(), 6U);
  EXPECT_EQ((*items)[0].command, (Words{"p", "1", "--a b", "{other}"}));
  EXPECT_EQ((*items)[1].command, (Words{"p", "1", "--c", "{other}"}));
  EXPECT_EQ((*items)[3].command, (Words{"p", "2", "--c", "{other}"}));
  EXPECT_EQ((*items)[3].parameters, (Parameters{{"size", "2"}, {"mode", "c"}}));
  EXPECT_EQ((*items)[4].command, (Words{"/bin/sh", "-c", "p 7 'it'\\''s'"}));
  EXPECT_EQ((*items)[5].repetition, 1);
}

TEST(SuiteItems, RepetitionsOfABenchmarkAreOneWork) {
  EXPECT_EQ(items_of(parsed("job: j\nrepetitions: 9\nbenchmarks: [{command: [a]}]"))->size(), 1U);
}

TEST(SuiteItems, TooManyAreRefused) {
  std::string list = "[0";
  for (int i = 1; i < 100; ++i) list += "," + std::to_string(i);
  const std::string text = "matrix: {a: " + list + "], b: " + list + "], c: " + list +
                           "]}\nbenchmarks: [{command: [x]}]";
  EXPECT_FALSE(items_of(parsed(text)));
  EXPECT_FALSE(items_of(parsed("repetitions: 100001\nbenchmarks: [{command: [x]}]")));
}

}  // namespace
}  // namespace fathom::fleet
