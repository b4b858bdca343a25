// SPDX-License-Identifier: MIT
// Tables as text for people and for programs. Knows nothing of what the tables say.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/table.h"

namespace fathom::render {

enum class Format { kTable, kJson, kCsv, kMarkdown };

// "table", "json", "csv", "md"; anything else is a usage error.
Result<Format> parse_format(std::string_view name);

struct Style {
  std::size_t width = 100;  // columns of the terminal; text tables keep within it where they can
  bool color = false;
  // CSV for a spreadsheet: a text that it would compute (=, +, -, @ at its beginning) gets an
  // apostrophe in front. Numbers stay as they are.
  bool safe_csv = false;
};
inline constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

// What suits the terminal behind a descriptor: its width, else $COLUMNS, else no limit, since
// nobody knows what will read a pipe or a file; colour on a terminal alone, and not under NO_COLOR
// or TERM=dumb.
Style style_for(int fd);

// A sentence as one line of a page: what a name in it holds is shown, never obeyed.
std::string sentence_text(std::string_view sentence, Format format);

// One table; ends with a line end. Whatever is in it, no character but line ends and our colours
// steers a display (base/text.h). JSON: an array of row objects, a row a line. CSV: RFC 4180 with
// a header. Measures are shown to people (table, Markdown) and left out for programs. Columns of
// one name get suffixes in JSON.
std::string render(const Table& table, Format format, const Style& style = {});

// Several titled tables. JSON: one object, keyed by the titles in snake_case; notes stand under
// "notes".
std::string render_document(std::span<const Table> tables, Format format, const Style& style = {});

// A result that comes in parts, of any length: rows() for each part, then finish(). JSON and CSV
// are passed on as they come; what needs the whole to be laid out (table, Markdown) is kept until
// finish().
// One thread at a time. An Error from `write` is returned at once; what was written before stays
// written.
class RowPrinter {
 public:
  using Write = std::function<Status(std::string_view text)>;

  RowPrinter(Format format, Style style, Write write);
  Status rows(const Table& part);
  Status finish();

 private:
  Format format_;
  Style style_;
  Write write_;
  Table kept_;  // table and Markdown: all rows; else the columns alone
  bool begun_ = false;
  bool any_row_ = false;
};

}  // namespace fathom::render
