// SPDX-License-Identifier: MIT
// Rules are asked in a child: whatever the database does there, the recorder goes on, and a time
// limit holds. A child has the recorder's sums without a copy.
#include "cli/run_advice.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "analysis/store.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "trace/recording/recording.h"

namespace fathom::cli {
namespace {

constexpr std::int64_t kPatience = 2'000'000'000;  // ns
constexpr char kBetween = '\x1f';                  // texts on their way to the parent
constexpr std::size_t kTexts = 6;

// Below that, what the calls took is not worth the question: no gain is greater than they are.
bool could_pay(const trace::Totals& totals) {
  constexpr std::int64_t kLeastTime = 10'000'000;  // ns
  constexpr std::int64_t kLeastPart = 100;
  constexpr std::size_t kManyProcesses = 200;
  if (totals.processes.size() >= kManyProcesses) return true;
  std::int64_t time = 0;
  for (const trace::SummaryRow& row : totals.summary.rows())
    time += std::min(row.self, totals.manifest.duration_ns.value_or(0));
  return time >= kLeastTime && time >= totals.manifest.duration_ns.value_or(0) / kLeastPart;
}

// The database needs more than programs that are tested for their limits have.
bool has_room() {
  constexpr rlim_t kLeastStack = rlim_t{1} << 20U;
  constexpr rlim_t kLeastAddresses = rlim_t{1} << 31U;
  rlimit stack{};
  rlimit addresses{};
  return ::getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur >= kLeastStack &&
         ::getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur >= kLeastAddresses;
}

trace::Part part_of(const session::Ended& ended) {
  const trace::Totals& totals = ended.totals;
  auto tail = std::make_unique<trace::Tail>();
  tail->summary.add(totals.summary, ended.strings, tail->strings);
  tail->timeline.add(totals.timeline, ended.strings, tail->strings);
  tail->coverage.add(totals.coverage, ended.strings, tail->strings);
  for (trace::CounterRow row : totals.counters.rows) {
    for (std::uint32_t* code : {&row.layer, &row.name, &row.unit, &row.host})
      *code = tail->strings.code_or_null(ended.strings.view(*code));
    tail->counters.rows.push_back(row);
  }
  tail->processes = totals.processes;
  tail->threads = totals.threads;
  return {.directory = ended.directory,
          .manifest = totals.manifest,
          .recorder_lives = true,
          .files = {},
          .damaged = {},
          .tail = std::move(tail)};
}

Result<std::string> ask_rules(const session::Ended& ended) {
  FATHOM_ASSIGN(std::vector<analysis::Rule> rules, analysis::rules_for({}));
  // Only what has a gain can come first.
  std::erase_if(rules, [](const analysis::Rule& rule) { return rule.gain.empty(); });
  FATHOM_ASSIGN(analysis::Store store, analysis::Store::of_sums(part_of(ended)));
  FATHOM_ASSIGN(const std::vector<analysis::Insight> found, analysis::find_insights(store, rules));
  if (found.empty() || !found[0].gain_ns) return std::string();
  const analysis::Insight& first = found[0];
  const std::vector<std::string> texts = {first.rule, first.title,  first.says,
                                          first.gain, first.advice, std::to_string(*first.gain_ns)};
  return join(texts, std::string(1, kBetween));
}

[[noreturn]] void ask_in_child(const session::Ended& ended, int answer) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none{};
  ::setrlimit(RLIMIT_CORE, &none);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int stream = 0; stream < 3 && nothing >= 0; ++stream) ::dup2(nothing, stream);
  try {
    const Result<std::string> found = ask_rules(ended);
    if (found) (void)!::write(answer, found->data(), found->size());
  } catch (const std::exception&) {  // then there is no advice
  }
  ::_exit(0);
}

// What comes until the other side has closed; nothing where that is not within the time.
std::string read_all(int from) {
  const std::int64_t end = now_monotonic_ns() + kPatience;
  std::string text;
  while (true) {
    pollfd waiting{.fd = from, .events = POLLIN, .revents = 0};
    const std::int64_t left = (end - now_monotonic_ns()) / 1'000'000;
    if (left <= 0 || ::poll(&waiting, 1, static_cast<int>(left)) <= 0) return "";
    char buffer[4096];
    const ssize_t count = ::read(from, buffer, sizeof buffer);
    if (count < 0) return "";
    if (count == 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

std::optional<analysis::Insight> insight_of(const std::string& text) {
  const std::vector<std::string_view> texts = split(text, kBetween);
  if (texts.size() != kTexts) return std::nullopt;
  const Result<std::int64_t> gain = parse_int(texts.back());
  if (!gain) return std::nullopt;
  return analysis::Insight{.rule = std::string(texts[0]),
                           .title = std::string(texts[1]),
                           .says = std::string(texts[2]),
                           .gain_ns = *gain,
                           .gain = std::string(texts[3]),
                           .advice = std::string(texts[4]),
                           .place = {}};
}

}  // namespace

std::optional<analysis::Insight> first_advice(const session::Ended& ended) {
  if (!could_pay(ended.totals) || !has_room()) return std::nullopt;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const Fd from(ends[0]);
  Fd to(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) ask_in_child(ended, to.get());
  to.reset();
  if (child < 0) return std::nullopt;
  const std::string text = read_all(from.get());
  ::kill(child, SIGKILL);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return insight_of(text);
}

}  // namespace fathom::cli
