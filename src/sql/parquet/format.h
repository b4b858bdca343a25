// SPDX-License-Identifier: MIT
// Parquet's words, and what its footer says of a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fathom::sql::parquet {

enum class Type : std::uint8_t { kNone = 0xff, kInt32 = 1, kInt64 = 2, kDouble = 5, kText = 6 };
enum class Repetition : std::uint8_t { kRequired = 0, kOptional = 1, kRepeated = 2 };
enum class Meaning : std::uint8_t { kNone = 0xff, kUtf8 = 0, kMap = 1, kList = 3 };
enum class Encoding : std::uint8_t {
  kPlain = 0,
  kRle = 3,
  kDelta = 5,
  kDeltaLength = 6,
  kDictionary = 8
};
enum class Codec : std::uint8_t { kNone = 0, kZstd = 6 };

// A node of the schema, which is a tree in the order of a walk from the root.
struct Node {
  std::string name;
  Type type = Type::kNone;  // of a leaf
  Repetition repetition = Repetition::kOptional;
  Meaning meaning = Meaning::kNone;
  int children = 0;
};

// What readers leave parts of a file unread by. Bounds are of values that are not NULL, in plain
// encoding; absent where they would be long.
struct Statistics {
  std::int64_t nulls = 0;
  std::optional<std::string> least;
  std::optional<std::string> most;
};

// One column of one row group.
struct ChunkInfo {
  Type type = Type::kNone;
  std::vector<std::string> path;
  std::vector<Encoding> encodings;
  Codec codec = Codec::kNone;
  std::int64_t values = 0;
  std::int64_t raw_bytes = 0;  // with the headers of its pages, before compression
  std::int64_t bytes = 0;
  std::optional<std::int64_t> dictionary_offset;
  std::int64_t data_offset = 0;
  Statistics statistics;
};

// A part of a file that can be read without the others: a chunk for each leaf.
struct RowGroupInfo {
  std::int64_t rows = 0;
  std::vector<ChunkInfo> chunks;
};

// All that a footer says.
struct FileInfo {
  std::vector<Node> schema;
  std::vector<RowGroupInfo> row_groups;
};

std::string footer_of(const FileInfo& file);

// The head of a page. Sizes are without the head itself.
struct PageInfo {
  std::size_t raw_bytes = 0;
  std::size_t bytes = 0;
  std::size_t values = 0;
  Encoding encoding = Encoding::kPlain;
  bool is_dictionary = false;
};

std::string page_header_of(const PageInfo& page);

}  // namespace fathom::sql::parquet
