#!/bin/sh
# For the gpu shell: prints the settings that let wheels find NVIDIA's driver. On NixOS it lies at $TIEBREAK_DRIVER.
# Elsewhere the host's libraries do, among others that must not meet Nix's: only the driver's are linked into a folder.
set -eu

root=$(CDPATH='' cd "$(dirname "$0")/.." && pwd -P)
links=$root/.cache/driver
folders=${TIEBREAK_DRIVER_FOLDERS:-"/usr/lib/$(uname -m)-linux-gnu /usr/lib64 /usr/lib /usr/lib/wsl/lib
    /usr/local/nvidia/lib64"}

if [ -e "$TIEBREAK_DRIVER/libcuda.so.1" ]; then
    exit
fi
for folder in $folders; do
    if [ -e "$folder/libcuda.so.1" ]; then
        rm -rf "$links"
        mkdir -p "$links"
        for library in "$folder"/libcuda.so* "$folder"/libnvidia-*.so*; do
            [ ! -e "$library" ] || ln -s "$library" "$links"
        done
        echo "export LD_LIBRARY_PATH='$links':\"\$LD_LIBRARY_PATH\" TRITON_LIBCUDA_PATH='$links'"
        exit
    fi
done
echo "gpu shell: libcuda.so.1 is neither in $TIEBREAK_DRIVER nor in one of $folders: install NVIDIA's driver, or name" \
    "its folder in TIEBREAK_DRIVER_FOLDERS. Without it no GPU is seen; the shell is entered all the same." >&2
