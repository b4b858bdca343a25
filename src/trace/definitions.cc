// SPDX-License-Identifier: MIT
#include "trace/definitions.h"

#include <algorithm>
#include <charconv>

#include "base/utf8.h"
#include "trace/paths.h"
#include "wire/record.h"

namespace fathom::trace {
namespace {

constexpr int kMaxNesting = 64;         // of forks, and of directories that a path starts from
constexpr std::uint64_t kHole = 65536;  // ids this far beyond the table go to the map
constexpr std::uint64_t kCachedIds = std::uint64_t{1} << 20;

std::string shown(std::string_view text) {
  return is_valid_utf8(text) ? std::string(text) : escape_invalid_utf8(text);
}

std::string hex(std::uint64_t value) {
  char digits[17] = {};
  const auto end = std::to_chars(digits, digits + 16, value, 16).ptr;
  return {digits, end};
}

}  // namespace

Definitions::Definitions(Strings& strings, NameResolver resolver, bool local)
    : strings_(&strings),
      resolver_(std::move(resolver)),
      local_(local),
      function_category_(strings.code("function")) {}

Process& Definitions::process(std::uint64_t key) {
  if (Process* known = find(key)) return *known;
  processes_.push_back(std::make_unique<Process>());
  processes_.back()->key = key;
  by_key_[key] = processes_.back().get();
  return *processes_.back();
}

Process* Definitions::find(std::uint64_t key) {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : found->second;
}

void Definitions::define(Process& process, std::uint64_t id, const Definition& definition) {
  if (id == 0) return;
  // A forked child's ids go on where its parent's ended.
  if (process.definitions.empty()) process.first_id = id;
  const std::uint64_t slot = id - process.first_id;
  if (id < process.first_id || slot >= process.definitions.size() + kHole) {
    process.far_definitions[id] = definition;
    return;
  }
  if (slot >= process.definitions.size()) process.definitions.resize(slot + 1 + slot / 2);
  process.definitions[slot] = definition;
}

void Definitions::note(Process& process, const Note& note) {
  const auto what =
      (static_cast<std::uint64_t>(note.pid) << 2) | static_cast<std::uint64_t>(note.kind);
  const std::uint64_t hash =
      (note.tick * UINT64_C(0x9e3779b97f4a7c15)) ^ (what * UINT64_C(0xd6e8feb86659fd93));
  if (process.known_notes.insert(hash).second) process.notes.push_back(note);
}

const Definition* Definitions::lookup(const Process& process, std::uint64_t id) const {
  const Process* owner = &process;
  for (int i = 0; i < kMaxNesting && id < owner->limit; i++) {
    const auto parent = by_key_.find(owner->parent_key);
    if (parent == by_key_.end()) return nullptr;
    owner = parent->second;
  }
  if (id >= owner->first_id && id - owner->first_id < owner->definitions.size()) {
    const Definition& definition = owner->definitions[id - owner->first_id];
    if (definition.kind != DefinitionKind::kNone) return &definition;
  }
  const auto far = owner->far_definitions.find(id);
  return far == owner->far_definitions.end() ? nullptr : &far->second;
}

std::string Definitions::path_text(const Process& process, std::uint64_t id, int depth) const {
  const Definition* definition = id == 0 || depth > kMaxNesting ? nullptr : lookup(process, id);
  if (definition == nullptr) return "";
  const std::string_view text = strings_->view(definition->text);
  if (definition->kind == DefinitionKind::kString) return normalise_path("", text);
  if (definition->kind != DefinitionKind::kPath) return "";
  if (text.starts_with('/')) return normalise_path("", text);
  return normalise_path(path_text(process, definition->a, depth + 1), text);
}

std::uint32_t Definitions::file(Process& process, std::uint64_t id, bool& known) {
  // A slot holds code + 2, so that "not resolved yet" (0) and "names no file" (1) fit beside codes.
  if (id < process.files.size() && process.files[id] != 0) {
    known = true;
    return process.files[id] == 1 ? kNoString : process.files[id] - 2;
  }
  known = lookup(process, id) != nullptr;
  if (!known) return kNoString;
  const std::string path = path_text(process, id, 0);
  const std::uint32_t code = path.empty() ? kNoString : strings_->code(path);
  if (id >= process.files.size() && id < kCachedIds) process.files.resize(id + 1 + id / 2);
  if (id < process.files.size()) process.files[id] = code == kNoString ? 1 : code + 2;
  return code;
}

Site Definitions::resolve_site(const Process& process, const Definition& definition) {
  if (definition.kind == DefinitionKind::kSite) {
    return {
        .name = strings_->code_or_null(shown(text(process, definition.a))),
        .category = strings_->code_or_null(shown(text(process, definition.b))),
        .file = strings_->code_or_null(shown(text(process, definition.file))),
        .line = definition.line != 0 ? strings_->code(std::to_string(definition.line)) : kNoString};
  }
  if (definition.kind == DefinitionKind::kFunctionSite) {
    const std::string module = path_text(process, definition.a, 0);
    std::string name = resolver_ ? shown(resolver_(module, definition.b)) : "";
    if (name.empty()) {
      const std::size_t slash = module.rfind('/');
      name = module.substr(slash == std::string::npos ? 0 : slash + 1) + "+0x" + hex(definition.b);
    }
    return {.name = strings_->code(name), .category = function_category_};
  }
  return {.name = strings_->code_or_null(shown(strings_->view(definition.text)))};
}

const Site* Definitions::site(Process& process, std::uint64_t id) {
  if (id < process.site_known.size() && process.site_known[id] != 0) return &process.sites[id];
  const Definition* definition = lookup(process, id);
  if (definition == nullptr) return nullptr;
  const Site site = resolve_site(process, *definition);
  const std::uint64_t slot =
      id < kCachedIds ? id : 0;  // 0 is never an id: scratch for strange ones
  if (slot >= process.sites.size()) {
    process.sites.resize(slot + 1 + slot / 2);
    process.site_known.resize(process.sites.size());
  }
  process.sites[slot] = site;
  // A site may come before its name: remembered only when both are there.
  process.site_known[slot] = slot != 0 && site.name != kNoString ? 1 : 0;
  return &process.sites[slot];
}

std::string_view Definitions::text(const Process& process, std::uint64_t id) const {
  const Definition* definition = id == 0 ? nullptr : lookup(process, id);
  return definition == nullptr ? std::string_view() : strings_->view(definition->text);
}

std::string_view Definitions::meta(const Process& process, std::string_view key) const {
  const Process* owner = &process;
  for (int i = 0; i < kMaxNesting; i++) {
    for (const auto& [key_id, value_id] : owner->meta) {
      if (text(*owner, key_id) == key) return text(*owner, value_id);
    }
    const auto parent = by_key_.find(owner->parent_key);
    if (owner->attach != FATHOM_ATTACH_FORK || parent == by_key_.end()) break;
    owner = parent->second;
  }
  return "";
}

std::int32_t Definitions::rank(Process& process) {
  if (process.rank_known) return process.rank;
  const std::string_view text = meta(process, "rank");
  std::int32_t rank = kNull32;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), rank);
  process.rank = parsed.ec == std::errc() ? rank : kNull32;
  process.rank_known = process.attached;
  return process.rank;
}

}  // namespace fathom::trace
