// SPDX-License-Identifier: MIT
// Reproduces two generations of DFTracer's file format. Field order and quoting matter here,
// because existing scripts search lines by text.
#include "render/export/dftracer_log.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
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
constexpr std::string_view kTimeKey = "dftracer.ts";
constexpr std::string_view kDurationKey = "dftracer.dur";

// Whose event it is, in generation 2.
enum Type { kOfDftracer = 1, kOfC = 2, kOfLibc = 3, kOfPython = 6, kOfCompiler = 8, kOfCpp = 9 };

// A number as JSON writes it, with a point or an exponent.
bool is_real_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  if (digits.find_first_of(".e") == std::string_view::npos) return false;
  if (digits.empty() || digits[0] < '0' || digits[0] > '9') return false;
  if (digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9') return false;
  if (digits.back() < '0' || digits.back() > '9') return false;
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end && digits.find(".e") == std::string_view::npos;
}

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
      host_hash_(pfw_hash(process_.host)),
      begun_(begin == DftracerBegin::kGoesOn),
      written_(begin == DftracerBegin::kGoesOn),
      changed_(mark.changed),
      id_(mark.ids),
      last_us_(std::max(mark.last_us, process_.start_us)) {
  make_absolute(settings_, process_.cwd);
}

bool DftracerLog::has_file() const { return begun_ || (settings_.asked && !process_.forked); }

void DftracerLog::add_metadata(std::string_view kind, std::string_view name, std::string_view value,
                               std::int64_t tid) {
  text_ += '{';
  JsonFields fields(text_);
  fields.text("name", kind);
  fields.text("cat", "dftracer");
  fields.number("type", kOfDftracer);
  fields.number("pid", settings_.pid.value_or(process_.pid));
  fields.number("tid", tid);
  fields.number("ph", 4);
  fields.key("args") += '{';
  JsonFields args(text_);
  args.text("hhash", host_hash_);
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

void DftracerLog::begin() {
  if (begun_) return;
  begun_ = true;
  if (settings_.generation == 1) {
    text_ += "[\n";
  } else {
    add_metadata("HH", process_.host, host_hash_, process_.pid);
    add_metadata("thread_name", std::to_string(process_.pid), "thread_name", process_.pid);
    add_metadata("CM", "time_metric", "US", process_.pid);
  }
  add_start();
}

void DftracerLog::add_start() {
  const std::string program = dftracer_program(settings_.generation, process_.command);
  const bool first = settings_.generation == 1;
  std::string cwd, command, hashed_program;
  if (!first && settings_.metadata) {
    cwd = hash("FH", process_.cwd, process_.pid);
    command = hash("SH", process_.command, process_.pid);
    hashed_program = hash("SH", program, process_.pid);
  }
  begin_line("start", "dftracer", kOfDftracer, process_.pid, process_.start_us, 0);
  if (!settings_.metadata) return end_line();
  text_ += ",\"args\":{";
  JsonFields args(text_);
  add_origin(args, 0);
  if (first) {
    args.text("date", date_of(process_.start_us));
    args.text("cmd", process_.command);
    args.text("exec", program);
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
  begin_line("end", "dftracer", kOfDftracer, process_.pid, last_us_, 0);
  if (!settings_.metadata) return end_line();
  text_ += ",\"args\":{";
  JsonFields args(text_);
  add_origin(args, 0);
  args.number("num_events", events);
  text_ += "}}\n";
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

Status DftracerLog::add(const ExportEvent& event) {
  if (!settings_.wants(event)) return {};
  begin();
  changed_ = true;
  const std::int64_t tid = event.tid.value_or(process_.pid);
  if (settings_.generation == 2 && !event.file.empty()) hash("FH", event.file, tid);
  std::int64_t begin_us = pfw_us(start_ns_ + event.ts);
  std::int64_t dur = pfw_us(start_ns_ + event.ts + event.dur) - begin_us;
  if (const auto given = whole_number(argument(event, kTimeKey))) begin_us = *given;
  if (const auto given = whole_number(argument(event, kDurationKey))) dur = *given;
  last_us_ = std::max(last_us_, begin_us + dur);
  begin_line(event.entry.empty() ? event.name : event.entry, category_of(event), type_of(event),
             tid, begin_us, dur);
  if (settings_.metadata) {
    add_args(event);
    text_ += "}\n";
  } else {
    end_line();
  }
  return text_.size() < kLarge ? Status() : flush();
}

// Generation 1 has no word for it.
void DftracerLog::add_fact(std::string_view key, std::string_view value) {
  if (settings_.generation == 1) return;
  std::pair<std::string, std::string> fact(key, value);
  if (std::ranges::find(facts_, fact) != facts_.end()) return;
  begin();
  changed_ = true;
  add_metadata("CM", key, value, process_.pid);
  facts_.push_back(std::move(fact));
}

Status DftracerLog::complete(bool in_order) {
  if (!has_file()) return {};
  const bool fresh = !begun_;
  begin();
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
  if (text_.empty()) return {};
  if (!written_) FATHOM_TRY(begin_file());
  FATHOM_ASSIGN(ByteSink sink, ByteSink::append(path_, settings_.compression));
  FATHOM_TRY(sink.write(text_));
  FATHOM_TRY(sink.finish());
  text_.clear();
  return {};
}

}  // namespace fathom::render
