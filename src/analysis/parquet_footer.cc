// SPDX-License-Identifier: MIT
// The number of rows of a Parquet file, without DuckDB: `fathom info` wants it of every file at
// once. A footer is a struct in Thrift's compact protocol: 1 version, 2 schema, 3 number of rows,
// and more. What stands before the number of rows is skipped, whatever it is. Files may be damaged:
// every step is checked, and nothing is taken from a length before it is there.
#include "analysis/parquet_footer.h"

#include <cstring>

#include "base/directory.h"
#include "base/files.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr std::uint64_t kTrailer = 8;              // the length of the end, and the magic
constexpr std::uint64_t kMostBytes = 64ULL << 20;  // of an end; ours have a few thousand
constexpr int kDeepest = 16;                       // structs in structs; a schema has three
constexpr std::int64_t kRowsField = 3;
constexpr std::int64_t kMostFields = 0x7fff;  // their numbers have 16 bits

enum class Type : std::uint8_t {
  kStop = 0,
  kTrue = 1,
  kFalse = 2,
  kByte = 3,
  kInt16 = 4,
  kInt32 = 5,
  kInt64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kStruct = 12,
};

// Every step says whether the bytes were as they must be.
class ThriftReader {
 public:
  explicit ThriftReader(std::string_view bytes) : rest_(bytes) {}

  // The next field of a struct: its type, and its number from the number before it.
  bool field(Type& type, std::int64_t& number) {
    std::uint8_t head = 0;
    if (!byte(head)) return false;
    type = static_cast<Type>(head & 0x0fU);
    if (type == Type::kStop) return true;
    const unsigned step = head >> 4U;
    if (step == 0 && !integer(number)) return false;
    number += step;
    return number >= 0 && number <= kMostFields;
  }

  bool integer(std::int64_t& value) {
    std::uint64_t bits = 0;
    if (!varint(bits)) return false;
    value = static_cast<std::int64_t>(bits >> 1U) ^ -static_cast<std::int64_t>(bits & 1U);
    return true;
  }

  bool skip(Type type, int depth) {
    std::uint64_t length = 0;
    switch (type) {
      case Type::kTrue:
      case Type::kFalse:
        return true;  // the type is the value
      case Type::kByte:
        return drop(1);
      case Type::kInt16:
      case Type::kInt32:
      case Type::kInt64:
        return varint(length);
      case Type::kDouble:
        return drop(sizeof(double));
      case Type::kBinary:
        return varint(length) && drop(length);
      case Type::kList:
      case Type::kSet:
        return depth > 0 && skip_list(depth - 1);
      case Type::kStruct:
        return depth > 0 && skip_struct(depth - 1);
      default:
        return false;
    }
  }

 private:
  bool drop(std::uint64_t bytes) {
    if (bytes > rest_.size()) return false;
    rest_.remove_prefix(bytes);
    return true;
  }
  bool byte(std::uint8_t& value) {
    if (rest_.empty()) return false;
    value = static_cast<std::uint8_t>(rest_[0]);
    return drop(1);
  }
  bool varint(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      std::uint8_t part = 0;
      if (!byte(part)) return false;
      value |= static_cast<std::uint64_t>(part & 0x7fU) << shift;
      if ((part & 0x80U) == 0) return true;
    }
    return false;
  }
  bool skip_list(int depth) {
    std::uint8_t head = 0;
    if (!byte(head)) return false;
    const auto type = static_cast<Type>(head & 0x0fU);
    std::uint64_t count = head >> 4U;
    if (count == 0x0fU && !varint(count)) return false;
    const bool is_flag = type == Type::kTrue || type == Type::kFalse;  // a byte each in a list
    if (count > rest_.size()) return false;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (!skip(is_flag ? Type::kByte : type, depth)) return false;
    }
    return true;
  }
  bool skip_struct(int depth) {
    std::int64_t number = 0;
    for (;;) {
      Type type = Type::kStop;
      if (!field(type, number)) return false;
      if (type == Type::kStop) return true;
      if (!skip(type, depth)) return false;
    }
  }

  std::string_view rest_;
};

}  // namespace

std::string parquet_footer(const std::string& path) {
  const Result<Directory> directory = Directory::open(std::string(dir_name(path)));
  if (path.empty() || !directory) return "";
  const Result<File> file = directory->read(std::string(base_name(path)));
  if (!file) return "";
  const Result<std::uint64_t> size = file->size();
  if (!size || *size < kTrailer) return "";
  const Result<std::string> trailer = file->read_range(*size - kTrailer, kTrailer);
  if (!trailer || !trailer->ends_with(kMagic)) return "";
  std::uint32_t length = 0;
  std::memcpy(&length, trailer->data(), sizeof length);
  if (length > kMostBytes || length + kTrailer > *size) return "";
  Result<std::string> end = file->read_range(*size - kTrailer - length, length);
  return end ? std::move(end).value() : "";
}

std::optional<std::int64_t> rows_of_footer(std::string_view footer) {
  ThriftReader reader(footer);
  std::int64_t number = 0;
  for (;;) {
    Type type = Type::kStop;
    if (!reader.field(type, number) || type == Type::kStop) return std::nullopt;
    if (number == kRowsField) break;
    if (!reader.skip(type, kDeepest)) return std::nullopt;
  }
  std::int64_t rows = 0;
  if (!reader.integer(rows) || rows < 0) return std::nullopt;
  return rows;
}

}  // namespace fathom::analysis
