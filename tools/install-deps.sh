#!/usr/bin/env bash
# Installs the Debian 12 packages that weft is built with; with --bench also the peers that weft_bench compares with.
# Does nothing, and uses no network, where all of them are there.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

packages=(
  g++ cmake ninja-build python3 clang-format                                        # to build and check
  libxbyak-dev llvm-19-dev libzstd-dev libsleef-dev libxxhash-dev zlib1g-dev                   # the engine
  nlohmann-json3-dev libcli11-dev                                                   # the program
  libgtest-dev libbenchmark-dev libmpfr-dev pkgconf dpkg-dev file                  # tests and benchmarks
  libpng-dev                                                                        # the photo example
)
peers=(libdnnl-dev libeigen3-dev libxtensor-dev libtorch-dev python3-torch python3-numpy python3-numexpr python3-matplotlib)

case "${1-}" in
  "") ;;
  --bench) packages+=("${peers[@]}") ;;
  *) fail "usage: tools/install-deps.sh [--bench]" ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "Not a Debian system: please see to these packages yourself: ${packages[*]}" >&2
  exit 0
fi

# dpkg-query complains of, and fails on, names it has never heard of; those are simply missing.
installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null || true)
missing=()
for package in "${packages[@]}"; do
  grep -qxF "$package installed" <<<"$installed" || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  echo "All ${#packages[@]} Debian packages are installed."
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || fail "not root and no sudo; as root, run: apt-get install ${missing[*]}"
  as_root=(sudo)
fi
say "Installing: ${missing[*]}"
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
# A repository that is out of reach must not stop an installation that the others can serve.
"${apt[@]}" update || echo "apt-get update failed; trying with the package lists at hand" >&2
"${apt[@]}" install -y --no-install-recommends "${missing[@]}"
