// SPDX-License-Identifier: MIT
// Turns columns (plain, list, map) into Parquet's leaves. Parquet keeps no structure but two small
// numbers for each entry: how deep it is defined (where along the path the first NULL is), and at
// which depth it repeats the entry before (0 begins a new row). The only place that knows about
// nesting.
#include "sql/parquet/leaves.h"

#include <algorithm>

#include "sql/parquet/bytes.h"
#include "sql/parquet/hybrid.h"

namespace fathom::sql::parquet {
namespace {

// How deep an entry is defined. A plain column: 1 is a value. Of a list or a map: 0 is NULL, 1 an
// empty one, 2 an item (a map's key), 3 an item that is not NULL.
constexpr unsigned kPlainDepth = 1;
constexpr unsigned kKeyDepth = 2;
constexpr unsigned kItemDepth = 3;

void put_sized(std::string& out, const std::string& levels) {
  put_raw(out, static_cast<std::uint32_t>(levels.size()));
  out.append(levels);
}

// A run: the levels of a column without NULL take a few bytes.
std::string same_level(unsigned level, std::size_t count, unsigned most) {
  std::string bytes;
  std::string levels;
  put_run(levels, level, count, bits_for(most));
  put_sized(bytes, levels);
  return bytes;
}

std::string levels_of(std::span<const std::uint8_t> each, unsigned most) {
  std::string bytes;
  std::string levels;
  put_hybrid(levels, each, bits_for(most));
  put_sized(bytes, levels);
  return bytes;
}

// The validity of a plain column is its levels of definition.
std::string validity(std::span<const std::uint8_t> valid, std::size_t rows, std::int64_t nulls) {
  if (nulls == 0) return same_level(kPlainDepth, rows, kPlainDepth);
  std::vector<std::uint8_t> levels(valid.size());
  std::ranges::transform(valid, levels.begin(), [](auto one) { return one != 0 ? 1 : 0; });
  return levels_of(levels, kPlainDepth);
}

template <class T>
std::vector<T> without_nulls(std::span<const T> values, std::span<const std::uint8_t> valid) {
  std::vector<T> kept;
  kept.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (valid[i] != 0) kept.push_back(values[i]);
  }
  return kept;
}

std::int64_t count_nulls(std::span<const std::uint8_t> valid) {
  return std::count(valid.begin(), valid.end(), std::uint8_t{0});
}

EncodedValues encode(std::span<const std::int64_t> values) { return encode_numbers(values); }
EncodedValues encode(std::span<const std::int32_t> values) { return encode_numbers(values); }
EncodedValues encode(std::span<const double> values) { return encode_doubles(values); }
EncodedValues encode(std::span<const std::string_view> texts) { return encode_texts(texts); }

// The levels of rows that hold any number of items each.
struct ItemLevels {
  std::vector<std::uint8_t> repetition;
  std::vector<std::uint8_t> definition;
  std::int64_t nulls = 0;  // entries without an item

  ItemLevels(const ColumnData& data, std::size_t rows) {
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t items = data.offsets[row + 1] - data.offsets[row];
      const bool null = !data.valid.empty() && data.valid[row] == 0;
      if (null || items == 0) {
        add(0, null ? 0 : 1);
        ++nulls;
        continue;
      }
      for (std::size_t i = 0; i < items; ++i) add(i == 0 ? 0 : 1, kItemDepth);
    }
  }

  // The levels of a leaf whose items are defined `most` deep.
  [[nodiscard]] std::string bytes(unsigned most) const {
    // A key is never NULL where its item is there, so its leaf knows one level less.
    std::vector<std::uint8_t> shallow = definition;
    for (std::uint8_t& level : shallow)
      level = static_cast<std::uint8_t>(std::min<unsigned>(level, most));
    return levels_of(repetition, 1) + levels_of(shallow, most);
  }

 private:
  void add(std::uint8_t repeated, std::uint8_t defined) {
    repetition.push_back(repeated);
    definition.push_back(defined);
  }
};

// Items of rows that are not NULL, of all that lie between the first offset and the last.
template <class T>
std::vector<T> items_of(std::span<const T> items, const ColumnData& data, std::size_t rows) {
  std::vector<T> kept;
  kept.reserve(data.offsets[rows] - data.offsets[0]);
  for (std::size_t row = 0; row < rows; ++row) {
    if (!data.valid.empty() && data.valid[row] == 0) continue;
    const auto begin = items.begin() + data.offsets[row];
    kept.insert(kept.end(), begin, items.begin() + data.offsets[row + 1]);
  }
  return kept;
}

Type leaf_type(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::kInt64:
    case ColumnKind::kInt64List:
      return Type::kInt64;
    case ColumnKind::kInt32:
      return Type::kInt32;
    case ColumnKind::kDouble:
      return Type::kDouble;
    case ColumnKind::kDictionary:
    case ColumnKind::kText:
    case ColumnKind::kTextMap:
      return Type::kText;
  }
  return Type::kNone;
}

}  // namespace

// The three-level form for lists and the one for maps that the format asks for: others are read as
// something else.
std::vector<Node> nodes_of(const ColumnDef& column) {
  const Type type = leaf_type(column.kind);
  const Meaning meaning = type == Type::kText ? Meaning::kUtf8 : Meaning::kNone;
  if (column.kind == ColumnKind::kInt64List) {
    return {{column.name, Type::kNone, Repetition::kOptional, Meaning::kList, 1},
            {"list", Type::kNone, Repetition::kRepeated, Meaning::kNone, 1},
            {"element", type, Repetition::kOptional, meaning, 0}};
  }
  if (column.kind == ColumnKind::kTextMap) {
    return {{column.name, Type::kNone, Repetition::kOptional, Meaning::kMap, 1},
            {"key_value", Type::kNone, Repetition::kRepeated, Meaning::kNone, 2},
            {"key", type, Repetition::kRequired, meaning, 0},
            {"value", type, Repetition::kOptional, meaning, 0}};
  }
  return {{column.name, type, Repetition::kOptional, meaning, 0}};
}

std::vector<std::vector<std::string>> leaf_paths(const ColumnDef& column) {
  if (column.kind == ColumnKind::kInt64List) return {{column.name, "list", "element"}};
  if (column.kind == ColumnKind::kTextMap)
    return {{column.name, "key_value", "key"}, {column.name, "key_value", "value"}};
  return {{column.name}};
}

std::vector<Leaf> LeafMaker::make(const ColumnData& data, std::size_t rows) {
  if (!has_values(column_->kind, data)) return nulls(rows);
  const auto valid = data.valid.empty() ? data.valid : data.valid.first(rows);
  switch (column_->kind) {
    case ColumnKind::kInt64:
      return {numbers(Type::kInt64, data.int64s.first(rows), valid)};
    case ColumnKind::kInt32:
      return {numbers(Type::kInt32, data.int32s.first(rows), valid)};
    case ColumnKind::kDouble:
      return {numbers(Type::kDouble, data.doubles.first(rows), valid)};
    case ColumnKind::kText:
      return {numbers(Type::kText, data.texts.first(rows), valid)};
    case ColumnKind::kDictionary:
      return {codes(data, rows)};
    case ColumnKind::kInt64List:
      return {list(data, rows)};
    case ColumnKind::kTextMap:
      return map(data, rows);
  }
  return {};
}

// A column of which nobody gave values: every row is NULL, in a few bytes.
std::vector<Leaf> LeafMaker::nulls(std::size_t rows) const {
  Leaf leaf{.type = leaf_type(column_->kind),
            .entries = rows,
            .nulls = static_cast<std::int64_t>(rows),
            .levels = {},
            .values = {}};
  const auto none = [&](unsigned depth, bool repeats) {
    leaf.levels = (repeats ? same_level(0, rows, 1) : "") + same_level(0, rows, depth);
    return leaf;
  };
  if (column_->kind == ColumnKind::kInt64List) return {none(kItemDepth, true)};
  if (column_->kind == ColumnKind::kTextMap) return {none(kKeyDepth, true), none(kItemDepth, true)};
  return {none(kPlainDepth, false)};
}

template <class T>
Leaf LeafMaker::numbers(Type type, std::span<const T> values, std::span<const std::uint8_t> valid) {
  const std::int64_t nulls = count_nulls(valid);
  Leaf leaf{.type = type,
            .entries = values.size(),
            .nulls = nulls,
            .levels = validity(valid, values.size(), nulls),
            .values = {}};
  if (nulls == 0) {
    leaf.values = encode(values);
  } else {
    leaf.values = encode(std::span<const T>(without_nulls(values, valid)));
  }
  return leaf;
}

Leaf LeafMaker::codes(const ColumnData& data, std::size_t rows) {
  const auto codes = data.codes.first(rows);
  std::vector<std::uint8_t> valid(rows);
  for (std::size_t i = 0; i < rows; ++i) valid[i] = codes[i] == kNullCode ? 0 : 1;
  for (std::size_t i = 0; i < data.valid.size() && i < rows; ++i) {
    if (data.valid[i] == 0) valid[i] = 0;
  }
  const std::int64_t nulls = count_nulls(valid);
  Leaf leaf{.type = Type::kText,
            .entries = rows,
            .nulls = nulls,
            .levels = validity(valid, rows, nulls),
            .values = {}};
  if (nulls == 0) {
    leaf.values = encoder_.encode(codes, column_->dictionary);
  } else {
    leaf.values = encoder_.encode(without_nulls(codes, valid), column_->dictionary);
  }
  return leaf;
}

Leaf LeafMaker::list(const ColumnData& data, std::size_t rows) {
  const ItemLevels levels(data, rows);
  return {.type = Type::kInt64,
          .entries = levels.definition.size(),
          .nulls = levels.nulls,
          .levels = levels.bytes(kItemDepth),
          .values = encode_numbers(items_of(data.int64s, data, rows))};
}

std::vector<Leaf> LeafMaker::map(const ColumnData& data, std::size_t rows) {
  const ItemLevels levels(data, rows);
  Leaf leaf{.type = Type::kText,
            .entries = levels.definition.size(),
            .nulls = levels.nulls,
            .levels = levels.bytes(kKeyDepth),
            .values = encoder_.encode(items_of(data.codes, data, rows), column_->dictionary)};
  std::vector<Leaf> leaves{leaf};
  leaf.levels = levels.bytes(kItemDepth);
  leaf.values = encode_texts(items_of(data.texts, data, rows));
  leaves.push_back(std::move(leaf));
  return leaves;
}

}  // namespace fathom::sql::parquet
