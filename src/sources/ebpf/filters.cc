// SPDX-License-Identifier: MIT
// Parses `--filter` into what the kernel's programs compare: bits for calls, device and inode for
// paths. Parsing happens before anything is loaded, so that mistakes are usage errors.
#include "sources/ebpf/filters.h"

#include <fnmatch.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>

#include "base/files.h"
#include "base/os_error.h"
#include "base/text.h"
#include "sources/ebpf/calls.h"

namespace fathom::sources::ebpf {
namespace {

constexpr unsigned kMinorBits = 20;  // of a device's number, inside the kernel
constexpr std::int64_t kMostOneIn = 1'000'000'000;
constexpr unsigned kWordBits = 32;

constexpr std::uint32_t bit(fathom_bpf_layer layer) { return 1U << layer; }
// Layers whose calls are on files, and those whose calls take no time.
constexpr std::uint32_t kWithFiles =
    bit(FATHOM_BPF_SYSCALL) | bit(FATHOM_BPF_VFS) | bit(FATHOM_BPF_FS) | bit(FATHOM_BPF_PAGECACHE);
constexpr std::uint32_t kMoments = bit(FATHOM_BPF_PAGECACHE) | bit(FATHOM_BPF_NET);

// One text, taken apart.
struct Term {
  std::string text;
  std::optional<fathom_bpf_layer> layer;
  std::string key, value;
};

Error malformed(const std::string& text) {
  return usage_error("--filter '" + escape_control(text) + "' is not a filter",
                     "write [LAYER:]path=, call=, min=, one-in= or cgroup=, and a value");
}

Result<Term> read_term(const std::string& text, const std::vector<fathom_bpf_layer>& layers) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals + 1 == text.size()) return malformed(text);
  Term term{.text = text,
            .layer = std::nullopt,
            .key = text.substr(0, equals),
            .value = text.substr(equals + 1)};
  const std::size_t colon = term.key.find(':');
  if (colon == std::string::npos) return term;
  const std::string name = term.key.substr(0, colon);
  term.key.erase(0, colon + 1);
  const auto named = std::ranges::find(layers, name, name_of_layer);
  if (named == layers.end())
    return usage_error("--filter names layer '" + escape_control(name) + "', which is not recorded",
                       "filters apply to layers of the kernel that --layers names");
  term.layer = *named;
  return term;
}

// Each term adds to what those before it said.
class Reader {
 public:
  explicit Reader(const std::vector<fathom_bpf_layer>& layers) : layers_(layers) {}

  Status add(const Term& term) {
    if (term.key == "path") return add_path(term);
    if (term.key == "call") return add_call(term);
    if (term.key == "min") return add_least(term);
    if (term.key == "one-in") return add_one_in(term);
    if (term.key == "cgroup" && !term.layer) return add_cgroup(term);
    return malformed(term.text);
  }
  Filters take() { return std::move(filters_); }

 private:
  // Calls `change` with the filter of each layer that is meant and that `suits`.
  template <class Change>
  void each(const Term& term, std::uint32_t suits, Change change) {
    for (const fathom_bpf_layer layer : layers_) {
      if ((suits & bit(layer)) == 0 || (term.layer && *term.layer != layer)) continue;
      filters_.filtered |= bit(layer);
      change(filters_.of_layers[layer]);
    }
  }

  Status add_path(const Term& term) {
    FATHOM_ASSIGN(const std::string path, real_path(term.value));
    each(term, kWithFiles, [](fathom_bpf_filter& filter) { filter.by_path = 1; });
    filters_.by_path = true;
    for (const fathom_prefix& prefix : prefixes_of(path)) filters_.wanted_texts.push_back(prefix);
    FATHOM_TRY(want(path));
    return want_mounts_below(path);
  }

  Status want(const std::string& path) {
    FATHOM_ASSIGN(const fathom_file_key key, key_of_file(path));
    filters_.wanted.push_back(key);
    return {};
  }

  // A file system does not know what it is mounted on.
  Status want_mounts_below(const std::string& path) {
    const Result<std::string> mounts = read_file("/proc/self/mountinfo");
    if (!mounts) return {};
    const std::string below = path == "/" ? "/" : path + "/";
    for (const std::string_view line : split(*mounts, '\n')) {
      const std::vector<std::string_view> words = split(line, ' ');  // id parent device root point
      if (words.size() > 4 && words[4].starts_with(below))
        (void)want(std::string(words[4])).has_value();
    }
    return {};
  }

  Status add_call(const Term& term) {
    bool any = false;
    for (const fathom_bpf_layer layer : layers_) {
      if (layer == FATHOM_BPF_USER || (term.layer && *term.layer != layer)) continue;
      const std::vector<std::uint32_t> numbers =
          numbers_of_calls(layer, [&](const std::string& name) {
            return ::fnmatch(term.value.c_str(), name.c_str(), 0) == 0;
          });
      if (numbers.empty()) continue;
      any = true;
      filters_.filtered |= bit(layer);
      fathom_bpf_filter& filter = filters_.of_layers[layer];
      filter.by_call = 1;
      for (const std::uint32_t number : numbers) {
        const std::uint32_t at = FATHOM_BPF_BIT_OF(number);
        filter.calls[at / kWordBits] |= 1U << at % kWordBits;
      }
    }
    if (any) return {};
    return usage_error("--filter '" + escape_control(term.text) +
                           "' names no call of the layers that are recorded",
                       "write system calls as strace prints them");
  }

  Status add_least(const Term& term) {
    const Result<std::int64_t> ns = parse_duration(term.value);
    if (!ns || *ns <= 0) return malformed(term.text);
    each(term, ~kMoments,
         [&](fathom_bpf_filter& filter) { filter.least_ns = static_cast<std::uint64_t>(*ns); });
    return {};
  }

  Status add_one_in(const Term& term) {
    const Result<std::int64_t> many = parse_int(term.value);
    if (!many || *many < 1 || *many > kMostOneIn) return malformed(term.text);
    each(term, ~0U,
         [&](fathom_bpf_filter& filter) { filter.one_in = static_cast<std::uint32_t>(*many); });
    return {};
  }

  Status add_cgroup(const Term& term) {
    FATHOM_ASSIGN(const std::string path, real_path(term.value));
    struct statfs system {};
    struct stat facts {};
    if (::statfs(path.c_str(), &system) != 0 || ::stat(path.c_str(), &facts) != 0)
      return os_error(errno, "look at " + path);
    if (system.f_type != CGROUP2_SUPER_MAGIC)
      return Error{Code::kNotFound, path + " is not a control group of version 2",
                   "name a directory where cgroup2 is mounted"};
    filters_.cgroup = facts.st_ino;
    return {};
  }

  const std::vector<fathom_bpf_layer>& layers_;
  Filters filters_;
};

}  // namespace

Result<fathom_file_key> key_of_file(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return os_error(errno, "look at " + path);
  return fathom_file_key{.inode = facts.st_ino,
                         .device = major(facts.st_dev) << kMinorBits | minor(facts.st_dev),
                         .generation = 0};
}

std::vector<fathom_prefix> prefixes_of(const std::string& path) {
  constexpr std::uint32_t kByte = 8;
  std::vector<fathom_prefix> all;
  const std::string directory = path == "/" ? path : path + "/";
  if (directory.size() > FATHOM_BPF_NAME) return all;
  for (const std::string& text : {path + '\0', directory}) {
    fathom_prefix prefix{};
    prefix.bits = static_cast<std::uint32_t>(text.size()) * kByte;
    text.copy(prefix.text, FATHOM_BPF_NAME);
    all.push_back(prefix);
  }
  return all;
}

Result<Filters> read_filters(const std::vector<std::string>& texts,
                             const std::vector<fathom_bpf_layer>& layers) {
  Reader reader(layers);
  for (const std::string& text : texts) {
    FATHOM_ASSIGN(const Term term, read_term(text, layers));
    FATHOM_TRY(reader.add(term));
  }
  return reader.take();
}

}  // namespace fathom::sources::ebpf
