// SPDX-License-Identifier: MIT
// `fathom server`, and `fathom server token`, which changes the file of tokens that the server
// reads. Nothing here serves: options become ServiceOptions, and the service opens store, door and
// page in an order of its own.
#include <cstdio>

#include "base/escape.h"
#include "base/files.h"
#include "base/memory_limit.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/parser.h"
#include "cli/tell.h"
#include "fleet/stores/checked_store.h"
#include "fleet/stores/open_store.h"
#include "fleet/user_folders.h"
#include "serve/http/tokens.h"
#include "serve/service.h"

namespace fathom::cli {
namespace {

struct Arguments {
  std::string token, action, name;  // `token add NAME`
  std::string listen = "127.0.0.1:10000";
  std::string store, data, role;
  bool is_volatile = false;
  serve::ServiceOptions service;
  OutputOptions output;
};

void declare(Parser& parser, Arguments& a) {
  parser.optional_positional("token", a.token, "manage tokens instead of serving: token ACTION");
  parser.optional_positional("ACTION", a.action, "add NAME, list or remove NAME");
  parser.optional_positional("NAME", a.name, "the name of the token");
  parser.option("--listen,--port", a.listen, "HOST:PORT",
                "address to listen on; port 0 takes a free one (default: 127.0.0.1:10000)");
  parser.option("--store", a.store, "STORE",
                "where jobs are kept: sqlite:FILE, redis://HOST:PORT/DB or redis+unix:PATH "
                "(default: sqlite:DIR/jobs.db)");
  parser.option("--data", a.data, "DIR",
                "directory of tokens, certificate and recordings (default: "
                "~/.local/share/fathom/server)");
  parser.option("--cert", a.service.certificate_file, "FILE", "certificate for TLS, in PEM");
  parser.option("--key", a.service.key_file, "FILE", "its private key, in PEM");
  parser.flag("--self-signed", a.service.self_signed,
              "use TLS with a certificate made in DIR; commands on this machine trust it");
  parser.flag("--plain", a.service.plain, "let other machines connect without TLS");
  parser.repeated("--name", a.service.names, "NAME",
                  "additional host name that browsers may use, besides that of --listen");
  parser.flag("--volatile", a.is_volatile,
              "accept a Redis that may lose what it has acknowledged (no AOF)");
  parser.option("--role", a.role, "ROLE", "token add: read, submit or admin");
  declare_output(parser, a.output);
}

Result<std::string> data_directory(const Arguments& a) {
  if (!a.data.empty()) return absolute_path(a.data);
  FATHOM_ASSIGN(const std::string folder, fleet::data_folder());
  return join_path(folder, "server");
}

// The token is printed once and kept by nobody: the file has its hash.
Result<int> add_token(const Arguments& a, const std::string& data) {
  const std::optional<serve::Role> role = serve::role_named(a.role);
  if (!role)
    return usage_error("--role must be read, submit or admin, not '" + escape_name(a.role) + "'");
  FATHOM_ASSIGN(const std::string token, serve::add_token(data, a.name, *role));
  FATHOM_TRY(print(token + "\n"));
  return 0;
}

Result<int> list_tokens(const Arguments& a, const std::string& data) {
  FATHOM_ASSIGN(const Output output, output_of(a.output));
  FATHOM_ASSIGN(const std::vector<serve::TokenEntry> entries, serve::list_tokens(data));
  Table table{"tokens", {{"name"}, {"role"}}, {}, ""};
  for (const serve::TokenEntry& entry : entries)
    table.rows.push_back({Value(entry.name), Value(std::string(name_of(entry.role)))});
  FATHOM_TRY(print(render::render(table, output.format, output.style)));
  return 0;
}

Result<int> manage_tokens(const Arguments& a) {
  if (a.token != "token")
    return usage_error("'" + escape_name(a.token) + "' is not an action of fathom server",
                       "did you mean 'fathom server token'?");
  const bool needs_name = a.action == "add" || a.action == "remove";
  if (!needs_name && a.action != "list")
    return usage_error("'" + escape_name(a.action) + "' is neither add, list nor remove");
  if (needs_name && a.name.empty()) return usage_error("token " + a.action + " needs a NAME");
  FATHOM_ASSIGN(const std::string data, data_directory(a));
  if (a.action == "list") return list_tokens(a, data);
  if (a.action == "add") return add_token(a, data);
  FATHOM_TRY(serve::remove_token(data, a.name));
  return 0;
}

// The line `ready URL` on stdout is for scripts that start a server and wait for it; it comes when
// requests are answered.
Result<int> run_server(Arguments& a) {
  FATHOM_ASSIGN(a.service.listen, fleet::parse_address(a.listen, "--listen"));
  if (!a.store.empty() && !fleet::is_store_address(a.store))
    return usage_error("--store cannot be '" + escape_name(a.store) + "'",
                       "use sqlite:FILE, redis://HOST:PORT/DB or redis+unix:PATH");
  FATHOM_ASSIGN(a.service.data, data_directory(a));
  if (a.store.empty()) a.store = "sqlite:" + join_path(a.service.data, "jobs.db");
  serve::ServiceHooks hooks;
  hooks.open_store = [&]() -> Result<std::unique_ptr<fleet::JobStore>> {
    fleet::StoreOptions options;
    options.is_volatile = a.is_volatile;
    FATHOM_ASSIGN(auto store, fleet::open_store(a.store, options));
    return fleet::checked(std::move(store));
  };
  hooks.ready = [](const std::string& url) {
    std::printf("ready %s\n", url.c_str());
    std::fflush(stdout);
  };
  hooks.trouble = [](const Error& error) { tell(error); };
  MemoryLimit().bound_process();  // the page's questions have half of it
  FATHOM_TRY(serve::serve(a.service, hooks));
  return 0;
}

Result<int> run(Parser& parser) {
  Arguments arguments;
  declare(parser, arguments);
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  return arguments.token.empty() ? run_server(arguments) : manage_tokens(arguments);
}

}  // namespace

extern const CommandDef kServerCommand;
const CommandDef kServerCommand = {
    .name = "server",
    .summary = "Keep the jobs of many machines and answer their clients, until Ctrl-C",
    .usage = "[OPTION…] | token add NAME --role ROLE | token list | token remove NAME",
    .example =
        "fathom server\n"
        "fathom server --listen 0.0.0.0:10000 --self-signed --data /srv/fathom\n"
        "fathom server --store redis://127.0.0.1:6379/0 --data /srv/fathom\n"
        "fathom server token add build-machine --role submit --data /srv/fathom",
    .run = run,
};

}  // namespace fathom::cli
