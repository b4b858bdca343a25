// SPDX-License-Identifier: MIT
// The part of a recording that a request means: the same words in every route.
#include "base/text.h"
#include "serve/recordings/open_recordings.h"
#include "serve/routes/routes.h"

namespace fathom::serve {
namespace {

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> items;
  if (text.empty()) return items;
  for (const std::string_view item : split(text, ',')) items.emplace_back(item);
  return items;
}

Error no_number(const char* name) {
  return {Code::kInvalid, std::string(name) + " must be a whole number", ""};
}

Result<std::vector<std::int64_t>> numbers_of(const Request& request, const char* name) {
  std::vector<std::int64_t> numbers;
  for (const std::string& text : list_of(request.asked(name))) {
    const Result<std::int64_t> number = parse_int(text);
    if (!number) return no_number(name);
    numbers.push_back(*number);
  }
  return numbers;
}

Result<std::optional<std::int64_t>> bound_of(const Request& request, const char* name) {
  const std::string text = request.asked(name);
  if (text.empty()) return std::optional<std::int64_t>();
  const Result<std::int64_t> number = parse_int(text);
  if (!number) return no_number(name);
  return std::optional(*number);
}

}  // namespace

std::vector<std::string_view> parameters(std::string_view own, std::string_view selection) {
  std::vector<std::string_view> names;
  for (const std::string_view list : {selection, own}) {
    for (const std::string_view name : split(list, ' ')) {
      if (!name.empty()) names.push_back(name);
    }
  }
  return names;
}

Result<analysis::RowFilter> selection_of(const Request& request) {
  analysis::RowFilter filter;
  filter.layers = list_of(request.asked("layers"));
  FATHOM_TRY(analysis::check_layers(filter.layers));
  filter.names = list_of(request.asked("name"));
  filter.hosts = list_of(request.asked("host"));
  FATHOM_ASSIGN(filter.pids, numbers_of(request, "pid"));
  FATHOM_ASSIGN(filter.tids, numbers_of(request, "tid"));
  FATHOM_ASSIGN(filter.from_ns, bound_of(request, "from"));
  FATHOM_ASSIGN(filter.to_ns, bound_of(request, "to"));
  if (filter.ends_before_it_begins()) return Error{Code::kInvalid, "to is before from", ""};
  filter.condition = request.asked("where");
  return filter;
}

}  // namespace fathom::serve
