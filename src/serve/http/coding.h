// SPDX-License-Identifier: MIT
// Compressed bodies: gzip and zstd, both ways. What a body grows to is bounded while it grows, so
// that a small one cannot fill the memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::serve {

enum class Coding { kIdentity, kGzip, kZstd };

// Of a Content-Encoding header; kUnsupported for another one.
Result<Coding> coding_named(std::string_view name);
[[nodiscard]] std::string_view name_of(Coding coding);

// The best that an Accept-Encoding header lets us use.
[[nodiscard]] Coding accepted_coding(std::string_view accept);

// kInvalid: damaged or cut; kFull: more than `most` bytes would come out.
Result<std::string> decode(Coding coding, std::string_view body, std::size_t most);

// Compresses what comes piece by piece. One thread at a time; nothing may be added after finish().
class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual Status add(std::string_view bytes, std::string& out) = 0;
  virtual Status finish(std::string& out) = 0;

 protected:
  Encoder() = default;
  Encoder(const Encoder&) = default;
  Encoder& operator=(const Encoder&) = default;
};

// nullptr for kIdentity.
[[nodiscard]] std::unique_ptr<Encoder> make_encoder(Coding coding);

}  // namespace fathom::serve
