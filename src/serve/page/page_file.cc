// SPDX-License-Identifier: MIT
// Scripts and styles run by their hash alone: whatever a name in the data becomes, it runs nothing.
// Without scripts the report's sentences and the run's facts are there as text.
#include "serve/page/page_file.h"

#include <openssl/evp.h>

#include <array>
#include <utility>

#include "base/version.h"
#include "fleet/http/encodings.h"
#include "render/export/html_charts.h"
#include "render/export/html_page.h"
#include "serve/page/page_data.h"
#include "serve/routes/web_files.h"

namespace fathom::serve {
namespace {

// As a Content-Security-Policy names what may run.
std::string source_of(std::string_view content) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned length = 0;
  EVP_Digest(content.data(), content.size(), hash.data(), &length, EVP_sha256(), nullptr);
  return "'sha256-" + fleet::base64({reinterpret_cast<const char*>(hash.data()), length}) + "'";
}

// The bundle of the page, as parts of a document.
struct Bundle {
  std::string script, style, icon, questions;
};

// As a browser reads it: its lines end in \n. `end` would end the element that it stands in.
Result<std::string> part_of(const WebFiles& files, const char* name, std::string_view end) {
  const WebFile* const file = files.file(name);
  if (file == nullptr)
    return Error{Code::kUnsupported,
                 "this build of Fathom has no page: " + std::string(name) + " is missing",
                 "build it as CONTRIBUTING.md says, or write another format"};
  FATHOM_ASSIGN(std::string content, file->content());
  std::erase(content, '\r');
  if (!end.empty() && content.find(end) != std::string::npos)
    return Error{Code::kCorrupt, "the page's " + std::string(name) + " cannot stand in a document",
                 ""};
  return content;
}

Result<Bundle> bundle_of(const WebFiles& files) {
  Bundle bundle;
  FATHOM_ASSIGN(bundle.script, part_of(files, "/page.js", "</script"));
  FATHOM_ASSIGN(bundle.style, part_of(files, "/page.css", "</style"));
  FATHOM_ASSIGN(bundle.icon, part_of(files, "/icon.svg", ""));
  FATHOM_ASSIGN(bundle.questions, part_of(files, "/questions.json", ""));
  return bundle;
}

std::string head_of(const Bundle& bundle, const std::string& title) {
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src " +
         source_of(bundle.script) + "; style-src " + source_of(bundle.style) +
         "; img-src data:; base-uri 'none'; form-action 'none'\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"generator\" "
         "content=\"Fathom " +
         std::string(version()) + "\">\n<title>" + render::html_text(title) +
         "</title>\n<link rel=\"icon\" href=\"data:image/svg+xml;base64," +
         fleet::base64(bundle.icon) + "\">\n<style>" + bundle.style + "</style>\n</head>\n";
}

// The page's script takes it away when it can show more.
std::string words_of(const PageWords& said) {
  return "<main id=\"without-script\"><h1>" + render::html_text(said.title) + "</h1>\n" +
         render::page_words(said.words) + render::page_facts(said.facts) +
         "<p>Pictures and tables of this file are drawn by its own script: open it in a browser "
         "that "
         "runs scripts. Nothing is loaded from elsewhere.</p></main>\n";
}

}  // namespace

Status write_page_file(const InsideWish& wish, render::ByteSink& to) {
  FATHOM_ASSIGN(const WebFiles files, WebFiles::find());
  FATHOM_ASSIGN(const Bundle bundle, bundle_of(files));
  InsideSite site(wish);
  PageData data(site, wish.recording, bundle.questions);
  FATHOM_ASSIGN(const PageWords said, data.words());
  render::SinkBuffer buffer(to);
  buffer.text() += head_of(bundle, said.title) + "<body>\n<div id=\"page\"></div>\n" +
                   words_of(said) + "<script type=\"application/json\" id=\"fathom-data\">";
  FATHOM_TRY(data.write(buffer));
  buffer.text() +=
      "</script>\n<script type=\"module\">" + bundle.script + "</script>\n</body>\n</html>\n";
  return buffer.flush();
}

}  // namespace fathom::serve
