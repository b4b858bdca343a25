// SPDX-License-Identifier: MIT
// Writes the few fields of ustar that engines read. Dates are 0 and owners are root, so that the
// same files give the same bytes.
#include "containers/tar_text.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>

namespace fathom::containers {
namespace {

constexpr std::size_t kBlock = 512;

struct Header {
  std::array<char, kBlock> bytes{};

  void put(std::size_t at, std::string_view text) { text.copy(bytes.data() + at, text.size()); }
};

}  // namespace

Status TarText::add_header(const std::string& path, char kind, std::size_t size, unsigned mode) {
  constexpr std::size_t kNameRoom = 100;
  if (path.size() > kNameRoom)
    return Error{Code::kInvalid, path + " is too long for a tar's header", ""};
  Header header;
  header.put(0, path);
  header.put(100, fmt::format("{:07o}", mode));
  header.put(108, "0000000");  // user and group: root
  header.put(116, "0000000");
  header.put(124, fmt::format("{:011o}", size));
  header.put(136, fmt::format("{:011o}", 0));  // no date: the same files make the same layer
  header.put(148, "        ");
  header.put(156, std::string(1, kind));
  header.put(257, std::string_view("ustar\0"
                                   "00",
                                   8));
  unsigned sum = 0;
  for (const char c : header.bytes) sum += static_cast<unsigned char>(c);
  header.put(148, fmt::format("{:06o}", sum) + '\0' + ' ');
  text_.append(header.bytes.data(), kBlock);
  return {};
}

Status TarText::add_directory(const std::string& path) {
  return add_header(path + "/", '5', 0, 0755);
}

Status TarText::add_file(const std::string& path, std::string_view content, unsigned mode) {
  FATHOM_TRY(add_header(path, '0', content.size(), mode));
  text_ += content;
  text_.append((kBlock - content.size() % kBlock) % kBlock, '\0');
  return {};
}

std::string TarText::take() && {
  text_.append(2 * kBlock, '\0');
  return std::move(text_);
}

}  // namespace fathom::containers
