// SPDX-License-Identifier: MIT
#include "fleet/recordings/recordings.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "fleet/recordings/recording_store.h"

namespace fathom::fleet {
namespace {

std::string hash_of(std::string_view content) {
  Sha256 hash;
  hash.add(content);
  return hash.hex();
}

RecordedFile file_of(const std::string& name, std::string_view content) {
  return {name, content.size(), hash_of(content)};
}

StorePlace place(const std::string& url) {
  return {.url = url, .token = "", .fingerprint = "", .labels = {}};
}

class RecordingsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    (void)remove_tree(folder_);
    ASSERT_TRUE(make_dirs(folder_));
    open({.unused = std::chrono::seconds(0)});
  }
  void TearDown() override { (void)remove_tree(folder_); }

  void open(const RecordingLimits& limits) {
    Result<std::unique_ptr<Recordings>> opened = Recordings::open(folder_ + "/kept", limits);
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::move(*opened);
  }
  Status upload(std::string_view content, const std::string& hash, std::uint64_t size) {
    FATHOM_ASSIGN(const std::unique_ptr<ContentUpload> upload, store_->upload(hash, size));
    FATHOM_TRY(upload->write(content.substr(0, content.size() / 2)));
    FATHOM_TRY(upload->write(content.substr(content.size() / 2)));
    return upload->finish();
  }
  Status upload(std::string_view content) {
    return upload(content, hash_of(content), content.size());
  }
  std::size_t contents() const {
    std::size_t count = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(folder_ + "/kept/contents"))
      count += entry.is_regular_file() ? 1 : 0;
    return count;
  }

  std::string folder_ = ::testing::TempDir() + "/recordings" + std::to_string(::getpid());
  std::unique_ptr<Recordings> store_;
};

TEST_F(RecordingsTest, OneIsAddedFileByFileAndReadInRanges) {
  const RecordingManifest manifest{
      "run-1", {file_of("events-0.parquet", "PAR1 data"), file_of("manifest.json", "{}")}};
  ASSERT_EQ(store_->missing(manifest)->size(), 2);
  EXPECT_EQ(store_->publish(manifest).error().code, Code::kNotFound);
  ASSERT_TRUE(upload("PAR1 data"));
  ASSERT_TRUE(upload("{}"));
  EXPECT_TRUE(store_->missing(manifest)->empty());
  ASSERT_TRUE(store_->publish(manifest));
  ASSERT_TRUE(store_->publish(manifest));
  EXPECT_EQ(*store_->names(), std::vector<std::string>{"run-1"});
  EXPECT_EQ(*store_->manifest("run-1"), manifest);
  const Result<File> file = store_->open("run-1", "events-0.parquet");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(*file->read_range(5, 100), "data");
  EXPECT_EQ(store_->open("run-1", "nothing").error().code, Code::kNotFound);
  EXPECT_EQ(store_->open("run-2", "manifest.json").error().code, Code::kNotFound);
  EXPECT_EQ(store_->open("../run-1", "manifest.json").error().code, Code::kNotFound);
  EXPECT_EQ(store_->publish({"run-1", {file_of("manifest.json", "{}")}}).error().code,
            Code::kExists);
}

TEST_F(RecordingsTest, TheSameContentIsKeptOnce) {
  ASSERT_TRUE(upload("same"));
  ASSERT_TRUE(upload("same"));
  ASSERT_TRUE(store_->publish({"a", {file_of("x", "same"), file_of("y/z", "same")}}));
  ASSERT_TRUE(store_->publish({"b", {file_of("x", "same")}}));
  EXPECT_EQ(contents(), 1);
  EXPECT_EQ(store_->used(), 4);
  ASSERT_TRUE(store_->remove("a"));
  EXPECT_EQ(contents(), 1);
  EXPECT_EQ(*store_->open("b", "x")->read_range(0, 10), "same");
  ASSERT_TRUE(store_->remove("b"));
  EXPECT_EQ(contents(), 0);
  EXPECT_EQ(store_->used(), 0);
  EXPECT_EQ(store_->remove("b").error().code, Code::kNotFound);
}

TEST_F(RecordingsTest, WhatIsNotWhatItSaysIsNotKept) {
  EXPECT_EQ(upload("other", hash_of("this"), 5).error().code, Code::kInvalid);
  EXPECT_EQ(upload("longer than said", hash_of("longer than said"), 3).error().code,
            Code::kInvalid);
  EXPECT_EQ(upload("short", hash_of("short"), 9).error().code, Code::kInvalid);
  EXPECT_EQ(upload("x", "../../etc/passwd", 1).error().code, Code::kInvalid);
  EXPECT_EQ(contents(), 0);
  EXPECT_EQ(store_->used(), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/kept/incoming"));
}

TEST_F(RecordingsTest, ManifestsOfStrangers) {
  const std::string hash = hash_of("");
  const auto entry = [&](const std::string& name) {
    return R"({"name": ")" + name + R"(", "size": 0, "sha256": ")" + hash + "\"}";
  };
  for (const std::string name : {"", "/etc/passwd", "..", "a/../b", "./a", "a//b", "a/",
                                 "a\\u0000b", "a\\nb", "1/2/3/4/5/6/7/8/9"})
    EXPECT_FALSE(parse_manifest(R"({"name": "n", "files": [)" + entry(name) + "]}")) << name;
  EXPECT_FALSE(
      parse_manifest(R"({"name": "n", "files": [)" + entry("a") + "," + entry("a") + "]}"));
  EXPECT_FALSE(
      parse_manifest(R"({"name": "n", "files": [)" + entry("a") + "," + entry("a/b") + "]}"));
  EXPECT_FALSE(parse_manifest(R"({"name": "../n", "files": []})"));
  EXPECT_FALSE(parse_manifest(R"({"name": "n", "files": [{"name": "a", "size": -1, "sha256": ")" +
                              hash + "\"}]}"));
  EXPECT_FALSE(
      parse_manifest(R"({"name": "n", "files": [{"name": "a", "size": 1, "sha256": "AB"}]})"));
  EXPECT_FALSE(parse_manifest("[]"));
  EXPECT_FALSE(parse_manifest("{"));
  const Result<RecordingManifest> good =
      parse_manifest(R"({"name": "n", "files": [)" + entry("b/größe") + "," + entry("a") + "]}");
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(good->files[0].name, "a");
  EXPECT_EQ(*parse_manifest(to_json(*good)), *good);
}

TEST_F(RecordingsTest, TheBudgetHolds) {
  open({.budget = 10, .largest_file = 8, .unused = std::chrono::seconds(0)});
  ASSERT_TRUE(upload("1234567"));
  EXPECT_EQ(upload("7654321").error().code, Code::kFull);
  EXPECT_EQ(upload("123456789").error().code, Code::kInvalid);
  ASSERT_TRUE(upload("abc"));
  open({.budget = 10});
  EXPECT_EQ(store_->used(), 10);
  EXPECT_EQ(upload("x").error().code, Code::kFull);
}

TEST_F(RecordingsTest, ContentsThatAreBeingAddedAreNotCollected) {
  open({.unused = std::chrono::seconds(3600)});
  ASSERT_TRUE(upload("young"));
  EXPECT_EQ(*store_->collect(), 0);
  open({.unused = std::chrono::seconds(0)});
  EXPECT_EQ(*store_->collect(), 5);
}

TEST_F(RecordingsTest, ADirectoryOfThisMachine) {
  const std::string run = folder_ + "/run.fathom";
  ASSERT_TRUE(make_dirs(run + "/rank-1"));
  std::ofstream(run + "/manifest.json") << "{}";
  std::ofstream(run + "/rank-1/big") << std::string(3'000'000, 'b');
  const auto beside = open_recordings(place("sqlite:" + folder_ + "/jobs.db"));
  ASSERT_TRUE(beside) << beside.error().message;
  RecordingStore& store = **beside;
  ASSERT_TRUE(add_recording(store, "run", run));
  const RecordingManifest manifest = store.manifest("run").value();
  ASSERT_EQ(manifest.files.size(), 2);
  EXPECT_EQ(*store.read("run", manifest.files[1], 2'999'998, 2), "bb");
  EXPECT_EQ(store.read("run", manifest.files[1], 2'999'998, 3).error().code, Code::kCorrupt);
  ASSERT_TRUE(make_dirs(run + "/spool"));
  EXPECT_EQ(add_recording(store, "run-2", run).error().code, Code::kInvalid);
  ASSERT_TRUE(remove_tree(run + "/spool"));
  ASSERT_EQ(::symlink("/etc/passwd", (run + "/link").c_str()), 0);
  EXPECT_EQ(add_recording(store, "run-2", run).error().code, Code::kCorrupt);
  EXPECT_EQ(open_recordings(place("redis://here:6379/0")).error().code, Code::kUnsupported);
}

TEST_F(RecordingsTest, LinksInTheStoreAreNotFollowed) {
  ASSERT_TRUE(upload("x"));
  ASSERT_TRUE(store_->publish({"a", {file_of("x", "x")}}));
  const std::string hash = hash_of("x");
  const std::string content = folder_ + "/kept/contents/" + hash.substr(0, 2) + "/" + hash;
  ASSERT_EQ(::unlink(content.c_str()), 0);
  ASSERT_EQ(::symlink("/etc/hostname", content.c_str()), 0);
  EXPECT_FALSE(store_->open("a", "x"));
}

TEST_F(RecordingsTest, ManyAddTheSameAtOnce) {
  std::vector<std::thread> threads;
  for (int number = 0; number < 8; ++number) {
    threads.emplace_back([&, number] {
      const std::string own = "own " + std::to_string(number);
      EXPECT_TRUE(upload("shared"));
      EXPECT_TRUE(upload(own));
      EXPECT_TRUE(store_->publish(
          {"r" + std::to_string(number), {file_of("own", own), file_of("shared", "shared")}}));
      EXPECT_TRUE(store_->publish({"all", {file_of("shared", "shared")}}));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store_->names()->size(), 9);
  EXPECT_EQ(contents(), 9);
}

}  // namespace
}  // namespace fathom::fleet
