// SPDX-License-Identifier: MIT
// JSON on its way into an element of a document, counted.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "render/export/byte_sink.h"

namespace fathom::serve {

// One thread at a time. `to` must outlive it.
class DataText {
 public:
  explicit DataText(render::SinkBuffer& to) : to_(&to) {}

  // A < becomes \u003c, since the first </script would end the element. In JSON it stands in texts
  // only, where that means the same.
  Status put(std::string_view json);
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  render::SinkBuffer* to_;
  std::size_t bytes_ = 0;
};

[[nodiscard]] std::string json_text(std::string_view text);  // with its quotes

}  // namespace fathom::serve
