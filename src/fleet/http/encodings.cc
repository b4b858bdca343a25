// SPDX-License-Identifier: MIT
// Percent-encoding keeps only what RFC 3986 calls unreserved, so that a result fits every part of a
// URL.
#include "fleet/http/encodings.h"

#include <openssl/evp.h>

namespace fathom::fleet {
namespace {

bool is_unreserved(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

std::string encode_segment(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (const char c : name) {
    if (is_unreserved(c)) {
      text += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      text += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return text;
}

std::string base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // OpenSSL writes a 0 behind it
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

}  // namespace fathom::fleet
