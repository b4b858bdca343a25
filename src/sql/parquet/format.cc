// SPDX-License-Identifier: MIT
// The numbers of fields are those of Parquet's definition in Thrift.
#include "sql/parquet/format.h"

#include "base/version.h"
#include "sql/parquet/thrift.h"

namespace fathom::sql::parquet {
namespace {

constexpr std::int32_t kVersion = 2;

template <class Enum>
std::int32_t number(Enum value) {
  return static_cast<std::int32_t>(value);
}

void put_node(ThriftStruct& out, const Node& node) {
  if (node.type != Type::kNone) out.i32(1, number(node.type));
  out.i32(3, number(node.repetition));
  out.text(4, node.name);
  if (node.children > 0) out.i32(5, node.children);
  if (node.meaning != Meaning::kNone) out.i32(6, number(node.meaning));
}

void put_statistics(ThriftStruct& out, const Statistics& statistics) {
  out.i64(3, statistics.nulls);
  if (statistics.most) out.text(5, *statistics.most);
  if (statistics.least) out.text(6, *statistics.least);
}

void put_chunk(ThriftStruct& out, const ChunkInfo& chunk) {
  out.i32(1, number(chunk.type));
  out.i32s(2, chunk.encodings);
  out.texts(3, chunk.path);
  out.i32(4, number(chunk.codec));
  out.i64(5, chunk.values);
  out.i64(6, chunk.raw_bytes);
  out.i64(7, chunk.bytes);
  out.i64(9, chunk.data_offset);
  if (chunk.dictionary_offset) out.i64(11, *chunk.dictionary_offset);
  out.inner(12, [&](ThriftStruct& inner) { put_statistics(inner, chunk.statistics); });
}

void put_row_group(ThriftStruct& out, const RowGroupInfo& group) {
  std::int64_t raw_bytes = 0;
  std::int64_t bytes = 0;
  for (const ChunkInfo& chunk : group.chunks) {
    raw_bytes += chunk.raw_bytes;
    bytes += chunk.bytes;
  }
  out.structs(1, group.chunks, [](ThriftStruct& inner, const ChunkInfo& chunk) {
    inner.i64(2, chunk.dictionary_offset.value_or(chunk.data_offset));
    inner.inner(3, [&](ThriftStruct& meta) { put_chunk(meta, chunk); });
  });
  out.i64(2, raw_bytes);
  out.i64(3, group.rows);
  out.i64(6, bytes);
}

}  // namespace

std::string footer_of(const FileInfo& file) {
  std::int64_t rows = 0;
  std::vector<Node> leaves;
  for (const RowGroupInfo& group : file.row_groups) rows += group.rows;
  for (const Node& node : file.schema) {
    if (node.type != Type::kNone) leaves.push_back(node);
  }
  std::string bytes;
  {
    ThriftStruct out(bytes);
    out.i32(1, kVersion);
    out.structs(2, file.schema, put_node);
    out.i64(3, rows);
    out.structs(4, file.row_groups, put_row_group);
    out.text(6, "fathom " + std::string(version()));
    // Bounds of texts are in the order of their bytes: without this line readers mistrust them.
    out.structs(7, leaves,
                [](ThriftStruct& order, const Node&) { order.inner(1, [](ThriftStruct&) {}); });
  }
  return bytes;
}

std::string page_header_of(const PageInfo& page) {
  std::string bytes;
  {
    ThriftStruct out(bytes);
    out.i32(1, page.is_dictionary ? 2 : 0);
    out.i32(2, static_cast<std::int32_t>(page.raw_bytes));
    out.i32(3, static_cast<std::int32_t>(page.bytes));
    out.inner(page.is_dictionary ? 7 : 5, [&](ThriftStruct& inner) {
      inner.i32(1, static_cast<std::int32_t>(page.values));
      inner.i32(2, number(page.encoding));
      if (page.is_dictionary) return;
      inner.i32(3, number(Encoding::kRle));
      inner.i32(4, number(Encoding::kRle));
    });
  }
  return bytes;
}

}  // namespace fathom::sql::parquet
