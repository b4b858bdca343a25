// SPDX-License-Identifier: MIT
// A recording into a file of another format, or into several.
#pragma once

#include <functional>
#include <string>

#include "analysis/store.h"
#include "convert/store_stream.h"
#include "render/export/exporter.h"
#include "render/export/flame_tree.h"

namespace fathom::convert {

// One thread; store and exporter must outlive it. A file appears under its name only when it is
// whole: after an Error those that were finished before stay, and there is nothing of the others.
class Export {
 public:
  // With a key paths, hosts and programs are written as hashes.
  Export(analysis::Store& store, const render::ExporterDef& exporter, std::string key = "")
      : store_(store), exporter_(exporter), key_(std::move(key)) {}

  // For formats of stacks. What it points at must outlive the writing.
  void choose(const render::StackChoice& choice) { choice_ = choice; }

  // A file, or where the format is several, a folder.
  Status write(const std::string& output, RowFilter filter);
  // One for each process, with its pid in the name; "machine" for what belongs to none.
  // A process without stacks has no file of them; that all lack them is the Error of the last.
  Status write_each(const std::string& output, const RowFilter& filter);

 private:
  using Writer = std::function<Status(render::EventStream& from, render::ByteSink& to)>;
  using WriteOne = std::function<Status(const std::string& part, RowFilter filter)>;

  Status write_file(const std::string& output, const Writer& writer, RowFilter filter);
  Status write_folder(const std::string& folder, RowFilter filter);
  Status write_files(const std::string& folder, RowFilter filter);
  Status write_parts(const RowFilter& filter, const WriteOne& write_one);
  [[nodiscard]] Status write_each_of(const Processes& processes, const RowFilter& filter,
                                     const WriteOne& write_one) const;

  analysis::Store& store_;
  const render::ExporterDef& exporter_;
  std::string key_;
  render::StackChoice choice_;
};

// The stacks of a recording, to compare others with.
Result<render::FlameTree> flames_of(analysis::Store& store, RowFilter filter,
                                    render::StackWeight weight, const std::string& key);

}  // namespace fathom::convert
