// SPDX-License-Identifier: MIT
// The recording lies in the outbox from the beginning, or in a scratch directory with --no-outbox;
// what was delivered, what waits and what was refused is told on stderr.
#include "cli/fleet/agent_recording.h"

#include <algorithm>

#include "base/files.h"
#include "base/ids.h"
#include "base/plural.h"
#include "base/text.h"
#include "cli/tell.h"
#include "fleet/recordings/recording_store.h"
#include "fleet/user_folders.h"

namespace fathom::cli {
namespace {

void tell_delivery(const fleet::RecordingDelivery& delivery, const fleet::StorePlace& place,
                   bool quiet) {
  for (const std::string& sentence : delivery.refused) remark(sentence);
  if (quiet) return;
  for (const std::string& name : delivery.delivered)
    remark("recording: fathom report " + escape_control(fleet::recording_word(place, name)));
  if (delivery.waiting > 0 && delivery.away)
    remark(delivery.away->message + ": " + counted(delivery.waiting, "recording") + " wait" +
           (delivery.waiting == 1 ? "s" : "") +
           " in the outbox for the next agent, or for 'fathom agent flush'");
  if (delivery.elsewhere > 0)
    remark(counted(delivery.elsewhere, "recording") + " in the outbox wait" +
           (delivery.elsewhere == 1 ? "s" : "") +
           " for another server; to send there: fathom agent flush --server URL");
}

Result<fleet::RecordingDelivery> send_all(const fleet::RecordingOutbox& outbox,
                                          const AgentArguments& a) {
  FATHOM_ASSIGN(const fleet::StorePlace place, fleet::find_store(a.store));
  FATHOM_ASSIGN(const std::unique_ptr<fleet::RecordingStore> store, fleet::open_recordings(place));
  fleet::RecordingDelivery delivery;
  FATHOM_TRY(outbox.send_waiting(*store, place.labels, delivery));
  tell_delivery(delivery, place, a.quiet);
  return delivery;
}

}  // namespace

// With an outbox the recording is made where it will wait, so that an agent which is killed leaves
// a draft and not a file in /tmp.
Result<AgentRecording> AgentRecording::begin(const AgentArguments& a) {
  AgentRecording recording;
  recording.name_ = fleet::new_recording_name(a.job);
  if (a.no_outbox) {
    FATHOM_ASSIGN(recording.scratch_,
                  ScratchDirectory::make(
                      join_path(scratch_directory(), "fathom-agent-" + random_id().substr(0, 12))));
    return recording;
  }
  FATHOM_ASSIGN(const std::string folder, fleet::state_folder());
  FATHOM_ASSIGN(recording.outbox_, fleet::RecordingOutbox::open(folder));
  FATHOM_ASSIGN(recording.draft_, recording.outbox_->begin(recording.name_));
  return recording;
}

std::string AgentRecording::directory() const {
  return draft_ ? draft_->directory() : join_path(scratch_.path(), "recording");
}

Status AgentRecording::hand_over(const AgentArguments& a) {
  FATHOM_ASSIGN(const fleet::StorePlace place, fleet::find_store(a.store));
  if (draft_) {
    FATHOM_TRY(outbox_->finish(*std::move(draft_), place.labels.front()));
    draft_.reset();
    FATHOM_TRY(send_all(*outbox_, a));
    return {};
  }
  FATHOM_ASSIGN(const std::unique_ptr<fleet::RecordingStore> store, fleet::open_recordings(place));
  FATHOM_TRY(fleet::add_recording(*store, name_, directory()));
  if (!a.quiet)
    remark("recording: fathom report " + escape_control(fleet::recording_word(place, name_)));
  return {};
}

Result<std::int64_t> send_waiting_recordings(const AgentArguments& a) {
  if (a.no_outbox) return 0;
  FATHOM_ASSIGN(const std::string folder, fleet::state_folder());
  if (!path_exists(join_path(folder, "outbox-recordings"))) return 0;
  FATHOM_ASSIGN(const fleet::RecordingOutbox outbox, fleet::RecordingOutbox::open(folder));
  FATHOM_ASSIGN(const fleet::RecordingDelivery delivery, send_all(outbox, a));
  return delivery.waiting;
}

}  // namespace fathom::cli
