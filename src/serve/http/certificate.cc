// SPDX-License-Identifier: MIT
// An elliptic key (P-256) and a certificate for this machine's names, by OpenSSL's interface.
// Nobody has signed it, so clients do not ask an authority: they know it by its fingerprint. That
// is why it may be valid for ten years, and why it is kept: another one would be a stranger to
// every agent.
#include "serve/http/certificate.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <array>
#include <memory>

#include "base/files.h"
#include "base/hex.h"
#include "base/own_file.h"

namespace fathom::serve {
namespace {

constexpr std::size_t kLargestFile = std::size_t{64} << 10;
constexpr long kSecondsValid = 10L * 365 * 24 * 3600;

using Bio = std::unique_ptr<BIO, decltype(&::BIO_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&::X509_free)>;
using Extension = std::unique_ptr<X509_EXTENSION, decltype(&::X509_EXTENSION_free)>;

Error failed() { return {Code::kIo, "OpenSSL could not make a certificate", ""}; }

std::string content_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data()
                                                                             : "localhost";
}

bool add_extension(X509* certificate, int kind, const std::string& text) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const Extension extension(::X509V3_EXT_conf_nid(nullptr, &context, kind, text.c_str()),
                            &::X509_EXTENSION_free);
  return extension && ::X509_add_ext(certificate, extension.get(), -1) == 1;
}

// Drawn, since browsers refuse two certificates of one issuer with the same number. Positive, as
// the standard wants: hence one bit less.
bool set_serial(X509* certificate) {
  std::array<unsigned char, 8> bytes;
  if (::RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return false;
  std::uint64_t number = 0;
  for (const unsigned char byte : bytes) number = number << 8U | byte;
  return ::ASN1_INTEGER_set_uint64(::X509_get_serialNumber(certificate), number >> 1U) == 1;
}

// Valid from an hour ago: clocks of other machines may be behind. Not an authority (CA:FALSE): it
// can vouch for nobody else.
bool fill(X509* certificate, EVP_PKEY* key) {
  const std::string name = host_name();
  X509_NAME* subject = ::X509_get_subject_name(certificate);
  const auto* text = reinterpret_cast<const unsigned char*>(name.c_str());
  return ::X509_set_version(certificate, 2) == 1 && set_serial(certificate) &&
         ::X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) != nullptr &&
         ::X509_gmtime_adj(X509_getm_notAfter(certificate), kSecondsValid) != nullptr &&
         ::X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, text, -1, -1, 0) == 1 &&
         ::X509_set_issuer_name(certificate, subject) == 1 &&
         ::X509_set_pubkey(certificate, key) == 1 &&
         add_extension(certificate, NID_subject_alt_name,
                       "DNS:" + name + ",DNS:localhost,IP:127.0.0.1,IP:::1") &&
         add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE") &&
         ::X509_sign(certificate, key, ::EVP_sha256()) > 0;
}

Result<TlsKeys> make_keys() {
  const Key key(EVP_EC_gen("P-256"), &::EVP_PKEY_free);
  const Certificate certificate(::X509_new(), &::X509_free);
  const Bio key_text(::BIO_new(::BIO_s_mem()), &::BIO_free);
  const Bio certificate_text(::BIO_new(::BIO_s_mem()), &::BIO_free);
  if (!key || !certificate || !key_text || !certificate_text) return failed();
  if (!fill(certificate.get(), key.get())) return failed();
  if (::PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                 nullptr) != 1 ||
      ::PEM_write_bio_X509(certificate_text.get(), certificate.get()) != 1)
    return failed();
  return TlsKeys{content_of(certificate_text.get()), content_of(key_text.get())};
}

}  // namespace

// The key is written first: a certificate without its key would be found at the next start and
// refused.
Result<TlsKeys> own_keys(const std::string& directory) {
  const std::string certificate_path = join_path(directory, "server.crt");
  const std::string key_path = join_path(directory, "server.key");
  if (path_exists(certificate_path) && path_exists(key_path)) {
    TlsKeys keys;
    FATHOM_ASSIGN(keys.certificate, read_private_file(certificate_path, kLargestFile));
    FATHOM_ASSIGN(keys.key, read_private_file(key_path, kLargestFile));
    return keys;
  }
  FATHOM_ASSIGN(TlsKeys keys, make_keys());
  FATHOM_TRY(write_file_atomic(key_path, keys.key, 0600));
  FATHOM_TRY(write_file_atomic(certificate_path, keys.certificate, 0600));
  return keys;
}

Result<std::string> fingerprint_of(const TlsKeys& keys) {
  const Bio text(
      ::BIO_new_mem_buf(keys.certificate.data(), static_cast<int>(keys.certificate.size())),
      &::BIO_free);
  const Certificate certificate(
      text ? ::PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr) : nullptr, &::X509_free);
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> hash;
  unsigned size = 0;
  if (!certificate || ::X509_digest(certificate.get(), ::EVP_sha256(), hash.data(), &size) != 1)
    return Error{Code::kInvalid, "the file of --cert holds no certificate in PEM", ""};
  return to_hex(std::span(hash).first(size));
}

}  // namespace fathom::serve
