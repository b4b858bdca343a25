// SPDX-License-Identifier: MIT
// Tables whose texts are any bytes, in every format; JSON must be what a JSON parser reads.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "render/render.h"

namespace fathom::render {
namespace {

// The bytes cut at zeros: title, note, names of two columns, then cells; the first letter of a cell
// says what it is.
class Cutter {
 public:
  explicit Cutter(std::string_view bytes) : left_(bytes) {}
  [[nodiscard]] bool done() const { return left_.empty(); }
  std::string next() {
    const std::string_view piece = left_.substr(0, left_.find('\0'));
    left_.remove_prefix(std::min(left_.size(), piece.size() + 1));
    return std::string(piece);
  }

 private:
  std::string_view left_;
};

Value cell_of(const std::string& piece) {
  std::uint64_t number = 0;
  std::memcpy(&number, piece.data(), std::min(piece.size(), sizeof number));
  double real = 0;
  std::memcpy(&real, &number, sizeof real);
  switch (piece.empty() ? 'n' : piece.front()) {
    case 'n':
      return {};
    case 'i':
      return static_cast<std::int64_t>(number);
    case 'u':
      return number;
    case 'd':
      return real;
    case 'l':
      return List{piece, real};
    case 'o':
      return Object{{piece, number}, {piece, piece}};
    default:
      return piece;
  }
}

Table table_of(std::string_view bytes) {
  Cutter cutter(bytes);
  Table table;
  table.title = cutter.next();
  table.note = cutter.next();
  for (const Measure measure : {Measure::kNanoseconds, Measure::kBytes})
    table.columns.push_back({cutter.next(), measure});
  while (!cutter.done()) {
    std::vector<Value> row;
    for (std::size_t i = 0; i < table.columns.size(); i++) row.push_back(cell_of(cutter.next()));
    table.rows.push_back(std::move(row));
  }
  return table;
}

void require_json(const std::string& text) {
  if (!nlohmann::json::accept(text)) std::abort();
}

}  // namespace
}  // namespace fathom::render

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::render;
  const fathom::Table table = table_of({reinterpret_cast<const char*>(data), size});
  require_json(render(table, Format::kJson));
  require_json(render_document({&table, 1}, Format::kJson));
  for (const Format format : {Format::kTable, Format::kCsv, Format::kMarkdown}) {
    const std::string text = render(table, format, {.width = 40, .color = true});
    if (!fathom::is_valid_utf8(text)) std::abort();
  }
  return 0;
}
