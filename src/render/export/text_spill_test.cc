// SPDX-License-Identifier: MIT
#include "render/export/text_spill.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <string>

namespace fathom::render {
namespace {

constexpr std::size_t kSpilled = std::size_t{1} << 20;  // what goes to the file at once

// Files of this process hold no more than so many bytes, as on a full disk.
class FullAt {
 public:
  explicit FullAt(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullAt() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullAt(const FullAt&) = delete;
  FullAt& operator=(const FullAt&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

Status spilled(const std::string& text) {
  Result<ByteSink> sink = ByteSink::open("/dev/null", false);
  if (!sink) return sink.error();
  SinkBuffer out(*sink);
  TextSpill spill;
  spill.text() = text;
  FATHOM_TRY(spill.spill_if_large());
  return spill.move_to(out);
}

// The last bytes wait in stdio's buffer: whether they found room is known when that is written.
TEST(TextSpill, AFullDiskIsToldAlsoForTheLastBytes) {
  const std::string text(kSpilled + 100, 'x');
  EXPECT_TRUE(spilled(text));
  const FullAt full(kSpilled);
  EXPECT_FALSE(spilled(text));
}

}  // namespace
}  // namespace fathom::render
