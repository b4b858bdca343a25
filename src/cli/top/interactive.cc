// SPDX-License-Identifier: MIT
// The loop of `fathom top` on a terminal: look at the recording when it is due, draw, wait for
// keys. The rest after a look lasts at least nine times the CPU time that the look took.
#include "cli/top/interactive.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.h"
#include "cli/question_guard.h"
#include "cli/tell.h"
#include "cli/top/screen.h"
#include "cli/top/terminal.h"
#include "cli/top/view.h"

namespace fathom::cli::top {
namespace {

// A look takes a tenth of the time at most.
constexpr std::int64_t kRestByWork = 9;

class Watching {
 public:
  Watching(Terminal& terminal, TopSource& source, std::int64_t interval_ns)
      : terminal_(terminal), source_(source), interval_(interval_ns) {}

  // What to say when it is over; an Error ends it, too.
  Result<std::string> run(int& ended_by) {
    for (;;) {
      FATHOM_TRY(look_when_due());
      FATHOM_TRY(show());
      if (!page_.end.empty()) return page_.end;
      const Terminal::Happened happened = terminal_.wait(rest_ns());
      if (happened.ended_by != 0 || happened.hung_up) {
        ended_by = happened.ended_by;
        return std::string();
      }
      for (const Key key : happened.keys) {
        const std::string inside = view_.inside();
        if (view_.press(key, page_, visible_) == View::Next::kQuit) return std::string();
        if (view_.inside() != inside) next_ = 0;
        rearrange();
      }
    }
  }

 private:
  Status look_when_due() {
    if (view_.paused() || now_monotonic_ns() < next_) return {};
    const std::int64_t cpu = now_thread_cpu_ns();
    FATHOM_TRY(source_.look(view_.inside()));
    const std::int64_t used = now_thread_cpu_ns() - cpu;
    next_ = now_monotonic_ns() + std::max(interval_, used * kRestByWork);
    return {};
  }

  // A first look has no rates: the second comes soon.
  [[nodiscard]] std::int64_t rest_ns() const {
    if (view_.paused()) return interval_;
    return std::max<std::int64_t>(0, next_ - now_monotonic_ns());
  }

  void rearrange() {
    page_ = source_.page(view_.inside());
    view_.arrange(page_);
  }

  Status show() {
    rearrange();
    const Screen screen = draw(page_, view_, Terminal::size(), Terminal::style());
    visible_ = screen.visible;
    return Terminal::draw(screen.lines);
  }

  Terminal& terminal_;
  TopSource& source_;
  std::int64_t interval_;
  View view_;
  Page page_;
  std::size_t visible_ = 0;
  std::int64_t next_ = 0;
};

}  // namespace

Result<int> watch_on_terminal(const OpensSource& open, std::int64_t interval_ns) {
  FATHOM_ASSIGN(std::unique_ptr<Terminal> terminal, Terminal::open());
  Result<std::unique_ptr<TopSource>> source = open();
  if (!source) return std::move(source).error();
  int ended_by = 0;
  Result<std::string> said = Watching(*terminal, **source, interval_ns).run(ended_by);
  terminal.reset();
  if (!said) return std::move(said).error();
  if (ended_by != 0) die_of(ended_by);
  if (!said->empty()) FATHOM_TRY(print(*said + "\n"));
  return 0;
}

}  // namespace fathom::cli::top
