// SPDX-License-Identifier: MIT
// The profile of an application as files and words. Knows nothing of how it was made.
#pragma once

#include <string>

#include "analysis/application/profile.h"
#include "render/render.h"

namespace fathom::render {

// profile.json: docs/formats/profile.md.
[[nodiscard]] std::string profile_json(const analysis::Profile& profile);

// For a terminal; the table of functions comes last.
[[nodiscard]] std::string profile_text(const analysis::Profile& profile, const Style& style);

// profile.html: one page that loads nothing.
[[nodiscard]] std::string profile_html(const analysis::Profile& profile);

// What `kubectl patch --patch-file` takes: requests and limits of the container `name`
// ("": app), and the command for a deployment of the same name.
[[nodiscard]] std::string profile_patch(const analysis::Profile& profile, const std::string& name);

}  // namespace fathom::render
