# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# packages.sh: Debian packages fetched and unpacked with a private apt state. The host's apt state,
# sources and hooks are never read or written; its Acquire settings (proxies) are honoured.

rig_mirror=${SBX_MIRROR:-http://deb.debian.org/debian}
rig_keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# apt_open SUITE…: from here on APT_CONFIG names a state that holds just these suites and in which
# nothing is installed.
apt_open() {
	local suite state
	[ -r "$rig_keyring" ] ||
		die "'$rig_keyring' is missing: install debian-archive-keyring"
	state=$(mktemp -d "$rig_scratch/apt-XXXXXX")
	mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
	: > "$state/status"
	for suite in "$@"; do
		echo "deb [signed-by=$rig_keyring] $rig_mirror $suite main"
	done > "$state/sources.list"
	{
		apt-config dump Acquire
		cat <<-END
			Dir::Etc::Parts "/dev/null";
			Dir::Etc::Main "/dev/null";
			Dir::Etc::SourceList "$state/sources.list";
			Dir::Etc::SourceParts "/dev/null";
			Dir::Etc::Preferences "/dev/null";
			Dir::Etc::PreferencesParts "/dev/null";
			Dir::State "$state";
			Dir::State::Lists "$state/lists";
			Dir::State::status "$state/status";
			Dir::Cache "$state/cache";
			APT::Sandbox::User "root";
			APT::Architecture "amd64";
			APT::Install-Recommends "false";
			Acquire::Retries "2";
			Acquire::http::Timeout "20";
		END
	} > "$state/apt.conf"
	export APT_CONFIG=$state/apt.conf
	rig_debs=$state/cache/archives
	apt_quiet update -o APT::Update::Error-Mode=any ||
		die "no package server: '$rig_mirror' does not give $* ($(apt_reason)):" \
			"check the network or set SBX_MIRROR"
}

apt_quiet() {
	apt-get -qq -y "$@" > "$rig_scratch/apt.log" 2>&1 < /dev/null
}

apt_reason() {
	grep -m1 '^E:' "$rig_scratch/apt.log" | cut -c4-160 || true
}

# apt_unpack FOLDER PACKAGE[=VERSION]…: downloads exactly these and unpacks them into FOLDER.
apt_unpack() {
	local into=$1
	shift
	(cd "$rig_debs" && apt_quiet download "$@") ||
		die "cannot fetch $* ($(apt_reason)): check the network or set SBX_MIRROR"
	apt_unpack_fetched "$into"
}

# apt_unpack_all FOLDER SUITE PACKAGE: the same with everything PACKAGE depends on.
apt_unpack_all() {
	apt_quiet install --download-only -t "$2" "$3" ||
		die "cannot fetch $3 from $2 ($(apt_reason)): check the network or set SBX_MIRROR"
	apt_unpack_fetched "$1"
}

apt_unpack_fetched() {
	local deb
	for deb in "$rig_debs"/*.deb; do
		dpkg-deb -x "$deb" "$1" || die "cannot unpack '$deb': is the disk full?"
	done
	rm -f -- "$rig_debs"/*.deb
}
