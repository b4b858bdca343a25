// SPDX-License-Identifier: MIT
// Thrift's compact protocol, as far as Parquet's headers and footer need it.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "sql/parquet/bytes.h"

namespace fathom::sql::parquet {

// Writes one struct; fields in ascending order of their ids. The end of the object ends the struct.
class ThriftStruct {
 public:
  explicit ThriftStruct(std::string& out) : out_(&out) {}
  ThriftStruct(const ThriftStruct&) = delete;
  ThriftStruct& operator=(const ThriftStruct&) = delete;
  ~ThriftStruct() { *out_ += '\0'; }

  void i32(int id, std::int32_t value) { number(id, kI32, value); }
  void i64(int id, std::int64_t value) { number(id, kI64, value); }
  void text(int id, std::string_view bytes) {
    field(id, kBinary);
    put_text(bytes);
  }
  // `fill` gets the inner struct.
  template <std::invocable<ThriftStruct&> Fill>
  void inner(int id, Fill fill) {
    field(id, kStruct);
    ThriftStruct one(*out_);
    fill(one);
  }
  template <class Items, class Fill>
  void structs(int id, const Items& items, Fill fill) {
    list(id, kStruct, items.size());
    for (const auto& item : items) {
      ThriftStruct one(*out_);
      fill(one, item);
    }
  }
  template <class Items>
  void texts(int id, const Items& items) {
    list(id, kBinary, items.size());
    for (const auto& item : items) put_text(item);
  }
  template <class Items>
  void i32s(int id, const Items& items) {
    list(id, kI32, items.size());
    for (const auto& item : items) put_zigzag(*out_, static_cast<std::int32_t>(item));
  }

 private:
  enum Kind : std::uint8_t { kI32 = 5, kI64 = 6, kBinary = 8, kList = 9, kStruct = 12 };

  void field(int id, Kind kind) {
    *out_ += static_cast<char>((id - last_) << 4 | kind);  // ids here are less than 16 apart
    last_ = id;
  }
  void number(int id, Kind kind, std::int64_t value) {
    field(id, kind);
    put_zigzag(*out_, value);
  }
  void list(int id, Kind kind, std::size_t size) {
    field(id, kList);
    constexpr std::size_t kLong = 15;
    *out_ += static_cast<char>((size < kLong ? size : kLong) << 4U | kind);
    if (size >= kLong) put_varint(*out_, size);
  }
  void put_text(std::string_view bytes) {
    put_varint(*out_, bytes.size());
    out_->append(bytes);
  }

  std::string* out_;
  int last_ = 0;
};

}  // namespace fathom::sql::parquet
