// SPDX-License-Identifier: MIT
#include "trace/definitions.h"

#include <algorithm>
#include <charconv>

#include "base/utf8.h"
#include "trace/paths.h"
#include "wire/record.h"

namespace fathom::trace {
namespace {

constexpr int kMaxNesting = 64;         // of directories that a path starts from
constexpr int kNearAncestors = 64;      // whose facts are looked at one by one
constexpr std::uint64_t kHole = 65536;  // ids this far beyond the table go to the map
constexpr std::uint64_t kCachedIds = std::uint64_t{1} << 20;

bool shares_image(const Process& process) {
  return process.attach == FATHOM_ATTACH_FORK || process.attach == FATHOM_ATTACH_SHARES;
}

std::string shown(std::string_view text) {
  return is_valid_utf8(text) ? std::string(text) : escape_invalid_utf8(text);
}

std::string hex(std::uint64_t value) {
  char digits[17] = {};
  const auto end = std::to_chars(digits, digits + 16, value, 16).ptr;
  return {digits, end};
}

}  // namespace

Definitions::Definitions(Strings& strings, NameResolver resolver)
    : strings_(&strings),
      resolver_(std::move(resolver)),
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

// A parent began before its child, so that no chain of forks is a ring, whatever the bytes say.
Process* Definitions::parent_of(const Process& process) const {
  const auto parent = by_key_.find(process.parent_key);
  if (parent == by_key_.end()) return nullptr;
  const bool earlier = !parent->second->attached || parent->second->start_tick < process.start_tick;
  return earlier ? parent->second : nullptr;
}

Process::Hop Definitions::hop_from(const Process& process, std::uint64_t id) const {
  if (id < process.hop.below) return process.hop;
  return {parent_of(process), process.limit};
}

// Each look halves the way for the next one.
Process* Definitions::owner_of(Process& process, std::uint64_t id) const {
  Process* at = &process;
  while (id < at->limit) {
    Process::Hop hop = hop_from(*at, id);
    if (hop.to == nullptr) return nullptr;
    if (id < hop.to->limit) {
      const Process::Hop further = hop_from(*hop.to, id);
      if (further.to == nullptr) return nullptr;
      hop = at->hop = {further.to, std::min(hop.below, further.below)};
    }
    at = hop.to;
  }
  return at;
}

const Process* Definitions::first_of_image(const Process& process) const {
  const auto up = [this](const Process& from) {
    return from.image != nullptr ? from.image : shares_image(from) ? parent_of(from) : nullptr;
  };
  const Process* at = &process;
  while (Process* next = up(*at)) {
    if (Process* further = up(*next)) next = at->image = further;
    at = next;
  }
  return at;
}

// A child's ids go on where its parent's ended: nothing is kept for those before.
std::uint64_t Definitions::place_of(Process& owner, std::uint64_t id) {
  if (owner.files.empty() && owner.sites.empty()) owner.resolved_from = owner.limit;
  return id - owner.resolved_from;
}

const Definition* Definitions::defined_in(const Process& owner, std::uint64_t id) {
  if (id >= owner.first_id && id - owner.first_id < owner.definitions.size()) {
    const Definition& definition = owner.definitions[id - owner.first_id];
    if (definition.kind != DefinitionKind::kNone) return &definition;
  }
  const auto far = owner.far_definitions.find(id);
  return far == owner.far_definitions.end() ? nullptr : &far->second;
}

const Definition* Definitions::lookup(const Process& process, std::uint64_t id) const {
  const auto self = by_key_.find(process.key);
  const Process* owner = self == by_key_.end() ? nullptr : owner_of(*self->second, id);
  return owner == nullptr ? nullptr : defined_in(*owner, id);
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
  Process* const owner = owner_of(process, id);
  known = false;
  if (owner == nullptr) return kNoString;
  // A slot holds code + 2, so that "not resolved yet" (0) and "names no file" (1) fit beside codes.
  const std::uint64_t slot = place_of(*owner, id);
  if (slot < owner->files.size() && owner->files[slot] != 0) {
    known = true;
    return owner->files[slot] == 1 ? kNoString : owner->files[slot] - 2;
  }
  known = defined_in(*owner, id) != nullptr;
  if (!known) return kNoString;
  const std::string path = path_text(*owner, id, 0);
  const std::uint32_t code = path.empty() ? kNoString : strings_->code(path);
  if (slot >= owner->files.size() && slot < kCachedIds) owner->files.resize(slot + 1 + slot / 2);
  if (slot < owner->files.size()) owner->files[slot] = code == kNoString ? 1 : code + 2;
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
  Process* const owner = owner_of(process, id);
  if (owner == nullptr) return nullptr;
  // Slot 0 is scratch for ids that are not kept: strange ones.
  const std::uint64_t place = place_of(*owner, id);
  const std::uint64_t slot = place < kCachedIds ? place + 1 : 0;
  if (slot < owner->site_known.size() && owner->site_known[slot] != 0) return &owner->sites[slot];
  const Definition* definition = defined_in(*owner, id);
  if (definition == nullptr) return nullptr;
  const Site site = resolve_site(*owner, *definition);
  if (slot >= owner->sites.size()) {
    owner->sites.resize(slot + 1 + slot / 2);
    owner->site_known.resize(owner->sites.size());
  }
  owner->sites[slot] = site;
  // A site may come before its name: remembered only when both are there.
  owner->site_known[slot] = slot != 0 && site.name != kNoString ? 1 : 0;
  return &owner->sites[slot];
}

std::string_view Definitions::text(const Process& process, std::uint64_t id) const {
  const Definition* definition = id == 0 ? nullptr : lookup(process, id);
  return definition == nullptr ? std::string_view() : strings_->view(definition->text);
}

std::string_view Definitions::own_meta(const Process& process, std::string_view key) const {
  for (const auto& [key_id, value_id] : process.meta) {
    if (text(process, key_id) == key) return text(process, value_id);
  }
  return "";
}

std::string_view Definitions::meta(const Process& process, std::string_view key) const {
  const Process* owner = &process;
  for (int i = 0; i < kNearAncestors && owner != nullptr; i++) {
    const std::string_view value = own_meta(*owner, key);
    if (!value.empty()) return value;
    owner = shares_image(*owner) ? parent_of(*owner) : nullptr;
  }
  return owner == nullptr ? "" : own_meta(*first_of_image(*owner), key);
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
