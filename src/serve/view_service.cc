// SPDX-License-Identifier: MIT
// A server of one user for one look: its token is made anew at each start and kept nowhere.
#include "serve/view_service.h"

#include "serve/http/last_resort.h"
#include "serve/http/tokens.h"
#include "serve/page/export_route.h"
#include "serve/routes/routes.h"

namespace fathom::serve {
namespace {

// A person and some tabs.
Limits small_limits() {
  Limits limits;
  limits.connections = 256;
  limits.streams = 32;
  limits.body_bytes = std::size_t{4} << 20;
  limits.memory = std::size_t{64} << 20;
  limits.stop_time = 2s;
  return limits;
}

Result<Server> open_door(Router& router, const ViewServiceOptions& options) {
  if (options.socket.empty()) return Server::listen(router, options.listen, std::nullopt);
  FATHOM_ASSIGN(UnixListener listener, listen_at(options.socket));
  return Server::take(router, std::move(listener));
}

// Where ssh on this machine connects to. An address that stands for all of them is no place to
// connect to: Server::local_url() has one of this machine in its stead.
Result<std::string> local_place(const Server& server, const ViewServiceOptions& options) {
  if (server.port() == 0) return absolute_path(options.socket);
  const std::string url = server.local_url();
  return url.substr(url.find("//") + 2);
}

}  // namespace

Status serve_view(const ViewServiceOptions& options,
                  const std::function<void(const ViewAddress& address)>& ready) {
  LastResort last_resort(small_limits().stop_time + 1s, {});
  FATHOM_ASSIGN(const std::string token, make_token());
  FATHOM_ASSIGN(const std::string key, make_token());
  TokenBook tokens("", token, key);
  Metrics metrics;
  Router router(tokens, metrics, small_limits());
  FATHOM_ASSIGN(const WebFiles files, WebFiles::find());
  FATHOM_ASSIGN(Server server, open_door(router, options));
  Admission admission = admission_for(options.listen.host, server.is_open_to_all());
  admission.cookie =
      "fathom-" + (server.port() != 0 ? std::to_string(server.port()) : key.substr(0, 8));
  router.admit(std::move(admission));
  NamedRecordings places(options.traces);
  OpenRecordings recordings(places, options.names, options.limits);
  RecordingCards cards(options.names);
  LiveLooks looks(options.names);
  add_page_data_routes(router, {&recordings, &cards, &looks, "view", options.not_shown});
  add_export_route(router, recordings);
  add_page_routes(router, files);
  add_description_route(router);
  FATHOM_ASSIGN(std::string local, local_place(server, options));
  ready({.url = server.url() + "/?token=" + token,
         .token = token,
         .port = server.port(),
         .local = std::move(local),
         .stop = [&server] { server.stop(); }});
  server.when_stopping([&last_resort] { last_resort.begin(); });
  server.run();
  return {};
}

}  // namespace fathom::serve
