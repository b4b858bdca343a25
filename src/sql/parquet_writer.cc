// SPDX-License-Identifier: MIT
// Cuts a batch into row groups and publishes a file by rename. Row groups with long texts are cut
// shorter, as a page's size has 32 bits.
#include "sql/parquet_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/private_files.h"
#include "sql/parquet/file_writer.h"
#include "sql/quote.h"
#include "sql/row_source.h"

namespace fathom::sql {

namespace {

Status check(const Batch& batch) {
  if (batch.columns.size() != batch.data.size())
    return Error{Code::kInvalid, "a batch has a column without data", ""};
  for (std::size_t i = 0; i < batch.columns.size(); ++i)
    FATHOM_TRY(check_fit(batch.columns[i], batch.data[i], batch.rows));
  return {};
}

// Pages have sizes of 32 bits, and are made in memory: where texts are long, row groups are short.
std::size_t rows_of_group(const Batch& batch, std::size_t begin, std::size_t most) {
  constexpr std::size_t kMostText = std::size_t{64} << 20;
  std::size_t count = std::min(most, batch.rows - begin);
  for (std::size_t i = 0; i < batch.columns.size(); ++i) {
    const ColumnData& data = batch.data[i];
    const bool is_map = batch.columns[i].kind == ColumnKind::kTextMap;
    std::size_t bytes = 0;
    for (std::size_t row = 0; row < count && !data.texts.empty(); ++row) {
      const std::size_t from = is_map ? data.offsets[begin + row] : begin + row;
      const std::size_t to = is_map ? data.offsets[begin + row + 1] : from + 1;
      for (std::size_t text = from; text < to; ++text) bytes += data.texts[text].size();
      if (bytes > kMostText) count = std::max<std::size_t>(row, 1);
    }
  }
  return count;
}

Status write_batch(File file, const Batch& batch, const ParquetOptions& options) {
  FATHOM_ASSIGN(parquet::FileWriter writer,
                parquet::FileWriter::create(std::move(file), batch.columns, options.zstd_level));
  std::vector<ColumnData> group(batch.columns.size());
  for (std::size_t begin = 0; begin < batch.rows;) {
    const std::size_t rows = rows_of_group(batch, begin, options.row_group_size);
    for (std::size_t i = 0; i < group.size(); ++i)
      group[i] = rows_of(batch.columns[i].kind, batch.data[i], begin, rows);
    FATHOM_TRY(writer.add_row_group(group, rows));
    begin += rows;
  }
  return writer.finish();
}

// Errors of writing itself say so already.
Error about(Error error, const std::string& path) {
  const std::string what = "write " + path;
  return error.message.starts_with(what) ? error : std::move(error).with(what);
}

}  // namespace

Status write_parquet(File file, const Batch& batch, const ParquetOptions& options) {
  FATHOM_TRY(check(batch));
  const std::string path = file.path();
  Status written = write_batch(std::move(file), batch, options);
  return written ? Status() : about(std::move(written).error(), path);
}

Status write_parquet(const std::string& path, const Batch& batch, const ParquetOptions& options) {
  FATHOM_TRY(check(batch));
  const std::string unfinished = path + ".tmp";
  Result<File> file = open_private(unfinished, O_WRONLY | O_TRUNC);
  if (!file) return about(std::move(file).error(), path);
  Status written = write_batch(std::move(file).value(), batch, options);
  if (written) written = rename_path(unfinished, path);
  if (written) return {};
  ::unlink(unfinished.c_str());
  return about(std::move(written).error(), path);
}

Status register_table(Connection& connection, const std::string& name, const Batch& batch) {
  FATHOM_TRY(check(batch));
  FATHOM_ASSIGN(const DuckdbApi* api, duckdb_api());
  RowSource source(*api, batch);
  Status made = connection.with_rows(source, [&](const std::string& from) {
    return connection.execute("CREATE OR REPLACE TABLE " + quote_identifier(name) +
                              " AS SELECT * FROM " + from);
  });
  if (!made) return std::move(made).error().with("make table " + name);
  return {};
}

}  // namespace fathom::sql
