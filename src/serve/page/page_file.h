// SPDX-License-Identifier: MIT
// The page as one file without a server: its own bundle, and the answers to what it asks of a whole
// recording. `fathom export --format html` and /export?format=html write it.
//
// The answers are those of the routes, asked without a socket (inside_site.h): there is no second
// way to make them. web/src/inside/ reads them.
#pragma once

#include "base/result.h"
#include "render/export/byte_sink.h"
#include "serve/page/inside_site.h"

namespace fathom::serve {

// Writes everything, but does not finish the sink. Memory is that of one answer at a time; answers
// have 4 MB of text in all, see page_data.h.
Status write_page_file(const InsideWish& wish, render::ByteSink& to);

}  // namespace fathom::serve
