// SPDX-License-Identifier: MIT
// /api/v1/recordings/…/export: above the other routes, whose answers are in the file that is the
// page.
#pragma once

#include "serve/http/router.h"
#include "serve/recordings/open_recordings.h"

namespace fathom::serve {

void add_export_route(Router& router, OpenRecordings& recordings);

}  // namespace fathom::serve
