// SPDX-License-Identifier: MIT
// Lays out the file: magic, pages of each row group, footer. Pages are compressed by zstd only
// where that saves a tenth, because readers pay for it.
#include "sql/parquet/file_writer.h"

#include <zstd.h>

#include <utility>

#include "base/private_files.h"
#include "sql/parquet/bytes.h"

namespace fathom::sql::parquet {
namespace {

constexpr std::string_view kMark = "PAR1";

}  // namespace

void FileWriter::FreeContext::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

Result<FileWriter> FileWriter::create(File file, std::span<const ColumnDef> columns,
                                      int zstd_level) {
  FileWriter writer(std::move(file), columns, zstd_level);
  FATHOM_TRY(writer.put(kMark));
  return writer;
}

FileWriter::FileWriter(File file, std::span<const ColumnDef> columns, int zstd_level)
    : file_(std::move(file)), zstd_level_(zstd_level), context_(ZSTD_createCCtx()) {
  info_.schema.push_back({"events", Type::kNone, Repetition::kRequired, Meaning::kNone,
                          static_cast<int>(columns.size())});
  for (const ColumnDef& column : columns) {
    for (Node& node : nodes_of(column)) info_.schema.push_back(std::move(node));
    paths_.push_back(leaf_paths(column));
    makers_.emplace_back(column);
  }
}

Status FileWriter::put(std::string_view bytes) {
  FATHOM_TRY(file_.write_all(bytes));
  written_ += static_cast<std::int64_t>(bytes.size());
  return {};
}

Status FileWriter::add_row_group(std::span<const ColumnData> data, std::size_t rows) {
  RowGroupInfo group{.rows = static_cast<std::int64_t>(rows), .chunks = {}};
  for (std::size_t i = 0; i < makers_.size(); ++i) {
    std::vector<Leaf> leaves = makers_[i].make(data[i], rows);
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf)
      FATHOM_TRY(put_leaf(std::move(leaves[leaf]), paths_[i][leaf], group));
  }
  info_.row_groups.push_back(std::move(group));
  return {};
}

Status FileWriter::put_leaf(Leaf leaf, std::vector<std::string> path, RowGroupInfo& group) {
  EncodedValues& values = leaf.values;
  ChunkInfo chunk{.type = leaf.type,
                  .path = std::move(path),
                  .encodings = {values.encoding, Encoding::kRle},
                  .codec = Codec::kNone,
                  .values = static_cast<std::int64_t>(leaf.entries),
                  .dictionary_offset = {},
                  .statistics = {leaf.nulls, std::move(values.least), std::move(values.most)}};
  std::vector<Page> pages;
  if (values.encoding == Encoding::kDictionary) {
    pages.push_back(
        {{.values = values.members, .is_dictionary = true}, std::move(values.dictionary), {}});
    // That of the dictionary's own page.
    chunk.encodings.push_back(Encoding::kPlain);
    chunk.dictionary_offset = written_;
  }
  pages.push_back({{.values = leaf.entries, .encoding = values.encoding},
                   std::move(leaf.levels) + values.bytes,
                   {}});
  const bool pays = pack(pages);
  if (pays) chunk.codec = Codec::kZstd;
  for (const Page& page : pages) FATHOM_TRY(put_page(page, pays, chunk));
  group.chunks.push_back(std::move(chunk));
  return {};
}

// Packed pages cost their readers time: they must be a tenth smaller, and not tiny to begin with.
bool FileWriter::pack(std::vector<Page>& pages) {
  constexpr std::size_t kTooSmall = 64;
  std::size_t raw = 0;
  for (const Page& page : pages) raw += page.raw.size();
  if (raw < kTooSmall) return false;
  std::size_t packed = 0;
  for (Page& page : pages) {
    page.packed.resize(ZSTD_compressBound(page.raw.size()));
    const std::size_t size =
        ZSTD_compressCCtx(context_.get(), page.packed.data(), page.packed.size(), page.raw.data(),
                          page.raw.size(), zstd_level_);
    if (ZSTD_isError(size) != 0) return false;
    page.packed.resize(size);
    packed += size;
  }
  return packed + packed / 8 < raw;
}

Status FileWriter::put_page(const Page& page, bool packed, ChunkInfo& chunk) {
  const std::string& body = packed ? page.packed : page.raw;
  PageInfo info = page.info;
  info.raw_bytes = page.raw.size();
  info.bytes = body.size();
  const std::string header = page_header_of(info);
  if (!info.is_dictionary) chunk.data_offset = written_;
  chunk.raw_bytes += static_cast<std::int64_t>(header.size() + page.raw.size());
  chunk.bytes += static_cast<std::int64_t>(header.size() + body.size());
  FATHOM_TRY(put(header));
  return put(body);
}

Status FileWriter::finish() {
  std::string footer = footer_of(info_);
  put_raw(footer, static_cast<std::uint32_t>(footer.size()));
  footer += kMark;
  return put(footer);
}

}  // namespace fathom::sql::parquet
