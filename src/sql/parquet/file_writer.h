// SPDX-License-Identifier: MIT
// A Parquet file, row group after row group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "sql/columns.h"
#include "sql/parquet/format.h"
#include "sql/parquet/leaves.h"

struct ZSTD_CCtx_s;

namespace fathom::sql::parquet {

// One thread at a time. After an Error the file is no Parquet file: whoever made it removes it.
class FileWriter {
 public:
  // The file is open for writing, and empty. `columns` must stay.
  static Result<FileWriter> create(File file, std::span<const ColumnDef> columns, int zstd_level);

  // data[i] belongs to columns[i], and fits it (check_fit).
  Status add_row_group(std::span<const ColumnData> data, std::size_t rows);
  // The footer, without which the file is none.
  Status finish();

 private:
  struct FreeContext {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  struct Page {
    PageInfo info;
    std::string raw;
    std::string packed;
  };

  FileWriter(File file, std::span<const ColumnDef> columns, int zstd_level);
  Status put(std::string_view bytes);
  Status put_leaf(Leaf leaf, std::vector<std::string> path, RowGroupInfo& group);
  Status put_page(const Page& page, bool packed, ChunkInfo& chunk);
  // Whether the pages are to be written packed.
  bool pack(std::vector<Page>& pages);

  File file_;
  std::int64_t written_ = 0;
  std::vector<std::vector<std::vector<std::string>>> paths_;
  std::vector<LeafMaker> makers_;
  int zstd_level_;
  std::unique_ptr<ZSTD_CCtx_s, FreeContext> context_;
  FileInfo info_;
};

}  // namespace fathom::sql::parquet
