// SPDX-License-Identifier: MIT
// Which encoding suits the values of a column: one value throughout, a dictionary, deltas of
// numbers, texts behind each other. What is chosen is what is smallest for traces: few names that
// come again, times that grow. Bounds come along, by which readers pass over what they do not want.
#include "sql/parquet/values.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "base/utf8.h"
#include "sql/dictionary.h"
#include "sql/parquet/bytes.h"
#include "sql/parquet/delta.h"
#include "sql/parquet/hybrid.h"
#include "sql/parquet/number_dictionary.h"

namespace fathom::sql::parquet {
namespace {

constexpr std::uint32_t kNone = 0xffffffff;
constexpr std::size_t kLongBound = 256;  // bounds stand in the footer of every row group

template <class T>
std::string plain(const T& value) {
  std::string bytes;
  put_raw(bytes, value);
  return bytes;
}

void put_member_width(std::string& out, std::size_t members) {
  out += static_cast<char>(members == 0 ? 0 : bits_for(members - 1));
}

void put_members(EncodedValues& out, std::span<const std::uint32_t> members) {
  out.encoding = Encoding::kDictionary;
  put_member_width(out.bytes, out.members);
  put_hybrid(out.bytes, members, static_cast<unsigned char>(out.bytes[0]));
}

// A column that says the same in every row, as most do in most row groups.
void put_constant(EncodedValues& out, std::size_t count) {
  out.encoding = Encoding::kDictionary;
  out.members = 1;
  put_member_width(out.bytes, 1);
  put_run(out.bytes, 0, count, 0);
}

template <class T>
bool put_dictionary(EncodedValues& out, std::span<const T> values) {
  NumberDictionary<T> dictionary;
  if (!dictionary.build(values)) return false;
  out.members = dictionary.members().size();
  put_raw(out.dictionary, std::span<const T>(dictionary.members()));
  put_members(out, dictionary.codes());
  return true;
}

// Bounds first: where they are the same the whole column is one value.
template <class T>
EncodedValues encode_integers(std::span<const T> values) {
  EncodedValues out;
  if (values.empty()) return out;
  T least = values[0];
  T most = values[0];
  for (const T value : values) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  out.least = plain(least);
  out.most = plain(most);
  if (least == most) {
    out.dictionary = *out.least;
    put_constant(out, values.size());
  } else if (!put_dictionary(out, values)) {
    out.encoding = Encoding::kDelta;
    put_deltas(out.bytes, values);
  }
  return out;
}

// As PLAIN has it: four bytes of length, and the text.
void put_plain_text(std::string& out, std::string_view text) {
  put_raw(out, static_cast<std::uint32_t>(text.size()));
  out.append(text);
}

// Long ones would make the footer as large as the data; cut ones would be wrong for `most`.
void note_bounds(EncodedValues& out, std::string_view least, std::string_view most) {
  if (least.size() > kLongBound || most.size() > kLongBound) return;
  out.least = least;
  out.most = most;
}

// The members of a dictionary of texts, on their way into its page.
class TextMembers {
 public:
  explicit TextMembers(EncodedValues& out) : out_(&out) {}

  void add(std::string_view text) {
    // By place, not by pointer: the dictionary grows.
    const std::size_t at = out_->dictionary.size() + sizeof(std::uint32_t);
    put_plain_text(out_->dictionary, text);
    places_.push_back({at, text.size()});
    ++out_->members;
  }
  // Once all are there: they have moved before.
  void note_bounds() const {
    if (places_.empty()) return;
    std::string_view least = text(places_[0]);
    std::string_view most = least;
    for (const Place& place : places_) {
      least = std::min(least, text(place));
      most = std::max(most, text(place));
    }
    parquet::note_bounds(*out_, least, most);
  }

 private:
  struct Place {
    std::size_t begin;
    std::size_t size;
  };
  [[nodiscard]] std::string_view text(const Place& place) const {
    return std::string_view(out_->dictionary).substr(place.begin, place.size);
  }

  EncodedValues* out_;
  std::vector<Place> places_;
};

// False where too many texts differ for a dictionary to pay.
bool put_text_dictionary(EncodedValues& out, std::span<const std::string_view> texts) {
  std::unordered_map<std::string_view, std::uint32_t> known;
  std::vector<std::uint32_t> members;
  std::vector<std::string_view> order;
  members.reserve(texts.size());
  for (const std::string_view text : texts) {
    const auto [at, is_new] = known.try_emplace(text, static_cast<std::uint32_t>(order.size()));
    if (is_new) order.push_back(text);
    if (!dictionary_pays(order.size(), members.size())) return false;
    members.push_back(at->second);
  }
  TextMembers page(out);
  for (const std::string_view text : order) page.add(escape_invalid_utf8(text));
  page.note_bounds();
  put_members(out, members);
  return true;
}

void put_texts_behind_each_other(EncodedValues& out, std::span<const std::string_view> texts) {
  std::vector<std::int32_t> lengths;
  std::string all;
  lengths.reserve(texts.size());
  for (const std::string_view text : texts) {
    const std::size_t before = all.size();
    if (is_valid_utf8(text)) {
      all.append(text);
    } else {
      all.append(escape_invalid_utf8(text));
    }
    lengths.push_back(static_cast<std::int32_t>(all.size() - before));
  }
  out.encoding = Encoding::kDeltaLength;
  put_deltas(out.bytes, lengths);
  out.bytes.append(all);
}

}  // namespace

EncodedValues encode_numbers(std::span<const std::int32_t> values) {
  return encode_integers(values);
}
EncodedValues encode_numbers(std::span<const std::int64_t> values) {
  return encode_integers(values);
}

// Without bounds: what they mean among NaN and the two zeros is a matter of the reader.
EncodedValues encode_doubles(std::span<const double> values) {
  EncodedValues out;
  std::vector<std::int64_t> bits;
  bits.reserve(values.size());
  for (const double value : values) bits.push_back(std::bit_cast<std::int64_t>(value));
  if (!values.empty() && put_dictionary<std::int64_t>(out, bits)) return out;
  put_raw(out.bytes, values);
  return out;
}

EncodedValues encode_texts(std::span<const std::string_view> texts) {
  EncodedValues out;
  if (texts.empty() || put_text_dictionary(out, texts)) return out;
  put_texts_behind_each_other(out, texts);
  return out;
}

EncodedValues CodeEncoder::encode(std::span<const std::uint32_t> codes,
                                  std::span<const std::string_view> texts) {
  EncodedValues out;
  if (codes.empty()) return out;
  TextMembers page(out);
  const auto [least, most] = std::minmax_element(codes.begin(), codes.end());
  if (*least == *most) {
    page.add(enum_text(texts[*least]));
    page.note_bounds();
    put_constant(out, codes.size());
    return out;
  }
  member_of_code_.resize(texts.size(), kNone);
  members_.resize(codes.size());
  std::vector<std::uint32_t> used;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    std::uint32_t& member = member_of_code_[codes[i]];
    if (member == kNone) {
      member = static_cast<std::uint32_t>(used.size());
      used.push_back(codes[i]);
    }
    members_[i] = member;
  }
  // Only what was used is put back: the table is as long as the dictionary of the whole run.
  for (const std::uint32_t code : used) {
    page.add(enum_text(texts[code]));
    member_of_code_[code] = kNone;
  }
  page.note_bounds();
  put_members(out, members_);
  return out;
}

}  // namespace fathom::sql::parquet
