// SPDX-License-Identifier: MIT
// An answer of any length, written once and read at the client's pace: the first part stays in
// memory, the rest goes into a file without a name. So a slow reader holds neither the store nor
// the memory. Compressed as it is written, where the client accepts that.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"
#include "serve/http/coding.h"
#include "serve/http/http.h"

namespace fathom::serve {

// One thread at a time. An Error: the disk of the temporary directory is full or fails.
class LongAnswer {
 public:
  explicit LongAnswer(const Head& head);

  Status add(std::string_view bytes);
  // Once, at the end. The status is 200.
  Result<Response> finish();

 private:
  Status flush();

  Coding coding_;
  std::unique_ptr<Encoder> encoder_;
  std::string waiting_;       // not encoded yet
  std::string text_;          // what is to be sent
  std::optional<File> file_;  // what was before `text_`
  std::uint64_t in_file_ = 0;
};

}  // namespace fathom::serve
