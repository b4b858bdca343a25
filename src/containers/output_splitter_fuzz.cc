// SPDX-License-Identifier: MIT
// Any bytes as an engine's stream, in pieces of any length: the same comes out however it is cut,
// and never more than came in.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "containers/output_splitter.h"

namespace {

struct Said {
  std::string out, err;
  bool whole = true;
  bool operator==(const Said&) const = default;
};

Said split(std::string_view bytes, std::size_t piece, bool is_raw) {
  using fathom::containers::Stream;
  Said said;
  fathom::containers::OutputSplitter splitter(is_raw, [&](Stream stream, std::string_view text) {
    (stream == Stream::kErr ? said.err : said.out) += text;
  });
  while (!bytes.empty() && said.whole) {
    said.whole = splitter.feed(bytes.substr(0, piece)).has_value();
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  return said;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t piece = data[0] % 31 + 1;
  const bool is_raw = data[1] == 1;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Said whole = split(bytes, bytes.size() + 1, is_raw);
  if (!(split(bytes, piece, is_raw) == whole)) std::abort();
  if (whole.out.size() + whole.err.size() > bytes.size()) std::abort();
  return 0;
}
