# Sourced by the scripts in tools/: finds and installs what the build needs.
# shellcheck shell=bash

build_packages=(g++ meson ninja-build pkg-config python3 libfmt-dev zlib1g-dev libssl-dev nlohmann-json3-dev
  libcli11-dev libboost-context-dev)
test_packages=(catch2)
lint_packages=(clang clang-format clang-tidy)

# install_packages NAME...: on Debian and Ubuntu installs those that are missing; elsewhere prints the list.
install_packages() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    printf 'This is not Debian or Ubuntu. Please install the equivalents of:\n  %s\n' "$*"
    return 0
  fi
  local missing=() name
  for name in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
      printf 'Missing packages, and no right to install them. As root:\n  apt-get install %s\n' "${missing[*]}" >&2
      return 2
    fi
    as_root=(sudo)
  fi
  printf 'installing: %s\n' "${missing[*]}"
  local log
  log=$(mktemp)
  if ! { "${as_root[@]}" apt-get update -q &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${missing[@]}"; } \
    >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

# has_gpu: nvidia-smi lists one.
has_gpu() { nvidia-smi -L 2>/dev/null | grep -q '^GPU'; }

# configure FOLDER OPTION...: sets up a build folder, or brings an existing one up to date. Meson's words are shown only
# where it fails.
configure() {
  local folder=$1 again=
  shift
  # `meson configure` would not know an option that is newer than the folder.
  [ ! -f "$folder/build.ninja" ] || again=--reconfigure
  meson setup $again "$folder" "$@" >"$folder.log" 2>&1 || { cat "$folder.log"; rm -f "$folder.log"; return 1; }
  mv "$folder.log" "$folder/configure.log"
}
