// SPDX-License-Identifier: MIT
// Layers are loaded side by side, each in a thread: most of it is the kernel's verifier, and
// libbpf's search through the kernel's types. The maps that all share come first.
#include "sources/ebpf/trials.h"

#include <future>
#include <map>
#include <utility>

#include "base/text.h"
#include "sources/ebpf/cost.h"
#include "sources/ebpf/kernel_code.h"
#include "sources/ebpf/kernel_hooks.h"
#include "sources/ebpf/uprobes.h"

namespace fathom::sources::ebpf {
namespace {

Tried& tried() {
  static Tried all;
  return all;
}
// What begin_trials() began with.
std::future<Tried>& trials() {
  static std::future<Tried> all;
  return all;
}

// Where there may be no more threads, one after the other when they are asked for.
template <class Work>
auto at_the_same_time(Work work) {
  return std::async(std::launch::async | std::launch::deferred, std::move(work));
}

// Loaded, and able to be put where it belongs.
Result<Loaded> load_for_good(const Module& module, const Loaded& first) {
  FATHOM_ASSIGN(Loaded loaded, load_module(module, first));
  if (module.uprobes == Uprobes::kNone) return loaded;
  if (module.layer == FATHOM_BPF_KERNEL) {
    FATHOM_TRY(try_kernel_hooks(loaded));
    return loaded;
  }
  FATHOM_ASSIGN(const std::vector<Function> nothing, null_functions());
  FATHOM_TRY(attach_functions(loaded, {nothing.back()}, kNullNumber));
  loaded.uprobes.clear();
  loaded.links.clear();
  return loaded;
}

// Of tracepoints and functions what there is; what there is not says why.
Result<LoadedLayer> load_named(const Loaded& first) {
  LoadedLayer result;
  Result<Loaded> points = load_for_good(kPoints, first);
  if (points)
    result.modules.push_back(std::move(points).value());
  else
    result.missing.push_back("tracepoints by name: " + points.error().message);
  for (const Module& module : kKernelFunctions) {
    Result<Loaded> functions = load_for_good(module, first);
    if (!functions) continue;
    result.modules.push_back(std::move(functions).value());
    return result;
  }
  const std::string why = why_no_functions();
  result.missing.push_back("functions by name" + (why.empty() ? "" : ": " + why));
  if (!result.modules.empty()) return result;
  return Error{Code::kUnsupported, "this kernel has no " + join(result.missing, ", and no "), ""};
}

// At the functions of layer vfs: more than the kernel's errno tells.
Error no_functions(const Error& error) {
  const std::string why = why_no_functions();
  if (why.empty()) return error;
  return {error.code, "this kernel takes no programs at its functions: " + why, ""};
}

using Loading = std::map<const Module*, std::future<Result<Loaded>>>;

// What does not stand in for anything is loaded whatever comes of the others.
Loading begin_loading(fathom_bpf_layer layer, const Loaded& first) {
  Loading loading;
  for (const Module& module : kModules) {
    if (module.layer == layer && module.role != Role::kInstead)
      loading.emplace(&module, at_the_same_time([&] { return load_for_good(module, first); }));
  }
  return loading;
}

}  // namespace

Result<LoadedLayer> load_layer(fathom_bpf_layer layer, const Loaded& first) {
  if (layer == FATHOM_BPF_KERNEL) return load_named(first);
  LoadedLayer result;
  std::optional<Error> failed;  // of what is needed; the first one that was tried tells most
  bool was_tried = false;
  Loading loading = begin_loading(layer, first);
  for (const Module& module : kModules) {
    if (module.layer != layer || (module.role == Role::kInstead && !failed)) continue;
    const auto begun = loading.find(&module);
    Result<Loaded> loaded =
        begun != loading.end() ? begun->second.get() : load_for_good(module, first);
    if (loaded) {
      const auto& absent = loaded->absent;
      result.missing.insert(result.missing.end(), absent.begin(), absent.end());
      result.modules.push_back(std::move(loaded).value());
      if (module.role == Role::kInstead) failed.reset();
    } else if (module.role == Role::kExtra) {
      result.missing.emplace_back(module.what);
    } else if (!failed || !was_tried) {
      failed = loaded.error();
      was_tried = module.code(first.flavor).size() > 0;
    }
  }
  if (failed) return layer == FATHOM_BPF_VFS ? no_functions(*failed) : *failed;
  return result;
}

namespace {

Tried try_all(const std::vector<fathom_bpf_layer>& layers) {
  Tried all;
  all.bare_call_ns = null_call_ns();
  Result<Loaded> lives = load_first({});
  if (!lives) {
    all.refused = lives.error();
    return all;
  }
  all.lives = std::move(lives).value();
  std::vector<std::future<Result<LoadedLayer>>> loading;
  loading.reserve(layers.size());
  for (const fathom_bpf_layer layer : layers)
    loading.push_back(at_the_same_time([&all, layer] { return load_layer(layer, *all.lives); }));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    Result<LoadedLayer> loaded = loading[i].get();
    if (loaded)
      all.layers.emplace(layers[i], std::move(loaded).value());
    else
      all.failed.emplace(layers[i], loaded.error());
  }
  return all;
}

void end_trials() {
  if (trials().valid()) tried() = trials().get();
}

}  // namespace

Tried take_tried() {
  end_trials();
  return std::exchange(tried(), {});
}

void begin_trials(const std::vector<fathom_bpf_layer>& layers) {
  end_trials();
  if (tried().lives) return;  // they are added to it one by one
  trials() = at_the_same_time([layers] { return try_all(layers); });
}

Trial try_layer(fathom_bpf_layer layer) {
  end_trials();
  Tried& all = tried();
  if (!all.lives) all = try_all({layer});
  if (all.refused)
    return {.outcome = Trial::Outcome::kRefused,
            .reason = all.refused->message,
            .needs_privilege = all.refused->code == Code::kDenied};
  auto known = all.layers.find(layer);
  if (known == all.layers.end()) {
    const auto failed = all.failed.find(layer);
    if (failed != all.failed.end())
      return {.outcome = Trial::Outcome::kMissing, .reason = failed->second.message};
    Result<LoadedLayer> loaded = load_layer(layer, *all.lives);
    if (!loaded) return {.outcome = Trial::Outcome::kMissing, .reason = loaded.error().message};
    known = all.layers.emplace(layer, std::move(loaded).value()).first;
  }
  const std::vector<std::string>& missing = known->second.missing;
  if (missing.empty()) return {};
  return {.outcome = Trial::Outcome::kPart,
          .reason = "this kernel does not report " + join(missing, ", ")};
}

}  // namespace fathom::sources::ebpf
