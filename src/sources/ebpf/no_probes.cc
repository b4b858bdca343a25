// SPDX-License-Identifier: MIT
// In the place of probes.cc where the build had no compiler for BPF or no libbpf (cmake/bpf.cmake).
#include "sources/ebpf/kernel_types.h"
#include "sources/ebpf/probes.h"

#ifndef FATHOM_MISSING
#define FATHOM_MISSING "this build has no programs for the kernel"
#endif

namespace fathom::sources::ebpf {

class Probes::State {};

Result<Probes> Probes::load(const ProbeOptions& /*options*/) {
  return Error{Code::kUnsupported, FATHOM_MISSING, ""};
}

Probes::Probes(std::unique_ptr<State> state) : state_(std::move(state)) {}
Probes::Probes(Probes&&) noexcept = default;
Probes& Probes::operator=(Probes&&) noexcept = default;
Probes::~Probes() = default;

Status Probes::adopt(pid_t /*process*/) { return {}; }
Costs Probes::measure() { return {}; }
std::map<std::string, std::string> Probes::hooks() const { return {}; }
const std::vector<Unprobed>& Probes::unprobed() const {
  static const std::vector<Unprobed> none;
  return none;
}
bool Probes::knows_programs() const { return false; }
Status Probes::walk(const fathom_choice& /*choice*/) { return {}; }
Status Probes::stand(const fathom_choice& /*choice*/) { return {}; }
void Probes::detach() {}
int Probes::records_fd() const { return -1; }
void Probes::take_records(const RecordVisitor& /*visit*/) {}
std::vector<SumOfCalls> Probes::take_sums(std::uint32_t /*before_interval*/) { return {}; }
std::vector<std::uint32_t> Probes::age_files(std::uint32_t /*ages*/) { return {}; }
std::vector<std::uint64_t> Probes::losses() const { return {}; }

void begin_trials(const std::vector<fathom_bpf_layer>& /*layers*/) {}

std::vector<std::string> kernel_tracepoints() { return {}; }

Trial try_layer(fathom_bpf_layer /*layer*/) {
  return {.outcome = Trial::Outcome::kRefused, .reason = FATHOM_MISSING};
}

}  // namespace fathom::sources::ebpf
