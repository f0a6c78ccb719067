# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Real programs: the upstream source of a Debian package is built and tested twice in the same directory, bare and
# below `sbxctl run -p none`; the outcome has to be the same. Sources, and the bare outcome of each source and recipe,
# are kept in $SBX_CACHE/sources, since neither changes from one day to the next. Sourced after lib.sh.

REAL_CACHE=${SBX_CACHE:-/var/cache/sbx-rig}/sources
REAL_MIRROR=${SBX_MIRROR:-http://deb.debian.org/debian}
REAL_KEYS=/usr/share/keyrings/debian-archive-keyring.gpg

# An apt state of its own: the host's sources need no deb-src line and are not touched.
real_apt() {
	local state=$REAL_CACHE/apt tool=$1
	shift
	"$tool" -q -o Dir::Etc::SourceList="$state/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$state/lists" -o Dir::Cache="$state/cache" -o APT::Sandbox::User=root \
		-o Acquire::Retries=2 -o Acquire::http::Timeout=20 "$@"
}

real_lists() {
	local state=$REAL_CACHE/apt
	[ -z "$(find "$state/lists" -name '*_Sources*' -mtime -7 2>/dev/null)" ] || return 0
	mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
	printf "deb-src [signed-by=$REAL_KEYS] $REAL_MIRROR %s main\n" bookworm trixie >"$state/sources.list"
	real_apt apt-get update >"$T/apt.log" 2>&1 ||
		skip "no package server: $REAL_MIRROR does not answer ($(grep -m1 '^[EW]:' "$T/apt.log"))"
}

# real_source PACKAGE: sets $REAL_TARBALL, the upstream tarball that the mirror serves, checked against the signed
# index. A mirror may lack one of the two releases' versions.
real_source() {
	local version uri file sum
	command -v apt-get >/dev/null || skip "needs apt-get to fetch the source of $1"
	[ "$(id -u)" = 0 ] || skip "needs root"
	mkdir -p "$REAL_CACHE"
	REAL_TARBALL=$(find "$REAL_CACHE" -maxdepth 1 -name "$1_*.orig.tar.*" | sort -V | head -n 1)
	[ -z "$REAL_TARBALL" ] || return 0
	real_lists
	for version in $(real_apt apt-cache showsrc "$1" | sed -n 's/^Version: //p' | sort -V); do
		read -r uri file _ sum < <(real_apt apt-get source --print-uris "$1=$version" 2>/dev/null |
			grep -E "^'[^']*\.orig\.tar\.[a-z0-9]+' ")
		if (cd "$T" && real_apt /usr/lib/apt/apt-helper download-file "${uri//\'/}" "$T/source" "$sum") \
			>"$T/fetch.log" 2>&1; then
			REAL_TARBALL=$REAL_CACHE/${1}_${file#*_}
			mv "$T/source" "$REAL_TARBALL"
			return 0
		fi
	done
	skip "the mirror serves no source of $1 ($(grep -m1 -E '^(E:|Err)' "$T/fetch.log"))"
}

real_unpack() {
	rm -rf "$T/src"
	mkdir "$T/src"
	tar -xf "$REAL_TARBALL" -C "$T/src" --strip-components=1
}

# Status and summary lines of a log, without what differs between any two runs.
real_outcome() { # STATUS LOG
	echo "status $1"
	grep -E "$REAL_SUMMARY" "$2" | sed -E 's/ in [0-9.]+s.*//; s/# time=.*//'
}

# real_same SUMMARY-REGEX RECIPE: the recipe is run by `sh -e` in the unpacked source.
real_same() {
	local key bare
	REAL_SUMMARY=$1
	key=$(printf '%s\n' "$1" "$2" | cat - "$REAL_TARBALL" | sha256sum | cut -c1-16)
	bare=$REAL_CACHE/$(basename "$REAL_TARBALL").$key.bare
	if [ ! -s "$bare" ]; then
		real_unpack
		(cd "$T/src" && sh -e -c "$2" >"$T/bare.log" 2>&1 </dev/null)
		real_outcome $? "$T/bare.log" >"$T/bare"
		[ "$(wc -l <"$T/bare")" -gt 1 ] || {
			tail -n 20 "$T/bare.log"
			fail "the recipe shows no summary, even bare"
		}
		mv "$T/bare" "$bare"
	fi
	real_unpack
	cd "$T/src" || exit 1
	sbx_run -- sh -e -c "$2"
	cat "$T/out" "$T/err" >"$T/boxed.log"
	real_outcome "$rc" "$T/boxed.log" >"$T/boxed"
	diff -u --label bare --label sandboxed "$bare" "$T/boxed" || {
		tail -n 20 "$T/boxed.log"
		fail "the outcome differs from the bare one"
	}
	assert_result .outcome exited
	assert_result .killed_by null
	assert_ge "$(result .tree.processes)" 2 "processes of the tree"
	valid_result
	echo "$(basename "$REAL_TARBALL"): $(sed 1d "$T/boxed" | tr '\n' ' ')"
}
