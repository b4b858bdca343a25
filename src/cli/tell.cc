// SPDX-License-Identifier: MIT
// Everything that is printed passes through these functions and is escaped again, so that a place
// that forgot to escape does no harm.
#include "cli/tell.h"

#include <cstdio>
#include <string>

#include "base/escape.h"
#include "base/text.h"

namespace fathom::cli {
namespace {

bool put(std::string_view text, std::FILE* stream) {
  return std::fwrite(text.data(), 1, text.size(), stream) == text.size();
}

}  // namespace

void tell(const Error& error) {
  remark(error.hint.empty() ? error.message : error.message + "; " + error.hint);
}

void remark(std::string_view sentence) {
  put("fathom: " + escape_control(sentence) + "\n", stderr);
}

void print_beside(std::string_view page) { put(escape_page(page), stderr); }

Status print(std::string_view page) {
  if (put(escape_page(page), stdout)) return {};
  return Error{Code::kIo, "cannot write to stdout", ""};
}

}  // namespace fathom::cli
