// SPDX-License-Identifier: MIT
// An exporter: a format that other tools read. To add one: a file x_export.cc with its ExporterDef,
// and its name twice in exporter.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "render/export/byte_sink.h"
#include "render/export/event_stream.h"
#include "render/export/stack_choice.h"

namespace fathom::render {

enum class Gzip : std::uint8_t {
  kNever,
  kByName,  // its readers take it compressed: a name that ends in .gz does that
  kAlways,
};

// A file of a format that has several.
struct ExporterPart {
  std::string_view file;
  Status (*write)(EventStream& from, ByteSink& to);
};

// Opens a file of the folder that is written. Its name is the exporter's: it names no other folder.
using OpenPart = std::function<Result<ByteSink>(const std::string& name)>;

// Read before anything is opened: help and checks of options come from it. Functions keep no state
// between calls.
struct ExporterDef {
  std::string_view name;
  std::string_view dialect = {};  // where a format has several; the first one has none
  std::string_view summary;       // what it is and what reads it, one line
  Gzip gzip = Gzip::kNever;
  bool of_rows = true;       // made of rows one by one: they can be anonymous, and split by process
  bool by_database = false;  // which writes the file itself
  bool by_thread = false;    // takes events in the order of threads
  bool of_table = false;     // one table of the recording: --table names it
  bool compares = false;     // can show the change against another recording
  bool is_page = false;  // the page with its data: serve/page/page_file.h writes it, nothing here
  // Writes everything into the sink, but does not finish it: after an Error the caller lets the
  // sink go, and there is no file.
  Status (*write)(EventStream& from, ByteSink& to) = nullptr;
  // Instead of `write`: --weight chooses which stacks. kNotFound where there are none.
  Status (*write_stacks)(EventStream& from, const StackChoice& choice, ByteSink& to) = nullptr;
  // Instead of `write`: the output is a folder with these files of the layer's events; where
  // several processes have such, also with such files of each.
  std::span<const ExporterPart> parts = {};
  std::string_view layer = {};
  // Instead of `write`: the output is a folder, whose files the rows decide. Each is finished here.
  Status (*write_files)(EventStream& from, const OpenPart& open) = nullptr;

  [[nodiscard]] bool is_folder() const { return !parts.empty() || write_files != nullptr; }
};

[[nodiscard]] std::span<const ExporterDef* const> exporters();

// kUsage, with the names that exist.
Result<const ExporterDef*> find_exporter(std::string_view name, std::string_view dialect = {});

}  // namespace fathom::render
