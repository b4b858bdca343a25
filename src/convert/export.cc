// SPDX-License-Identifier: MIT
// One export may be several files (a pair of logs, a file for each process); names and filters of
// the parts are made here, so that exporters write one stream each.
#include "convert/export.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/files.h"
#include "render/export/anonymous_stream.h"

namespace fathom::convert {
namespace {

// "run.pfw.gz" with "-7" before the first of its extensions.
std::string name_for(const std::string& output, const std::string& part) {
  const std::size_t slash = output.rfind('/');
  const std::size_t from = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t dot = std::min(output.find('.', from + 1), output.size());
  return output.substr(0, dot) + "-" + part + output.substr(dot);
}

}  // namespace

Status Export::write(const std::string& output, RowFilter filter) {
  if (!exporter_.parts.empty()) return write_folder(output, std::move(filter));
  if (exporter_.write_files != nullptr) return write_files(output, std::move(filter));
  if (exporter_.write_stacks == nullptr)
    return write_file(output, exporter_.write, std::move(filter));
  const auto writer = [&](render::EventStream& from, render::ByteSink& to) {
    return exporter_.write_stacks(from, choice_, to);
  };
  return write_file(output, writer, std::move(filter));
}

// Formats of stacks have nothing to say of a process without samples: it is left out, and an error
// only if that is all of them.
Status Export::write_each(const std::string& output, const RowFilter& filter) {
  bool any = false;
  Status nothing;
  FATHOM_TRY(write_parts(filter, [&](const std::string& part, RowFilter one) -> Status {
    Status written = write(name_for(output, part), std::move(one));
    const bool lacks =
        !written && exporter_.write_stacks != nullptr && written.error().code == Code::kNotFound;
    if (!lacks) {
      any = true;
      return written;
    }
    nothing = std::move(written);
    return {};
  }));
  return any ? Status() : nothing;
}

// The sink is finished here, and only when all went well: else it goes without leaving a file.
Status Export::write_file(const std::string& output, const Writer& writer, RowFilter filter) {
  const bool by_name = exporter_.gzip == render::Gzip::kByName && output.ends_with(".gz");
  const bool gzip = by_name || exporter_.gzip == render::Gzip::kAlways;
  FATHOM_ASSIGN(render::ByteSink sink, render::ByteSink::open(output, gzip));
  StoreStream stream(store_, std::move(filter));
  if (key_.empty()) {
    FATHOM_TRY(writer(stream, sink));
  } else {
    render::AnonymousStream anonymous(stream, key_);
    FATHOM_TRY(writer(anonymous, sink));
  }
  return sink.finish();
}

Status Export::write_files(const std::string& folder, RowFilter filter) {
  FATHOM_TRY(make_dirs(folder));
  const auto open = [&](const std::string& name) {
    return render::ByteSink::open(join_path(folder, name), false);
  };
  StoreStream stream(store_, std::move(filter));
  if (key_.empty()) return exporter_.write_files(stream, open);
  render::AnonymousStream anonymous(stream, key_);
  return exporter_.write_files(anonymous, open);
}

// The plain names hold all processes together.
Status Export::write_folder(const std::string& folder, RowFilter filter) {
  FATHOM_TRY(make_dirs(folder));
  if (filter.layers.empty()) filter.layers = {std::string(exporter_.layer)};
  const auto write_pair = [&](const std::string& part, const RowFilter& rows) -> Status {
    for (const render::ExporterPart& file : exporter_.parts) {
      const std::string path = join_path(folder, file.file);
      FATHOM_TRY(write_file(part.empty() ? path : name_for(path, part), file.write, rows));
    }
    return {};
  };
  FATHOM_TRY(write_pair("", filter));
  FATHOM_ASSIGN(const Processes processes, processes_with_events(store_, filter));
  return processes.size() > 1 ? write_each_of(processes, filter, write_pair) : Status();
}

Status Export::write_parts(const RowFilter& filter, const WriteOne& write_one) {
  FATHOM_ASSIGN(const Processes processes, processes_of(store_, filter));
  FATHOM_TRY(write_each_of(processes, filter, write_one));
  FATHOM_ASSIGN(const bool others, has_rows_without_process(store_, filter));
  if (!others) return {};
  RowFilter rest = filter;
  rest.without_process = true;
  return write_one("machine", std::move(rest));
}

// The host is part of a name only where there are several; anonymous exports have its hash there,
// or the name would give it away.
Status Export::write_each_of(const Processes& processes, const RowFilter& filter,
                             const WriteOne& write_one) const {
  render::Anonymizer names(key_);
  std::set<std::string> hosts;
  for (const auto& [host, pid] : processes) hosts.insert(host);
  for (const auto& [host, pid] : processes) {
    RowFilter one = filter;
    one.host = host;
    one.pids = {pid};
    const std::string shown(key_.empty() ? host : names.word(host));
    const std::string part = (hosts.size() > 1 ? shown + "-" : "") + std::to_string(pid);
    FATHOM_TRY(write_one(part, std::move(one)));
  }
  return {};
}

Result<render::FlameTree> flames_of(analysis::Store& store, RowFilter filter,
                                    render::StackWeight weight, const std::string& key) {
  StoreStream stream(store, std::move(filter));
  if (key.empty()) return render::load_flames(stream, weight);
  render::AnonymousStream anonymous(stream, key);
  return render::load_flames(anonymous, weight);
}

}  // namespace fathom::convert
