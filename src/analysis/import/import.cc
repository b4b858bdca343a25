// SPDX-License-Identifier: MIT
// The list of importers, and what they have in common: the format told by its content, and a target
// that is replaced only when asked.
#include "analysis/import/import.h"

#include <unistd.h>

#include <algorithm>

#include "analysis/import/byte_source.h"
#include "base/files.h"
#include "base/plural.h"
#include "base/text.h"
#include "trace/recording/replace.h"

namespace fathom::analysis {

extern const ImporterDef kTextImporter;
extern const ImporterDef kPfwImporter;
extern const ImporterDef kChromeImporter;
extern const ImporterDef kDarshanDxtImporter;
extern const ImporterDef kDarshanImporter;
extern const ImporterDef kHyperfineImporter;
extern const ImporterDef kGoogleBenchmarkImporter;
extern const ImporterDef kStatImporter;
extern const ImporterDef kCollapsedImporter;
extern const ImporterDef kPerfScriptImporter;
extern const ImporterDef kTauImporter;
extern const ImporterDef kWaggleImporter;

namespace {

const ImporterDef* const kImporters[] = {
    &kTextImporter, &kHyperfineImporter, &kGoogleBenchmarkImporter, &kStatImporter,
    &kPfwImporter,  &kChromeImporter,    &kDarshanDxtImporter,      &kDarshanImporter,
    &kTauImporter,  &kWaggleImporter,    &kCollapsedImporter,       &kPerfScriptImporter,
};

constexpr std::size_t kHeadSize = std::size_t{1} << 16;

std::string names() {
  std::vector<std::string> words;
  for (const ImporterDef* def : kImporters) words.emplace_back(def->name);
  return join(words, ", ");
}

Result<std::string> head_of(const std::string& path) {
  FATHOM_ASSIGN(ByteSource source, ByteSource::open(path));
  std::string head(kHeadSize, '\0');
  std::size_t used = 0;
  bool gap = false;
  while (used < head.size()) {
    FATHOM_ASSIGN(const std::size_t got, source.read(std::span(head).subspan(used), gap));
    if (got == 0) break;
    used += got;
  }
  head.resize(used);
  return head;
}

Result<const ImporterDef*> choose(std::span<const std::string> files, const std::string& format) {
  if (!format.empty()) {
    const auto found = std::ranges::find(kImporters, format, &ImporterDef::name);
    if (found != std::end(kImporters)) return *found;
    return usage_error("there is no format '" + escape_control(format) + "'",
                       "formats are " + names());
  }
  FATHOM_ASSIGN(const std::string head, head_of(files.front()));
  for (const ImporterDef* def : kImporters) {
    if (def->matches(head)) return def;
  }
  return Error{Code::kInvalid, files.front() + ": unknown trace format",
               "fathom reads " + names() + "; 'fathom import --format' takes one by its name"};
}

// Only a recording is ever replaced.
Status check_target(const std::string& directory, bool replace) {
  if (!path_exists(directory)) return {};
  if (!replace)
    return Error{Code::kInvalid, directory + " exists already",
                 "choose another name, or --force to replace it"};
  return trace::check_replaceable(directory);
}

}  // namespace

std::span<const ImporterDef* const> importers() { return kImporters; }

Result<ImportOutcome> import_files(std::span<const std::string> files, const std::string& directory,
                                   const ImportOptions& options) {
  FATHOM_ASSIGN(const std::string target, absolute_path(directory));
  FATHOM_TRY(check_target(target, options.replace));
  FATHOM_ASSIGN(const ImporterDef* const importer, choose(files, options.format));
  if (!path_exists(target)) return importer->write(files, target, options);
  const std::string fresh = target + ".import-" + std::to_string(::getpid());
  FATHOM_ASSIGN(ImportOutcome outcome, importer->write(files, fresh, options));
  Status replaced = trace::remove_recording(target);
  if (replaced) replaced = rename_path(fresh, target);
  if (replaced) return outcome;
  (void)remove_tree(fresh).has_value();
  return replaced.error();
}

void tell_losses(const ImportOutcome& outcome, trace::Manifest& manifest) {
  const auto add = [&](const std::string& reason, std::int64_t count) {
    if (count > 0) manifest.add_loss({.layer = "", .reason = reason, .count = count});
  };
  add("damaged line", outcome.damaged_lines);
  add("damaged part of a compressed file", outcome.damaged_parts);
  add("file name that no line explains", outcome.unknown_files);
  for (const auto& [reason, count] : outcome.left_out) add(reason, count);
  if (outcome.damaged_parts == 0) return;
  manifest.state = trace::RunState::kPartial;
  manifest.state_reason = "an imported file was cut or damaged";
}

Error nothing_found(const std::string& path, const ImportOutcome& outcome) {
  std::string message = path + " contains no event of a trace";
  std::string_view before = "; left out: ";
  for (const auto& [reason, count] : outcome.left_out) {
    message.append(before).append(counted(count, reason));
    before = ", ";
  }
  return {Code::kInvalid, message, "fathom reads " + names()};
}

}  // namespace fathom::analysis
