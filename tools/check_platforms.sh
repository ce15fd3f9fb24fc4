#!/usr/bin/env bash
# Builds wheels for platforms other than this machine's, and tests what emulators can run.
#
#   tools/check_platforms.sh FOLDER [PLATFORM...]        as root, on Debian with debootstrap
#
#   linux-aarch64    qemu runs the engine's tests, and tests of the package with Python for aarch64
#   windows          wine runs the engine's tests; the wheel is linked
#   macos            the wheels for arm64 and x86-64 are linked; nothing runs them
#   free-threaded    the wheel for 3.14t is linked; that for 3.15 and 3.15t is tested on 3.15
#
# FOLDER gets a Debian system of 5 GB with the newest Rust, cross compilers, qemu and wine. It is made
# in the first call, in some minutes, and kept. FOLDER/dist has the wheels. They are development
# builds: the workflow release.yml makes those for users.
#
# Everything comes from Debian, crates.io and PyPI. Debian has Rust's standard library for Linux only.
# So cargo compiles it for the other systems, from its source in the package rust-src.
set -euo pipefail

packages=(
    ca-certificates rustc cargo rust-src gcc libc6-dev
    python3-venv python3.15-venv
    gcc-aarch64-linux-gnu libc6-dev-arm64-cross libstd-rust-dev:arm64 qemu-user
    gcc-mingw-w64-x86-64 wine wine64
)

inside() { # inside SYSTEM COMMAND...: without variables of this machine
    env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
        chroot "$@"
}

make_system() {
    echo "Making a Debian system in $1"
    debootstrap --variant=minbase --include=ca-certificates sid "$1" >/dev/null
    # The network's settings, and the certificates that this machine trusts.
    cp /etc/resolv.conf "$1/etc/"
    cp /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/"
    # Mirrors may lag.
    echo 'Acquire::Check-Valid-Until "false";' >"$1/etc/apt/apt.conf.d/99mirror"
    inside "$1" dpkg --add-architecture arm64
    inside "$1" apt-get update -qq
    inside "$1" apt-get install -qq -y --no-install-recommends "${packages[@]}" >/dev/null
    inside "$1" python3 -m venv /venv
    inside "$1" /venv/bin/pip install --quiet 'maturin>=1.14,<2' ziglang
    inside "$1" python3.15 -m venv /venv-3.15
    inside "$1" /venv-3.15/bin/pip install --quiet --only-binary :all: "${test_packages[@]}"
    touch "$1/ready"
}

# --- in that system ---

# Tests of the package that need no other libraries, and no other processes: qemu runs only one.
test_packages=(hypothesis joblib mpmath numpy pandas pytest scikit-learn scipy)
python_tests=(
    tests/execution/test_direct_calls.py tests/execution/test_workers.py tests/games tests/kernels
    --ignore=tests/games/test_background_input.py --ignore=tests/games/test_groups.py
)

wheel() { # wheel TARGET PYTHON [OPTION...]
    maturin build --quiet --out /dist --target "$1" --interpreter "$2" "${@:3}"
}

# Cargo compiles the standard library (-Z build-std) only as a nightly version, or if it is told that
# it is one (RUSTC_BOOTSTRAP).

check_linux_aarch64() {
    local target=aarch64-unknown-linux-gnu
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
    cargo test --quiet --package pkex-core --target $target
    wheel $target python3.11 --profile quick --zig --compatibility manylinux_2_17

    # Python and libraries for aarch64, unpacked where they get in nobody's way.
    local root=/aarch64 version
    version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    if [ ! -e $root/ready ]; then
        mkdir -p $root/packages
        (cd $root/packages && apt-get download -qq $(packages_of python3:arm64))
        for package in $root/packages/*.deb; do dpkg -x "$package" $root; done
        pip install --quiet --target $root/libraries --only-binary :all: --python-version "$version" \
            --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 \
            --platform manylinux2014_aarch64 "${test_packages[@]}"
        touch $root/ready
    fi
    rm -rf $root/libraries/pkex*
    pip install --quiet --target $root/libraries --no-deps --python-version "$version" \
        --platform manylinux2014_aarch64 --only-binary :all: /dist/pkex-*aarch64.whl
    PYTHONPATH=$root/libraries qemu-aarch64 -L $root "$root/usr/bin/python$version" -m pytest -q \
        -p no:cacheprovider "${python_tests[@]}"
}

packages_of() { # the foreign packages that a package requires, and itself
    apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
        --no-replaces --no-enhances "$1" | grep '^[^ <|]*:arm64$' | sort -u
}

check_windows() {
    local target=x86_64-pc-windows-gnu
    export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=wine WINEDEBUG=-all WINEPREFIX=/tmp/wine
    # Optimized as in wheels: otherwise functions remain that call `fma` of MinGW, which is inexact.
    RUSTC_BOOTSTRAP=1 cargo test --quiet --release --package pkex-core --target $target -Z build-std
    RUSTC_BOOTSTRAP=1 wheel $target python3.11 -Z build-std
}

check_macos() {
    local target
    for target in aarch64-apple-darwin x86_64-apple-darwin; do
        RUSTC_BOOTSTRAP=1 wheel $target python3.11 --zig -Z build-std=std,panic_abort
    done
}

check_free_threaded() {
    local target=x86_64-unknown-linux-gnu
    wheel $target python3.14t
    wheel $target /venv-3.15/bin/python --profile quick
    /venv-3.15/bin/pip install --quiet --no-deps --force-reinstall /dist/pkex-*-cp315-abi3.abi3t-*linux*.whl
    /venv-3.15/bin/python -m pytest -q -p no:cacheprovider "${python_tests[@]}"
}

# --- here ---

if [ "$1" = --inside ]; then
    shift
    cd /project
    export PATH=/venv/bin:$PATH
    for platform; do
        echo "== $platform"
        "check_${platform//-/_}"
    done
    ls /dist
    exit
fi

system=$1
shift
(($#)) || set -- linux-aarch64 windows macos free-threaded
cd "$(dirname "$0")/.."
mkdir -p "$system"
[ -e "$system/ready" ] || make_system "$system"
mkdir -p "$system/project"
git ls-files -z --cached --others --exclude-standard |
    tar --null --files-from=- -cf - | tar -C "$system/project" -xf -
# /proc is mounted for these processes only.
export -f inside
unshare --mount bash -ec 'mount -t proc proc "$0/proc"
    inside "$0" bash /project/tools/check_platforms.sh --inside "$@"' "$system" "$@"
