// SPDX-License-Identifier: MIT
// `fathom job recordings`, `add-recording` and `remove-recording`: recordings that a server keeps,
// or that lie beside this user's own jobs.
#include "base/file_limit.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/far_trace.h"
#include "cli/fleet/job_arguments.h"
#include "cli/named_trace.h"
#include "cli/tell.h"
#include "fleet/recordings/recording_outbox.h"
#include "fleet/recordings/recording_store.h"

namespace fathom::cli {

Result<int> list_recordings(fleet::JobStore& /*store*/, const JobArguments& a) {
  FATHOM_ASSIGN(const fleet::StorePlace place, fleet::find_store(a.store));
  FATHOM_ASSIGN(const std::unique_ptr<fleet::RecordingStore> store, fleet::open_recordings(place));
  FATHOM_ASSIGN(const std::vector<std::string> names, store->names());
  Table table;
  table.columns = {{.name = "name"}, {.name = "recording"}};
  for (const std::string& name : names)
    table.rows.push_back({name, fleet::recording_word(place, name)});
  if (names.empty())
    table.note = "there are no recordings; 'fathom job add-recording DIR' adds one";
  FATHOM_TRY(print(render::render(table, a.output.format, a.output.style)));
  return 0;
}

// The words of the command are a recording and, perhaps, the name that it gets.
Result<int> add_recording_of_user(fleet::JobStore& /*store*/, const JobArguments& a) {
  if (is_far_trace(a.job))
    return Error{Code::kUnsupported, "a recording on a server cannot be copied to another",
                 "add it where it was recorded"};
  FATHOM_ASSIGN(const std::string directory, find_trace(a.job));
  FATHOM_ASSIGN(const std::string path, absolute_path(directory));
  std::string name = a.other.empty() ? std::string(base_name(path)) : a.other;
  if (a.other.empty() && name.ends_with(".fathom")) name.resize(name.size() - 7);
  if (!fleet::is_job_name(name))
    return Error{Code::kInvalid, "'" + escape_control(name) + "' cannot be a recording's name",
                 "give it one: fathom job add-recording DIR NAME"};
  FATHOM_ASSIGN(const fleet::StorePlace place, fleet::find_store(a.store));
  FATHOM_ASSIGN(const std::unique_ptr<fleet::RecordingStore> store, fleet::open_recordings(place));
  raise_file_limit();
  FATHOM_TRY(fleet::add_recording(*store, name, path));
  FATHOM_TRY(print(fleet::recording_word(place, name) + "\n"));
  return 0;
}

Result<int> remove_recording(fleet::JobStore& /*store*/, const JobArguments& a) {
  FATHOM_ASSIGN(const fleet::StorePlace place, fleet::find_store(a.store));
  FATHOM_ASSIGN(const std::unique_ptr<fleet::RecordingStore> store, fleet::open_recordings(place));
  FATHOM_TRY(store->manifest(a.job));  // one that does not exist is no question
  if (!a.yes && !asks_yes("Remove recording " + a.job + "?"))
    return usage_error("recording '" + a.job + "' was not removed",
                       "to remove it: fathom job remove-recording " + a.job + " --yes");
  FATHOM_TRY(store->remove(a.job));
  return 0;
}

}  // namespace fathom::cli
