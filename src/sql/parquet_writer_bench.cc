// SPDX-License-Identifier: MIT
// Rows per second into Parquet, for rows shaped like `events`: 21 columns, most of them NULL or
// repeating.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sql/parquet_writer.h"

namespace fathom::sql {
namespace {

constexpr std::size_t kRows = 1'000'000;

// The columns of 1 M calls that read and write files one after the other.
class Events {
 public:
  explicit Events(std::size_t paths) {
    for (std::size_t i = 0; i < paths; ++i)
      path_storage_.push_back("/data/train/shard-" + std::to_string(i) + ".bin");
    paths_.assign(path_storage_.begin(), path_storage_.end());
    std::int64_t now = 0;
    std::uint32_t noise = 1;
    for (std::size_t i = 0; i < kRows; ++i) {
      noise = noise * 1664525U + 1013904223U;
      now += 300 + (noise >> 22U);
      ts_.push_back(now);
      dur_.push_back(200 + (noise >> 24U));
      id_.push_back(4711);
      depth_.push_back(static_cast<std::int32_t>(i % 3));
      zero_.push_back(0);
      name_.push_back(noise >> 30U);
      file_.push_back(static_cast<std::uint32_t>(i * paths / kRows));
      fd_.push_back(static_cast<std::int32_t>(3 + i % 5));
      position_.push_back(static_cast<std::int64_t>(i % 1000) * 4096);
      bytes_.push_back(4096);
      keys_.push_back(0);
      texts_.emplace_back("O_RDONLY|O_CLOEXEC");
      offsets_.push_back(static_cast<std::uint32_t>(i));
    }
    offsets_.push_back(kRows);
  }

  Batch batch(bool with_args) {
    const auto column = [&](const char* name, ColumnKind kind, ColumnData data,
                            std::span<const std::string_view> dictionary = {}) {
      columns_.push_back({name, kind, dictionary});
      data_.push_back(data);
    };
    columns_.clear();
    data_.clear();
    column("ts", ColumnKind::kInt64, {.int64s = ts_});
    column("dur", ColumnKind::kInt64, {.int64s = dur_});
    column("host", ColumnKind::kDictionary, {.codes = zero_}, kHost);
    column("pid", ColumnKind::kInt32, {.int32s = id_});
    column("tid", ColumnKind::kInt32, {.int32s = id_});
    column("rank", ColumnKind::kInt32, {});
    column("layer", ColumnKind::kDictionary, {.codes = zero_}, kLayer);
    column("name", ColumnKind::kDictionary, {.codes = name_}, kNames);
    column("category", ColumnKind::kDictionary, {.codes = zero_}, kLayer);
    column("depth", ColumnKind::kInt32, {.int32s = depth_});
    column("file", ColumnKind::kDictionary, {.codes = file_}, paths_);
    column("fd", ColumnKind::kInt32, {.int32s = fd_});
    column("offset", ColumnKind::kInt64, {.int64s = position_});
    column("size", ColumnKind::kInt64, {.int64s = bytes_});
    column("bytes", ColumnKind::kInt64, {.int64s = bytes_});
    column("ret", ColumnKind::kInt64, {.int64s = bytes_});
    column("error", ColumnKind::kDictionary, {});
    column("device", ColumnKind::kInt32, {});
    column("stream", ColumnKind::kInt64, {});
    column("correlation", ColumnKind::kInt64, {});
    if (with_args) {
      column("args", ColumnKind::kTextMap, {.codes = keys_, .texts = texts_, .offsets = offsets_},
             kKeys);
    } else {
      column("args", ColumnKind::kTextMap, {}, kKeys);
    }
    return {columns_, data_, kRows};
  }

 private:
  static constexpr std::string_view kHost[] = {"node01"};
  static constexpr std::string_view kLayer[] = {"posix"};
  static constexpr std::string_view kNames[] = {"read", "write", "lseek", "pread"};
  static constexpr std::string_view kKeys[] = {"flags"};
  std::vector<std::string> path_storage_;
  std::vector<std::string_view> paths_;
  std::vector<std::int64_t> ts_, dur_, position_, bytes_;
  std::vector<std::int32_t> id_, depth_, fd_;
  std::vector<std::uint32_t> zero_, name_, file_, keys_, offsets_;
  std::vector<std::string_view> texts_;
  std::vector<ColumnDef> columns_;
  std::vector<ColumnData> data_;
};

// Arguments: how many paths, whether every row has an argument, zstd level.
void write_events(benchmark::State& state) {
  Events events(static_cast<std::size_t>(state.range(0)));
  const Batch batch = events.batch(state.range(1) != 0);
  const std::string path =
      std::filesystem::temp_directory_path() / "fathom_parquet_writer_bench.parquet";
  for (auto _ : state) {
    const Status written =
        write_parquet(path, batch, {.zstd_level = static_cast<int>(state.range(2))});
    if (!written) state.SkipWithError(written.error().message.c_str());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRows));
  state.counters["bytes_per_row"] =
      static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(kRows);
  std::filesystem::remove(path);
}
BENCHMARK(write_events)
    ->ArgNames({"paths", "args", "zstd"})
    ->Args({100, 0, 3})
    ->Args({100, 0, 1})
    ->Args({60'000, 0, 3})
    ->Args({100, 1, 3})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fathom::sql
