// SPDX-License-Identifier: MIT
// Reproduces two generations of DFTracer's file format. Field order and quoting matter here,
// because existing scripts search lines by text.
#include "render/export/dftracer_log.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "base/own_file.h"
#include "base/text.h"
#include "render/export/byte_sink.h"
#include "render/export/json_fields.h"
#include "render/export/pfw_words.h"
#include "render/export/stdio_items.h"

namespace fathom::render {
namespace {

constexpr std::size_t kLarge = std::size_t{4} << 20;  // text that goes into the file at once
// Sums wait for the end of their interval; beyond this number they are written as they are, and an
// interval that goes on has another line.
constexpr std::size_t kMostSums = 4096;  // lines that wait to be complete
constexpr std::string_view kTimeKey = "dftracer.ts";
constexpr std::string_view kDurationKey = "dftracer.dur";

// Whose event it is, in generation 2.
// Whose event it is, in generation 2; numbers are DFTracer's.
enum Type { kOfDftracer = 1, kOfC = 2, kOfLibc = 3, kOfPython = 6, kOfCompiler = 8, kOfCpp = 9 };

// A day as ctime() writes it, in the local time zone.
std::string date_of(std::int64_t us) {
  const std::time_t seconds = us / 1000000;
  std::tm parts{};
  char text[64] = {};
  if (localtime_r(&seconds, &parts) == nullptr) return "";
  const std::size_t length = std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &parts);
  return {text, length};
}

int type_of(const ExportEvent& event) {
  if (event.layer != "app") return kOfLibc;
  if (event.category == "C_APP") return kOfC;
  if (event.category == "CPP_APP") return kOfCpp;
  return event.category == "function" ? kOfCompiler : kOfPython;
}

std::string_view category_of(const ExportEvent& event) {
  if (event.layer == "posix") return "POSIX";
  if (event.layer == "stdio") return "STDIO";
  return event.category.empty() ? std::string_view("app") : event.category;
}

std::string_view name_of(const ExportEvent& event) {
  return event.entry.empty() ? event.name : event.entry;
}

// What fathom_dftracer_metadata() of the library made.
bool is_told_fact(const ExportEvent& event) {
  return event.layer == "app" && event.category == "dftracer" && event.name == "metadata";
}

std::string_view argument(const ExportEvent& event, std::string_view key) {
  for (const auto& [name, value] : event.args) {
    if (name == key) return value;
  }
  return {};
}

}  // namespace

DftracerLog::DftracerLog(DftracerSettings settings, DftracerProcess process, std::int64_t start_ns,
                         DftracerBegin begin, DftracerMark mark)
    : settings_(std::move(settings)),
      process_(std::move(process)),
      start_ns_(start_ns),
      how_(begin),
      path_(dftracer_log_path(settings_, process_)),
      program_(dftracer_program(settings_.generation, process_.command)),
      host_hash_(pfw_hash(process_.host)),
      begun_(begin == DftracerBegin::kGoesOn),
      written_(begin == DftracerBegin::kGoesOn),
      changed_(mark.changed),
      id_(mark.ids),
      last_(std::max(mark.last, in_units(process_.start_us * 1000))) {
  make_absolute(settings_, process_.cwd);
}

// Generation 2 leaves no file in which nothing but its start and end would be.
bool DftracerLog::has_file() const {
  return begun_ || (settings_.generation == 1 && settings_.asked && !process_.forked);
}

void DftracerLog::add_metadata(std::string_view kind, std::string_view name, std::string_view value,
                               std::int64_t tid) {
  text_ += '{';
  JsonFields fields(text_);
  const bool first = settings_.generation == 1;
  const auto number = [&](std::string_view key, std::int64_t id) {
    return first ? fields.text(key, std::to_string(id)) : fields.number(key, id);
  };
  if (first) fields.text("id", std::to_string(++id_));
  fields.text("name", kind);
  fields.text("cat", "dftracer");
  if (!first) fields.number("type", kOfDftracer);
  number("pid", settings_.pid.value_or(process_.pid));
  number("tid", tid);
  if (first) {
    fields.text("ph", "M");
  } else {
    fields.number("ph", 4);
  }
  fields.key("args") += '{';
  JsonFields args(text_);
  add_origin(args, {});
  args.text("name", name);
  args.text("value", value);
  text_ += "}}\n";
}

// The line that explains it goes out before its first use.
const std::string& DftracerLog::hash(std::string_view kind, std::string_view name,
                                     std::int64_t tid) {
  std::string key(kind);
  key += name;
  const auto [found, fresh] = hashes_.try_emplace(std::move(key));
  if (fresh) {
    found->second = pfw_hash(name);
    add_metadata(kind, name, found->second, tid);
  }
  return found->second;
}

// Up to the arguments.
void DftracerLog::begin_line(std::string_view name, std::string_view category, int type,
                             std::int64_t tid, std::int64_t ts, std::int64_t dur) {
  text_ += '{';
  JsonFields fields(text_);
  const std::int64_t pid = settings_.pid.value_or(process_.pid);
  if (settings_.generation == 1) {
    fields.text("id", std::to_string(++id_));
    fields.text("name", name);
    fields.text("cat", category);
    fields.text("pid", std::to_string(pid));
    fields.text("tid", std::to_string(tid));
    fields.text("ts", std::to_string(ts));
    fields.text("dur", std::to_string(dur));
    fields.text("ph", "X");
    return;
  }
  fields.number("id", ++id_);
  fields.text("name", name);
  fields.text("cat", category);
  fields.number("type", type);
  fields.number("pid", pid);
  fields.number("tid", tid);
  fields.number("ts", ts);
  fields.number("dur", dur);
  fields.number("ph", 1);
}

// Of an event without arguments.
void DftracerLog::end_line() { text_ += settings_.generation == 1 ? ",\"args\":{}}\n" : "}\n"; }

// What the arguments of every event begin with.
void DftracerLog::add_origin(JsonFields& args, const ExportNumber& depth) const {
  if (settings_.generation == 2) return args.text("hhash", host_hash_);
  args.text("hostname", process_.host);
  if (depth) args.number("level", *depth + 1);
}

// The head is written with the first event: a process that did nothing has no file, as with
// DFTracer.
void DftracerLog::begin() {
  if (begun_) return;
  begun_ = true;
  if (settings_.generation == 1) {
    text_ += "[\n";
  } else {
    add_metadata("HH", process_.host, host_hash_, process_.pid);
    add_metadata("thread_name", std::to_string(process_.pid), "thread_name", process_.pid);
    add_metadata("CM", "time_metric", settings_.metric, process_.pid);
  }
  add_start();
}

void DftracerLog::add_start() {
  const bool first = settings_.generation == 1;
  std::string cwd, command, hashed_program;
  if (!first && settings_.metadata) {
    cwd = hash("FH", process_.cwd, process_.pid);
    command = hash("SH", process_.command, process_.pid);
    hashed_program = hash("SH", program_, process_.pid);
  }
  begin_line("start", "dftracer", kOfDftracer, process_.pid, in_units(process_.start_us * 1000), 0);
  if (!settings_.metadata) return end_line();
  text_ += ",\"args\":{";
  JsonFields args(text_);
  add_origin(args, 0);
  if (first) {
    args.text("date", date_of(process_.start_us));
    args.text("cmd", process_.command);
    args.text("exec", program_);
    args.number("version", 100003);
  } else {
    args.number("ppid", process_.ppid);
    args.text("cmd_hash", command);
    args.text("exec_hash", hashed_program);
    args.number("version", 20003);
    args.text("date", date_of(process_.start_us));
    args.text("cwd", cwd);
  }
  text_ += "}}\n";
}

void DftracerLog::add_end() {
  const std::int64_t events = id_;
  begin_line("end", "dftracer", kOfDftracer, process_.pid, last_, 0);
  if (!settings_.metadata) return end_line();
  text_ += ",\"args\":{";
  JsonFields args(text_);
  add_origin(args, 0);
  args.number("num_events", events);
  text_ += "}}\n";
}

std::int64_t DftracerLog::in_units(std::int64_t ns) const {
  return pfw_time(ns, settings_.unit_ns);
}

// Sizes and offsets are texts in generation 1, other numbers are not.
void DftracerLog::add_call(const ExportEvent& event) {
  JsonFields args(text_);
  const bool first = settings_.generation == 1;
  const auto size = [&](std::string_view key, const ExportNumber& value) {
    if (!value) return;
    if (first) {
      args.text(key, std::to_string(*value));
    } else {
      args.number(key, *value);
    }
  };
  add_origin(args, event.depth);
  if (counts_items(event)) {
    const StdioItems items = items_of(event);
    size("ret", items.ret);
    size("count", items.count);
    size("size", items.count ? ExportNumber(items.size) : ExportNumber());
  } else {
    if (event.bytes) {
      size("ret", event.layer == "posix" && event.ret ? event.ret : event.bytes);
    } else if (event.ret) {
      args.number("ret", *event.ret);
    }
    if (event.category != "seek") size("offset", event.offset);
    size("count", event.size);
  }
  for (const auto& [key, value] : event.args) {
    if (const auto number = whole_number(value)) {
      args.number(key, *number);
    } else {
      args.text(key, value);
    }
  }
  if (first && event.fd && *event.fd >= 0 && event.category != "open") args.number("fd", *event.fd);
  if (event.file.empty()) return;
  if (first) {
    args.text("fname", event.file);
  } else {
    args.text("fhash", hashes_.find("FH" + std::string(event.file))->second);
  }
}

void DftracerLog::add_args(const ExportEvent& event) {
  text_ += ",\"args\":{";
  if (event.layer != "app") {
    add_call(event);
    text_ += '}';
    return;
  }
  JsonFields args(text_);
  const bool first = settings_.generation == 1;
  add_origin(args, event.depth);
  for (const auto& [key, value] : event.args) {
    if (key == kTimeKey || key == kDurationKey) continue;
    const bool number = !first && (whole_number(value) || is_real_number(value));
    if (number) {
      args.key(key) += value;
    } else {
      args.text(key, value);
    }
  }
  text_ += '}';
}

bool DftracerLog::adds_up(const ExportEvent& event, std::int64_t ts, std::int64_t dur) const {
  if (!settings_.aggregation) return false;
  return settings_.rules.choose({.name = name_of(event),
                                 .cat = category_of(event),
                                 .app = program_,
                                 .ts = ts,
                                 .dur = dur,
                                 .rank = event.rank,
                                 .args = event.args});
}

// Events of the same name, in the same thread and interval, are one line: how many there were, and
// what their numbers come to.
void DftracerLog::add_to_sums(const ExportEvent& event, std::int64_t tid, std::int64_t ts,
                              std::int64_t dur) {
  id_++;
  const std::int64_t interval =
      std::max(settings_.interval_ms * 1'000'000 / settings_.unit_ns, std::int64_t{1});
  DftracerSum& sum = sums_.at({ts - ts % interval, tid, type_of(event), std::string(name_of(event)),
                               std::string(category_of(event))});
  sum.add_event(dur);
  if (!settings_.metadata) return;
  if (event.layer != "app") {
    if (event.ret) sum.add("ret", static_cast<double>(*event.ret));
    if (event.offset && event.category != "seek")
      sum.add("offset", static_cast<double>(*event.offset));
    if (event.size) sum.add("count", static_cast<double>(*event.size));
  }
  for (const auto& [key, value] : event.args) {
    if (key == kTimeKey || key == kDurationKey) continue;
    if (const auto number = number_of(value)) sum.add(key, *number);
  }
}

void DftracerLog::write_sums() {
  sums_.write(text_, {settings_.pid.value_or(process_.pid), host_hash_});
}

// A fact as the program told it, then and there: a key may come again and again.
void DftracerLog::add_told(const ExportEvent& event) {
  for (const auto& [key, value] : event.args) {
    add_metadata("CM", key, value, event.tid.value_or(process_.pid));
    facts_.emplace(key, value);
  }
}

Status DftracerLog::add(const ExportEvent& event) {
  if (!settings_.wants(event)) return {};
  begin();
  changed_ = true;
  if (is_told_fact(event)) {
    add_told(event);
    return text_.size() < kLarge ? Status() : flush();
  }
  const std::int64_t tid = event.tid.value_or(process_.pid);
  std::int64_t begin = in_units(start_ns_ + event.ts);
  std::int64_t dur = in_units(start_ns_ + event.ts + event.dur) - begin;
  if (const auto given = whole_number(argument(event, kTimeKey))) begin = *given;
  if (const auto given = whole_number(argument(event, kDurationKey))) dur = *given;
  last_ = std::max(last_, begin + dur);
  if (adds_up(event, begin, dur)) {
    add_to_sums(event, tid, begin, dur);
    return sums_.size() < kMostSums ? Status() : flush();
  }
  if (settings_.generation == 2 && !event.file.empty()) hash("FH", event.file, tid);
  begin_line(name_of(event), category_of(event), type_of(event), tid, begin, dur);
  if (settings_.metadata) {
    add_args(event);
    text_ += "}\n";
  } else {
    end_line();
  }
  return text_.size() < kLarge ? Status() : flush();
}

void DftracerLog::add_fact(std::string_view key, std::string_view value) {
  if (!facts_.emplace(key, value).second) return;
  begin();
  changed_ = true;
  add_metadata("CM", key, value, process_.pid);
}

Status DftracerLog::complete(bool in_order, std::int64_t end_ns) {
  if (!has_file()) return {};
  last_ = std::max(last_, in_units(end_ns));
  const bool fresh = !begun_;
  begin();
  write_sums();
  if (in_order && (changed_ || fresh)) add_end();
  changed_ = false;
  return flush();
}

// The file of an earlier run goes, unless nothing may.
Status DftracerLog::begin_file() {
  if (how_ == DftracerBegin::kAnew) (void)::unlink(path_.c_str());
  FATHOM_TRY(make_own_file(path_));
  written_ = true;
  return {};
}

Status DftracerLog::flush() {
  write_sums();
  if (text_.empty()) return {};
  if (!written_) FATHOM_TRY(begin_file());
  FATHOM_ASSIGN(ByteSink sink, ByteSink::append(path_, settings_.compression));
  FATHOM_TRY(sink.write(text_));
  FATHOM_TRY(sink.finish());
  text_.clear();
  return {};
}

}  // namespace fathom::render
