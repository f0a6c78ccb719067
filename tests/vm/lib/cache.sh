# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# cache.sh: the folder outside the tree that keeps what a boot needs. An entry is a folder with a
# SHA256SUMS; it is made beside its place and moved there once complete, so half of one never counts.

rig_cache=${SBX_CACHE:-/var/cache/sbx-rig}
rig_scratch=
# Raised when an entry's contents change: what an older rig left is then made anew.
rig_format=3

die() {
	printf 'rig: %s\n' "$*" >&2
	exit 1
}

usage_die() {
	printf 'rig: %s\n' "$*" >&2
	exit 2
}

say() {
	printf '# %s\n' "$*" >&2
}

need_tools() {
	local tool
	for tool in "$@"; do
		command -v "$tool" > /dev/null ||
			die "$tool is not installed: run 'make deps' or install the package that holds it"
	done
}

# The scratch folder lies in the cache, so that finished entries can be renamed into place.
cache_open() {
	mkdir -p "$rig_cache" 2> /dev/null || true
	[ -w "$rig_cache" ] ||
		die "cannot write '$rig_cache': run as root or set SBX_CACHE to a folder you own"
	exec {rig_lock}> "$rig_cache/.lock"
	flock "$rig_lock" || die "cannot lock '$rig_cache/.lock'"
	if [ "$(cat "$rig_cache/format" 2> /dev/null)" != "$rig_format" ]; then
		rm -rf -- "$rig_cache"/{qemu,root-*,kernel-*,btf-*}
		echo "$rig_format" > "$rig_cache/format"
	fi
	rig_scratch=$(mktemp -d "$rig_cache/.scratch-XXXXXX")
	trap cache_close EXIT
}

cache_close() {
	[ -z "$rig_scratch" ] || rm -rf -- "$rig_scratch"
	rig_scratch=
}

cache_unlock() {
	flock -u "$rig_lock"
}

cache_seal() {
	local sums=$rig_scratch/sums
	(cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum) > "$sums"
	mv "$sums" "$1/SHA256SUMS"
}

cache_verify() {
	(cd "$1" && sha256sum --quiet --strict -c SHA256SUMS) > /dev/null 2>&1 ||
		die "the cached '$1' does not match its checksums: remove it with 'rm -rf $1' and run again"
}

# cache_entry NAME MAKER [ARG…]: checks the entry, or makes it by MAKER FOLDER [ARG…].
cache_entry() {
	local name=$1 maker=$2
	local dir=$rig_cache/$name new=$rig_scratch/new-$name
	shift 2
	if [ -d "$dir" ]; then
		cache_verify "$dir"
		return
	fi
	say "making $dir (once)"
	mkdir "$new"
	"$maker" "$new" "$@"
	cache_seal "$new"
	mv "$new" "$dir"
}
