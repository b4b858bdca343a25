// SPDX-License-Identifier: MIT
// Recordings elsewhere, on servers that are honest and on servers that are not.
#include "fleet/recordings/far_recording.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/files.h"
#include "fleet/recordings/far_word.h"
#include "fleet/recordings/recording_outbox.h"
#include "fleet/sha256.h"

namespace fathom::fleet {
namespace {

namespace fs = std::filesystem;

std::string hash_of(std::string_view content) {
  Sha256 hash;
  hash.add(content);
  return hash.hex();
}

// Big enough to be made hollow; its footer has `footer` bytes.
std::string parquet(std::size_t size, std::uint32_t footer, char letter) {
  std::string text(size, letter);
  text.replace(0, 4, "PAR1");
  for (std::size_t i = 0; i < 4; ++i)
    text[size - 8 + i] = static_cast<char>((footer >> (8 * i)) & 0xFFU);
  text.replace(size - 4, 4, "PAR1");
  return text;
}

struct Kept {
  RecordingManifest manifest;
  std::map<std::string, std::string> contents;  // by name
  std::uint64_t bytes_read = 0;
  int reads_until_away = -1;

  void add(const std::string& name, const std::string& content) {
    manifest.files.push_back({name, content.size(), hash_of(content)});
    contents[name] = content;
  }
};

class FakeStore final : public RecordingStore {
 public:
  explicit FakeStore(Kept& kept) : kept_(&kept) {}
  Result<std::vector<std::string>> names() override { return std::vector<std::string>{"run"}; }
  Result<RecordingManifest> manifest(const std::string& name) override {
    if (name != kept_->manifest.name) return Error{Code::kNotFound, "no recording", ""};
    return kept_->manifest;
  }
  Result<std::string> read(const std::string& /*name*/, const RecordedFile& file,
                           std::uint64_t offset, std::size_t length) override {
    if (kept_->reads_until_away-- == 0) return Error{Code::kUnavailable, "away", ""};
    kept_->bytes_read += length;
    const std::string& content = kept_->contents[file.name];
    std::string bytes = offset < content.size() ? content.substr(offset, length) : "";
    bytes.resize(length);
    return bytes;
  }
  Result<std::vector<RecordedFile>> missing(const RecordingManifest& manifest) override {
    return manifest.files;
  }
  Status send(const RecordedFile& file, const File& content) override {
    if (kept_->reads_until_away-- == 0) return Error{Code::kUnavailable, "away", ""};
    FATHOM_ASSIGN(kept_->contents[file.sha256], content.read_range(0, file.size));
    return {};
  }
  Status remove(const std::string& /*name*/) override { return {}; }
  Status publish(const RecordingManifest& manifest) override {
    if (kept_->manifest.name == manifest.name) return Error{Code::kExists, "exists", ""};
    kept_->manifest = manifest;
    return {};
  }

 private:
  Kept* kept_;
};

class FarRecordingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(root_);
    fs::create_directories(root_);
    kept_.manifest.name = "run";
    kept_.add("manifest.json", "{}");
    kept_.add("events-0.parquet", events_);
    kept_.add("summary.parquet", parquet(100, 20, 's'));
    kept_.add("notes.txt", std::string(1'000'000, 'n'));
  }
  void TearDown() override { fs::remove_all(root_); }

  Result<std::shared_ptr<FarRecording>> open(std::uint64_t most = 1U << 30) {
    Result<ContentCache> cache = ContentCache::open(root_ + "/cache", most);
    EXPECT_TRUE(cache) << cache.error().message;
    return FarRecording::open(std::make_unique<FakeStore>(kept_), "run", std::move(*cache));
  }
  std::size_t cached() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(root_ + "/cache/contents"), fs::directory_iterator()));
  }

  std::string root_ = ::testing::TempDir() + "fathom_far_recording_" + std::to_string(::getpid());
  std::string events_ = parquet(3'000'000, 500, 'e');
  Kept kept_;
};

TEST_F(FarRecordingTest, OnlyEndsComeUntilATableIsAskedFor) {
  std::string directory;
  {
    const auto far = open();
    ASSERT_TRUE(far) << far.error().message;
    directory = (*far)->directory();
    EXPECT_LT(kept_.bytes_read, 100'000);
    EXPECT_FALSE(fs::exists(directory + "/notes.txt"));
    const std::string hollow = read_file(directory + "/events-0.parquet").value();
    EXPECT_EQ(hollow.size(), events_.size());
    EXPECT_EQ(hollow.substr(hollow.size() - 508), events_.substr(events_.size() - 508));
    EXPECT_NE(hollow, events_);
    ASSERT_TRUE((*far)->bring({"summary", "nothing"}));
    EXPECT_LT(kept_.bytes_read, 100'000);
    ASSERT_TRUE((*far)->bring({"events"}));
    EXPECT_EQ(read_file(directory + "/events-0.parquet").value(), events_);
    const std::uint64_t before = kept_.bytes_read;
    ASSERT_TRUE((*far)->bring({"events"}));
    EXPECT_EQ(kept_.bytes_read, before);
    EXPECT_EQ((*far)->size().files, 4);
  }
  EXPECT_FALSE(fs::exists(directory));
  EXPECT_EQ(cached(), 3);
}

TEST_F(FarRecordingTest, WhatCameOnceDoesNotComeAgain) {
  ASSERT_TRUE(open().value()->bring({"events"}));
  kept_.bytes_read = 0;
  const auto far = open();
  ASSERT_TRUE(far) << far.error().message;
  ASSERT_TRUE((*far)->bring({"events"}));
  EXPECT_EQ(kept_.bytes_read, 0);
  EXPECT_EQ(read_file((*far)->directory() + "/events-0.parquet").value(), events_);
}

TEST_F(FarRecordingTest, TheCacheKeepsItsLimit) {
  kept_.add("events-1.parquet", parquet(2'000'000, 500, 'f'));
  const auto far = open(3'500'000);
  ASSERT_TRUE(far) << far.error().message;
  ASSERT_TRUE((*far)->bring({"events"}));
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(root_ + "/cache/contents"))
    bytes += entry.file_size();
  EXPECT_LE(bytes, 3'500'000);
  // What has gone from the cache is still there for whoever has it open.
  EXPECT_EQ(read_file((*far)->directory() + "/events-0.parquet").value(), events_);
}

TEST_F(FarRecordingTest, ALongFooterComesWhole) {
  kept_.contents["events-0.parquet"] = events_ = parquet(3'000'000, 1'000'000, 'g');
  kept_.manifest.files[1].sha256 = hash_of(events_);
  const auto far = open();
  ASSERT_TRUE(far) << far.error().message;
  EXPECT_EQ(read_file((*far)->directory() + "/events-0.parquet").value().substr(1'999'992),
            events_.substr(1'999'992));
}

TEST_F(FarRecordingTest, AnotherContentThanTheHashSaysIsRefusedAndNotKept) {
  kept_.contents["events-0.parquet"][5] = '!';
  const auto far = open();
  ASSERT_TRUE(far) << far.error().message;
  EXPECT_EQ((*far)->bring({"events"}).error().code, Code::kCorrupt);
  EXPECT_EQ(cached(), 2);
  kept_.contents["events-0.parquet"] = events_;
  EXPECT_TRUE((*far)->bring({"events"}));
  kept_.contents["summary.parquet"][5] = '!';
  fs::remove_all(root_ + "/cache");
  EXPECT_EQ(open().error().code, Code::kCorrupt);
}

TEST_F(FarRecordingTest, SizesThatNoDiskHas) {
  kept_.manifest.files[1].size = std::uint64_t{1} << 49U;
  const auto far = open();
  if (far) {
    EXPECT_EQ((*far)->bring({"events"}).error().code, Code::kFull);
  }
  kept_.manifest.files[1].size = events_.size();
  kept_.manifest.files[0].size = std::uint64_t{1} << 40U;
  EXPECT_EQ(open().error().code, Code::kCorrupt);
}

TEST_F(FarRecordingTest, AFooterThatIsLongerThanItsFile) {
  kept_.contents["events-0.parquet"] = parquet(3'000'000, 0xFFFFFFF0U, 'h');
  EXPECT_EQ(open().error().code, Code::kCorrupt);
}

TEST_F(FarRecordingTest, ASpoolIsForTheMachineThatWroteIt) {
  kept_.add("spool/run.header", "x");
  EXPECT_EQ(open().error().code, Code::kUnsupported);
}

TEST_F(FarRecordingTest, AServerThatGoesAwayLeavesNothingHalf) {
  const auto far = open();
  ASSERT_TRUE(far) << far.error().message;
  kept_.reads_until_away = 0;
  EXPECT_EQ((*far)->bring({"events"}).error().code, Code::kUnavailable);
  EXPECT_EQ(cached(), 2);
  ASSERT_TRUE((*far)->bring({"events"}));
  EXPECT_EQ(cached(), 3);
}

TEST_F(FarRecordingTest, ADirectoryOfDirectories) {
  kept_.add("rank-1/manifest.json", "{ }");
  kept_.add("rank-1/events-0.parquet", events_);
  const auto far = open();
  ASSERT_TRUE(far) << far.error().message;
  ASSERT_TRUE((*far)->bring({"events"}));
  EXPECT_EQ(read_file((*far)->directory() + "/rank-1/events-0.parquet").value(), events_);
}

TEST_F(FarRecordingTest, WithoutAFolderToKeepThings) {
  const auto far = FarRecording::open(std::make_unique<FakeStore>(kept_), "run", std::nullopt);
  ASSERT_TRUE(far) << far.error().message;
  ASSERT_TRUE((*far)->bring({"events"}));
  EXPECT_EQ(read_file((*far)->directory() + "/events-0.parquet").value(), events_);
}

TEST(FarWordTest, Words) {
  struct Case {
    const char* word;
    const char* server;
    const char* name;
  };
  constexpr Case kGood[] = {
      {"http://here:10000/recordings/run-1", "http://here:10000", "run-1"},
      {"https://here/fathom/recordings/a.b/", "https://here/fathom", "a.b"},
      {"http://[::1]:80/api/v1/recordings/x", "http://[::1]:80", "x"},
      {"http://here/x", "http://here", "x"},
      {"recording:night_7", "", "night_7"},
  };
  for (const Case& good : kGood) {
    EXPECT_TRUE(is_far_word(good.word));
    const Result<FarWord> found = parse_far_word(good.word);
    ASSERT_TRUE(found) << good.word << ": " << found.error().message;
    EXPECT_EQ(found->server, good.server) << good.word;
    EXPECT_EQ(found->name, good.name) << good.word;
  }
  for (const char* bad : {"http://here", "http://here:10000/", "http://here/recordings/",
                          "http://here/recordings/..", "http://here/recordings/a%2fb",
                          "recording:", "recording:../x", "http://", "http://here/recordings"})
    EXPECT_EQ(parse_far_word(bad).error().code, Code::kUsage) << bad;
  for (const char* other : {"run.fathom", "./http:", "/recordings/x", "last"})
    EXPECT_FALSE(is_far_word(other)) << other;
}

class RecordingOutboxTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::remove_all(root_); }
  void TearDown() override { fs::remove_all(root_); }

  void put(const std::string& name, const std::string& place) const {
    Result<RecordingOutbox::Draft> draft = outbox().begin(name);
    ASSERT_TRUE(draft) << draft.error().message;
    fs::create_directories(draft->directory());
    std::ofstream(draft->directory() + "/manifest.json") << "{}";
    ASSERT_TRUE(outbox().finish(std::move(*draft), place));
  }
  RecordingOutbox outbox() const { return RecordingOutbox::open(root_).value(); }
  RecordingDelivery send(Kept& kept) const {
    FakeStore store(kept);
    RecordingDelivery delivery;
    EXPECT_TRUE(outbox().send_waiting(store, {"here", "own"}, delivery));
    return delivery;
  }

  std::string root_ = ::testing::TempDir() + "fathom_out_" + std::to_string(::getpid());
};

TEST_F(RecordingOutboxTest, WaitsForItsServerAndGoesOnce) {
  put("a", "here");
  put("b", "there");
  Kept kept;
  kept.reads_until_away = 0;
  RecordingDelivery delivery = send(kept);
  EXPECT_EQ(delivery.waiting, 1);
  EXPECT_EQ(delivery.elsewhere, 1);
  EXPECT_EQ(delivery.away->code, Code::kUnavailable);
  delivery = send(kept);
  EXPECT_EQ(delivery.delivered, std::vector<std::string>{"a"});
  EXPECT_EQ(kept.contents[hash_of("{}")], "{}");
  EXPECT_TRUE(send(kept).delivered.empty());
}

// Its agent died between the answer and the removal.
TEST_F(RecordingOutboxTest, OneThatIsThereIsNotSentAgain) {
  put("a", "own");
  Kept kept;
  kept.manifest.name = "a";
  EXPECT_EQ(send(kept).delivered, std::vector<std::string>{"a"});
  EXPECT_TRUE(send(kept).delivered.empty());
}

TEST_F(RecordingOutboxTest, ADraftThatIsGivenUpLeavesNothing) {
  { ASSERT_TRUE(outbox().begin("a")); }
  EXPECT_TRUE(fs::is_empty(root_ + "/outbox-recordings"));
}

TEST_F(RecordingOutboxTest, OneThatCannotBeSentIsSetAside) {
  put("a", "here");
  ASSERT_EQ(::symlink("/etc/passwd", (root_ + "/outbox-recordings/a/recording/link").c_str()), 0);
  Kept kept;
  EXPECT_EQ(send(kept).refused.size(), 1);
  EXPECT_TRUE(fs::exists(root_ + "/outbox-recordings/a.aside"));
  EXPECT_TRUE(send(kept).refused.empty());
}

TEST(RecordingNameTest, AWorkThatIsDoneAgainHasTheNameOfTheFirst) {
  EXPECT_NE(new_recording_name("job"), new_recording_name("job"));
  EXPECT_TRUE(is_job_name(new_recording_name(std::string(64, 'j'))));
  ::setenv("FATHOM_WORK_ID", "w-1", 1);
  EXPECT_EQ(new_recording_name("job"), new_recording_name("job"));
  ::unsetenv("FATHOM_WORK_ID");
}

}  // namespace
}  // namespace fathom::fleet
