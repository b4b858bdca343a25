// SPDX-License-Identifier: MIT
// Firefox's format has columns and not rows, so each column of a thread is spilled by itself and
// joined when the thread is written.
#include "render/export/firefox_thread.h"

#include <algorithm>
#include <functional>

#include "analysis/layers.h"
#include "render/export/json_fields.h"

namespace fathom::render {
namespace {

// "name":[…] of `count` items that a function appends.
Status write_column(SinkBuffer& out, std::string_view name, std::size_t count,
                    const std::function<void(std::string&, std::size_t)>& item) {
  append_quoted(out.text(), name);
  out.text() += ":[";
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out.text() += ',';
    item(out.text(), i);
    FATHOM_TRY(out.flush_if_large());
  }
  out.text() += "],";
  return {};
}

std::function<void(std::string&, std::size_t)> always(std::string_view text) {
  return [text](std::string& out, std::size_t) { out += text; };
}

// The format wants each table's number of rows as its last field.
void write_length(SinkBuffer& out, std::size_t length) {
  out.text() += "\"length\":";
  append_number(out.text(), static_cast<std::int64_t>(length));
  out.text() += '}';
}

Status move_column(SinkBuffer& out, std::string_view name, ArraySpill& column) {
  append_quoted(out.text(), name);
  out.text() += ':';
  FATHOM_TRY(column.move_to(out));
  out.text() += ',';
  return {};
}

}  // namespace

std::size_t FirefoxCategories::of(std::string_view layer) {
  const analysis::LayerDef* const def = analysis::find_layer(layer);
  if (def == nullptr || def->colour.empty()) return 0;
  const auto at = static_cast<std::size_t>(std::ranges::find(layers_, def) - layers_.begin());
  if (at == layers_.size()) layers_.push_back(def);
  return at + 1;
}

std::string FirefoxCategories::json() const {
  std::string out = "[";
  const auto add = [&](std::string_view name, std::string_view colour) {
    out += "{\"name\":";
    append_quoted(out, name);
    out += ",\"color\":";
    append_quoted(out, colour);
    out += ",\"subcategories\":[\"Other\"]}";
  };
  add("other", "grey");
  for (const analysis::LayerDef* layer : layers_) {
    out += ',';
    add(layer->name, layer->colour);
  }
  return out + "]";
}

// Markers say of which type they are; what the viewer shows of a type stands here, once for the
// file.
std::string FirefoxThread::marker_schema() {
  constexpr std::pair<std::string_view, std::string_view> kFields[] = {
      {"layer", "string"},   {"category", "string"}, {"file", "file-path"},
      {"offset", "integer"}, {"size", "bytes"},      {"bytes", "bytes"},
      {"ret", "integer"},    {"error", "string"},    {"program", "string"}};
  std::string out =
      "[{\"name\":\"call\",\"display\":[\"marker-chart\",\"marker-table\"],"
      "\"tooltipLabel\":\"{marker.name}\",\"tableLabel\":\"{marker.data.file}\",\"data\":[";
  bool first = true;
  for (const auto& [key, format] : kFields) {
    out += first ? "{\"key\":" : ",{\"key\":";
    first = false;
    append_quoted(out, key);
    out += ",\"label\":";
    append_quoted(out, key);
    out += ",\"format\":";
    append_quoted(out, format);
    out += ",\"searchable\":true}";
  }
  return out + "]}]";
}

// Each text once for a thread, named by its number: that is how the format has them.
std::int64_t FirefoxThread::text(const std::string& text) {
  const auto [found, is_new] =
      text_ids_.try_emplace(text, static_cast<std::int64_t>(texts_.size()));
  if (is_new) texts_.push_back(text);
  return found->second;
}

Status FirefoxThread::add_sample(std::int64_t ts, std::uint32_t stack, std::int64_t weight,
                                 bool is_time) {
  in_time_ = is_time;
  if (stack == StackTree::kRoot) {
    stacks_.item() += "null";
  } else {
    append_number(stacks_.item(), stack - 1);  // the root is no row of the table
  }
  append_ms(times_.item(), ts);
  if (is_time) {
    append_ms(weights_.item(), weight);
  } else {
    append_number(weights_.item(), weight);
  }
  for (ArraySpill* column : {&stacks_, &times_, &weights_}) FATHOM_TRY(column->spill_if_large());
  return {};
}

void FirefoxThread::add_data(std::string& out, const ExportEvent& event) {
  out += '{';
  JsonFields fields(out);
  fields.text("type", "call");
  fields.text("layer", event.layer);
  if (!event.category.empty()) fields.text("category", event.category);
  if (!event.file.empty()) fields.text("file", event.file);
  const std::pair<std::string_view, const ExportNumber*> numbers[] = {{"offset", &event.offset},
                                                                      {"size", &event.size},
                                                                      {"bytes", &event.bytes},
                                                                      {"ret", &event.ret}};
  for (const auto& [name, value] : numbers) {
    if (value->has_value()) fields.number(name, **value);
  }
  if (!event.error.empty()) fields.text("error", event.error);
  if (!event.program.empty()) fields.text("program", event.program);
  for (const auto& [key, value] : event.args) fields.text("arg " + std::string(key), value);
  out += '}';
}

Status FirefoxThread::add_marker(const ExportEvent& event, std::size_t category) {
  append_number(marker_names_.item(), text(std::string(event.name)));
  append_ms(marker_starts_.item(), event.ts);
  if (event.dur > 0) {
    append_ms(marker_ends_.item(), event.ts + event.dur);
  } else {
    marker_ends_.item() += "null";
  }
  marker_phases_.item() += event.dur > 0 ? '1' : '0';  // interval, instant
  append_number(marker_categories_.item(), static_cast<std::int64_t>(category));
  add_data(marker_data_.item(), event);
  for (ArraySpill* column : {&marker_names_, &marker_starts_, &marker_ends_, &marker_phases_,
                             &marker_categories_, &marker_data_})
    FATHOM_TRY(column->spill_if_large());
  return {};
}

Status FirefoxThread::write_samples(SinkBuffer& out) {
  const std::size_t length = times_.size();
  out.text() += ",\"samples\":{\"weightType\":";
  out.text() += in_time_ ? "\"tracing-ms\"," : "\"samples\",";
  FATHOM_TRY(move_column(out, "stack", stacks_));
  FATHOM_TRY(move_column(out, "time", times_));
  FATHOM_TRY(move_column(out, "weight", weights_));
  write_length(out, length);
  return {};
}

Status FirefoxThread::write_markers(SinkBuffer& out) {
  const std::size_t length = marker_names_.size();
  out.text() += ",\"markers\":{";
  FATHOM_TRY(move_column(out, "data", marker_data_));
  FATHOM_TRY(move_column(out, "name", marker_names_));
  FATHOM_TRY(move_column(out, "startTime", marker_starts_));
  FATHOM_TRY(move_column(out, "endTime", marker_ends_));
  FATHOM_TRY(move_column(out, "phase", marker_phases_));
  FATHOM_TRY(move_column(out, "category", marker_categories_));
  write_length(out, length);
  return {};
}

Status FirefoxThread::write_stacks(SinkBuffer& out) {
  const std::size_t stacks = tree_.size() - 1;
  const auto node = [&](std::size_t i) { return tree_.node(static_cast<std::uint32_t>(i + 1)); };
  out.text() += ",\"stackTable\":{";
  FATHOM_TRY(write_column(out, "frame", stacks, [&](std::string& to, std::size_t i) {
    append_number(to, node(i).frame);
  }));
  FATHOM_TRY(write_column(out, "prefix", stacks, [&](std::string& to, std::size_t i) {
    if (node(i).parent == StackTree::kRoot) {
      to += "null";
    } else {
      append_number(to, node(i).parent - 1);
    }
  }));
  FATHOM_TRY(write_column(out, "category", stacks, always("0")));
  FATHOM_TRY(write_column(out, "subcategory", stacks, always("0")));
  write_length(out, stacks);
  return {};
}

// A frame for each function: nothing finer is known.
Status FirefoxThread::write_functions(SinkBuffer& out) {
  const std::vector<FrameInfo>& frames = frames_.frames();
  const std::size_t count = frames.size();
  const auto index = [](std::string& to, std::size_t i) {
    append_number(to, static_cast<std::int64_t>(i));
  };
  const auto line = [&](std::string& to, std::size_t i) {
    if (frames[i].line > 0) {
      append_number(to, frames[i].line);
    } else {
      to += "null";
    }
  };
  out.text() += ",\"frameTable\":{";
  for (const auto& [name, value] :
       {std::pair{"address", "-1"}, std::pair{"inlineDepth", "0"}, std::pair{"category", "null"},
        std::pair{"subcategory", "null"}, std::pair{"nativeSymbol", "null"},
        std::pair{"innerWindowID", "0"}, std::pair{"implementation", "null"},
        std::pair{"column", "null"}})
    FATHOM_TRY(write_column(out, name, count, always(value)));
  FATHOM_TRY(write_column(out, "func", count, index));
  FATHOM_TRY(write_column(out, "line", count, line));
  write_length(out, count);
  out.text() += ",\"funcTable\":{";
  for (const auto& [name, value] : {std::pair{"isJS", "false"}, std::pair{"relevantForJS", "false"},
                                    std::pair{"resource", "-1"}, std::pair{"lineNumber", "null"},
                                    std::pair{"columnNumber", "null"}})
    FATHOM_TRY(write_column(out, name, count, always(value)));
  FATHOM_TRY(write_column(out, "name", count, [&](std::string& to, std::size_t i) {
    append_number(to, text(frames[i].text));
  }));
  FATHOM_TRY(write_column(out, "fileName", count, [&](std::string& to, std::size_t i) {
    if (frames[i].file.empty()) {
      to += "null";
    } else {
      append_number(to, text(frames[i].file));
    }
  }));
  write_length(out, count);
  return {};
}

// "GeckoMain" is the name by which the viewer finds a process's main thread. Fields that mean
// nothing here are there all the same: it refuses a thread that lacks one.
Status FirefoxThread::move_to(SinkBuffer& out, const FirefoxNames& names) {
  const bool main = names.pid.has_value() && names.pid == names.tid;
  out.text() += '{';
  JsonFields fields(out.text());
  fields.text("processType", "default");
  fields.text("processName", names.program);
  fields.text("name", main ? "GeckoMain" : names.thread);
  fields.key("isMainThread") += main ? "true" : "false";
  fields.text("pid", std::to_string(names.shown_pid));
  fields.number("tid", names.tid.value_or(0));
  out.text() +=
      ",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0,"
      "\"unregisterTime\":null,\"pausedRanges\":[]";
  FATHOM_TRY(write_samples(out));
  FATHOM_TRY(write_markers(out));
  FATHOM_TRY(write_stacks(out));
  FATHOM_TRY(write_functions(out));
  out.text() +=
      ",\"resourceTable\":{\"lib\":[],\"name\":[],\"host\":[],\"type\":[],\"length\":0}"
      ",\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],"
      "\"length\":0},";
  FATHOM_TRY(write_column(out, "stringArray", texts_.size(),
                          [&](std::string& to, std::size_t i) { append_quoted(to, texts_[i]); }));
  out.text().back() = '}';
  return out.flush_if_large();
}

}  // namespace fathom::render
