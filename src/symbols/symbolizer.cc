// SPDX-License-Identifier: MIT
// Modules by what names them. Failures are kept too: a missing file is not looked for at every
// place.
#include "symbols/symbolizer.h"

#include <unordered_map>
#include <utility>

namespace fathom::symbols {
namespace {

// The module's own address of its first byte: not 0 for programs that are not PIE. What comes
// before the first segment on its page is loaded with it.
std::uint64_t start_of(const Module& module) {
  constexpr std::uint64_t kPage = 4096;
  const std::vector<Segment>& segments = module.segments();
  return segments.empty() ? 0 : segments.front().address & ~(kPage - 1);
}

}  // namespace

class Symbolizer::Modules {
 public:
  explicit Modules(DebugPlaces places) : places_(std::move(places)) {}

  Result<Module>& get(const ModuleId& id) {
    std::string key = id.root + '\0' + id.path + '\0' + id.build_id;
    const auto known = modules_.find(key);
    if (known != modules_.end()) return known->second;
    return modules_.emplace(std::move(key), Module::open(id, places_)).first->second;
  }

 private:
  DebugPlaces places_;
  std::unordered_map<std::string, Result<Module>> modules_;
};

Symbolizer::Symbolizer(DebugPlaces places)
    : modules_(std::make_unique<Modules>(std::move(places))) {}
Symbolizer::~Symbolizer() = default;
Symbolizer::Symbolizer(Symbolizer&&) noexcept = default;
Symbolizer& Symbolizer::operator=(Symbolizer&&) noexcept = default;

Result<Symbol> Symbolizer::find(const std::string& module, std::uint64_t offset) {
  Result<Module>& opened =
      modules_->get({.path = module, .build_id = "", .root = "", .segments = {}});
  if (!opened) return opened.error();
  const std::span<const Frame> frames = opened->frames_at_address(start_of(*opened) + offset);
  if (frames.empty()) return Error{Code::kNotFound, "no symbol at this offset of " + module, ""};
  const Frame& frame = frames.front();
  return Symbol{std::string(frame.function), std::string(frame.file), frame.line};
}

std::span<const Frame> Symbolizer::frames_at(const ModuleId& id, std::uint64_t offset) {
  Module* const found = module(id);
  return found == nullptr ? std::span<const Frame>() : found->frames_at(offset);
}

Module* Symbolizer::module(const ModuleId& id) {
  Result<Module>& opened = modules_->get(id);
  return opened ? &*opened : nullptr;
}

}  // namespace fathom::symbols
