# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# root.sh: the one root image of all suites: debootstrap minbase and what tests call. Its name in the
# cache carries the recipe: change this file and the next run makes a new one and drops the old.

rig_packages=bash,coreutils,procps,util-linux,iproute2,python3-minimal,python3,tmux,jq,strace,git,psmisc,less,make
rig_packages+=,busybox-static,runc,systemd,systemd-sysv,dbus,libcap2-bin,libcap2,libseccomp2
rig_packages+=,dnsmasq-base,libc-ares2,libcmocka0,libbpf1,libelf1,zlib1g,libjansson4,libsqlite3-0,python3-jsonschema
rig_root_name=root-$({
	echo "$rig_packages"
	cat "${BASH_SOURCE[0]}"
} | sha256sum | cut -c1-12)

# root_make FOLDER: root.img, and busybox apart for the initramfs.
root_make() {
	local into=$1 tree=$rig_scratch/root
	need_tools debootstrap wget mke2fs
	[ "$(id -u)" -eq 0 ] || die "debootstrap needs root: run as root once, the image is then cached"
	debootstrap --variant=minbase --include="$rig_packages" bookworm "$tree" "$rig_mirror" \
		> "$rig_cache/debootstrap.log" 2>&1 ||
		die "debootstrap failed (see $rig_cache/debootstrap.log): check the network or set SBX_MIRROR"
	rm -rf -- "$rig_cache"/root-*
	root_settle "$tree"
	cp "$tree/bin/busybox" "$into/busybox"
	image_make "$into/root.img" "$tree" 128
}

# Nothing of the build host may shine through, and no unit may start that a test did not ask for.
root_settle() {
	local tree=$1
	rm -rf -- "$tree"/var/cache/apt/* "$tree"/var/lib/apt/lists/* "$tree"/usr/share/{doc,man,locale}/*
	echo sbx-vm > "$tree/etc/hostname"
	printf '127.0.0.1 localhost sbx-vm\n::1 localhost\n' > "$tree/etc/hosts"
	: > "$tree/etc/resolv.conf"
	: > "$tree/etc/fstab"
	echo 'uninitialized' > "$tree/etc/machine-id"
	chroot "$tree" useradd --create-home --shell /bin/bash --uid 1000 tester
	mkdir "$tree/sbx"
	cat > "$tree/etc/systemd/system/sbx-rig.service" <<-'END'
		[Unit]
		Description=the suite of the test rig
		[Service]
		Type=oneshot
		Environment=HOME=/root
		StandardOutput=tty
		StandardError=tty
		TTYPath=/dev/ttyS0
		ExecStart=/sbx/tests/vm/guest/run
		ExecStopPost=/bin/sh -c 'echo o > /proc/sysrq-trigger'
	END
	cat > "$tree/etc/systemd/system/sbx-rig.target" <<-'END'
		[Unit]
		Requires=basic.target dbus.socket
		After=basic.target dbus.socket
		Wants=sbx-rig.service
		AllowIsolate=yes
	END
	ln -sf /dev/null "$tree/etc/systemd/system/serial-getty@ttyS0.service"
}
