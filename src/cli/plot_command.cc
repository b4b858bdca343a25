// SPDX-License-Identifier: MIT
// `fathom plot`: a run as one picture. Under the name plotstats the program draws what Waggle's
// plotstats.py drew (plotstats_door.h).
#include <string>

#include "analysis/application/picture.h"
#include "analysis/store.h"
#include "base/files.h"
#include "cli/command.h"
#include "cli/named_trace.h"
#include "cli/open_trace.h"
#include "cli/parser.h"
#include "cli/svg_png.h"
#include "render/plot_svg.h"

namespace fathom::cli {
namespace {

Result<int> run(Parser& parser) {
  std::string trace, output;
  parser.positional("TRACE", trace,
                    "a recording, 'last', or a directory with ftimes.csv, ltimes.csv and stats.csv "
                    "of Waggle's profiler");
  parser.option("-o,--output", output, "FILE", "picture to write: its name ends in .svg or .png");
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  const bool png = output.ends_with(".png");
  if (!png && !output.ends_with(".svg"))
    return usage_error(
        output.empty() ? "no picture was named" : "the name of a picture must end in .svg or .png",
        "name it with -o x.svg or -o x.png");
  FATHOM_ASSIGN(const std::string path, find_trace(trace));
  FATHOM_ASSIGN(analysis::Store store, open_store(path));
  FATHOM_ASSIGN(analysis::Picture picture, analysis::picture_of(store));
  if (picture.curves.empty() && picture.bars.empty())
    return Error{Code::kNotFound, trace + " has neither resources nor functions",
                 "record them: fathom run --layers +python -- …"};
  if (picture.title.empty()) picture.title = std::string(base_name(trace));
  const std::string svg = render::plot_svg(picture);
  FATHOM_TRY(png ? write_png(svg, output) : write_file_atomic(output, svg));
  return 0;
}

}  // namespace

extern const CommandDef kPlotCommand;
const CommandDef kPlotCommand = {
    .name = "plot",
    .summary = "Draw how busy CPUs and memory were, and which functions and loops ran",
    .usage = "TRACE -o FILE.svg|FILE.png",
    .example = "fathom plot run.fathom -o run.svg\nfathom plot profile_output -o run.png",
    .run = run,
};

}  // namespace fathom::cli
