// SPDX-License-Identifier: MIT
// Each step that can fail comes before the one that somebody would notice: nothing is announced
// before it can be asked.
#include "serve/service.h"

#include <sys/resource.h>

#include <algorithm>
#include <ctime>

#include "base/file_limit.h"
#include "base/files.h"
#include "fleet/stores/server_note.h"
#include "serve/http/certificate.h"
#include "serve/http/last_resort.h"
#include "serve/http/tokens.h"
#include "serve/page/export_route.h"
#include "serve/recordings/stored_recordings.h"
#include "serve/routes/routes.h"

namespace fathom::serve {
namespace {

Status check_wire(const ServiceOptions& options) {
  if (options.certificate_file.empty() != options.key_file.empty())
    return usage_error("--cert and --key belong together", "give both");
  if (!options.certificate_file.empty() && options.self_signed)
    return usage_error("--self-signed makes a certificate: --cert brings another", "give one");
  const bool tls = !options.certificate_file.empty() || options.self_signed;
  if (tls && options.plain) return usage_error("--plain is without TLS", "leave it out");
  if (tls || options.plain) return {};
  FATHOM_ASSIGN(const bool loopback, is_loopback(options.listen));
  if (loopback) return {};
  return usage_error(
      "others can reach " + options.listen.host + ": tokens would cross the wire unencrypted",
      "use --cert and --key, --self-signed, or --plain if you mean it");
}

Result<std::optional<TlsKeys>> find_keys(const ServiceOptions& options) {
  if (options.self_signed) {
    FATHOM_ASSIGN(TlsKeys keys, own_keys(options.data));
    return std::optional(std::move(keys));
  }
  if (options.certificate_file.empty()) return std::optional<TlsKeys>();
  TlsKeys keys;
  FATHOM_ASSIGN(keys.certificate, read_file(options.certificate_file));
  FATHOM_ASSIGN(keys.key, read_file(options.key_file));
  return std::optional(std::move(keys));
}

// Some descriptors are the store's and the files' of long answers.
std::size_t most_connections(std::size_t wanted) {
  struct rlimit limit {};
  raise_file_limit();
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  return std::clamp<std::size_t>(static_cast<std::size_t>(limit.rlim_cur) / 2, 16, wanted);
}

// A note that cannot be left is no reason to serve nobody.
std::optional<fleet::LeftNote> leave_note(const fleet::ServerNote& note,
                                          const ServiceHooks& hooks) {
  Result<fleet::LeftNote> left = fleet::LeftNote::leave(note);
  if (left) return std::move(*left);
  hooks.trouble(left.error());
  return std::nullopt;
}

}  // namespace

Status serve(const ServiceOptions& options, const ServiceHooks& hooks) {
  FATHOM_TRY(check_wire(options));
  Limits limits = options.limits;
  std::optional<fleet::LeftNote> left;
  LastResort last_resort(limits.stop_time + 1s, [&left] { left.reset(); });
  limits.connections = most_connections(limits.connections);
  FATHOM_ASSIGN(const std::string own_token, make_token());
  FATHOM_ASSIGN(const std::string key, page_key(options.data));
  TokenBook tokens(options.data, own_token, key);
  Metrics metrics;
  Router router(tokens, metrics, limits);
  FATHOM_TRY(make_first_token(options.data));
  FATHOM_ASSIGN(const std::optional<TlsKeys> keys, find_keys(options));
  FATHOM_ASSIGN(Server server, Server::listen(router, options.listen, keys));
  FATHOM_ASSIGN(const std::unique_ptr<fleet::JobStore> store, hooks.open_store());
  FATHOM_ASSIGN(const std::unique_ptr<fleet::Recordings> recordings,
                fleet::Recordings::open(join_path(options.data, "recordings")));
  Arrivals arrivals([] { return static_cast<std::int64_t>(std::time(nullptr)); });
  const Subjects subjects{store.get(), &arrivals};
  add_job_routes(router, subjects);
  add_record_routes(router, subjects);
  add_recording_routes(router, *recordings);
  add_agent_routes(router, subjects);
  add_self_routes(router, subjects);
  FATHOM_ASSIGN(const WebFiles files, WebFiles::find());
  FATHOM_ASSIGN(const std::unique_ptr<StoredRecordings> stored,
                StoredRecordings::open(*recordings, options.data));
  OpenRecordings open_recordings(*stored, {}, {});
  RecordingCards cards({});
  LiveLooks looks({});
  add_page_data_routes(router, {&open_recordings, &cards, &looks, "server"});
  add_export_route(router, open_recordings);
  add_page_routes(router, files);
  Admission admission = admission_for(options.listen.host, server.is_open_to_all());
  for (const std::string& name : options.names) admission.hosts.add(name);
  admission.frees_programs = true;
  admission.cookie = "fathom-" + std::to_string(server.port());
  admission.is_secure = keys.has_value();
  router.admit(std::move(admission));
  fleet::ServerNote note{server.local_url(), own_token, ""};
  if (keys) {
    FATHOM_ASSIGN(note.fingerprint, fingerprint_of(*keys));
  }
  if (std::optional<fleet::LeftNote> made = leave_note(note, hooks)) left.emplace(std::move(*made));
  hooks.ready(server.url());
  server.when_stopping([&last_resort] { last_resort.begin(); });
  server.run();
  return {};
}

}  // namespace fathom::serve
