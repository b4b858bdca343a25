// SPDX-License-Identifier: MIT
// Refuses mounts that would hand a container more than files: the root, the kernel's file systems,
// and folders that lead to an engine's socket.
#include "containers/safe_mount.h"

#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "containers/private_mount.h"

namespace fathom::containers {
namespace {

constexpr std::string_view kKernels[] = {"/proc", "/sys", "/dev"};

bool is_at_or_below(std::string_view path, std::string_view top) {
  if (top == "/") return true;
  return path == top || (path.starts_with(top) && path[top.size()] == '/');
}

Error unsafe(const std::string& path, const std::string& why) {
  return {Code::kInvalid, "a container must not have " + escape_control(path) + why, ""};
}

// The engine's own, and where engines usually listen.
std::vector<std::string> sockets(const std::string& engine_socket) {
  std::vector<std::string> found;
  for (const std::string& path :
       {engine_socket, std::string("/var/run/docker.sock"), std::string("/run/podman/podman.sock"),
        std::string("/run/containerd/containerd.sock")}) {
    const Result<std::string> real = real_path(path);
    if (real) found.push_back(*real);
  }
  return found;
}

}  // namespace

Result<std::string> safe_source(const std::string& source, const std::string& engine_socket) {
  const Result<std::string> real = real_path(source);
  if (!real)
    return Error{Code::kInvalid, escape_control(source) + " does not exist and cannot be mounted",
                 ""};
  if (*real == "/") return unsafe("/", ", the whole machine");
  for (const std::string_view kernels : kKernels) {
    if (is_at_or_below(*real, kernels)) return unsafe(*real, ", which is the kernel's");
  }
  for (const std::string& socket : sockets(engine_socket)) {
    if (is_at_or_below(socket, *real))
      return unsafe(*real, ": it leads to the engine's socket, and with it to the whole machine");
  }
  return *real;
}

Status check_target(const std::string& target) {
  const Result<std::string> plain = absolute_path(target);
  if (!target.starts_with('/') || !plain || target.find('\0') != std::string::npos)
    return Error{Code::kInvalid, "'target' must be an absolute path", ""};
  if (*plain == "/") return Error{Code::kInvalid, "'target' must not be the container's root", ""};
  for (const std::string_view kernels : kKernels) {
    if (is_at_or_below(*plain, kernels) && *plain != "/dev/shm")
      return Error{Code::kInvalid, "'target' must not be in " + std::string(kernels), ""};
  }
  if (is_at_or_below(*plain, kPrivateTarget))
    return Error{Code::kInvalid, "'target' must not be in " + std::string(kPrivateTarget), ""};
  return {};
}

}  // namespace fathom::containers
