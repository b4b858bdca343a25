// SPDX-License-Identifier: MIT
// Escapes '<' as JSON's \u003c, so that no text of a recording can close the element of the
// document that it lies in.
#include "serve/page/data_text.h"

#include "render/json_writer.h"

namespace fathom::serve {

Status DataText::put(std::string_view json) {
  std::string& out = to_->text();
  const std::size_t before = out.size();
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  bytes_ += out.size() - before;
  return to_->flush_if_large();
}

std::string json_text(std::string_view text) {
  std::string out;
  render::JsonWriter(out).value(text);
  return out;
}

}  // namespace fathom::serve
