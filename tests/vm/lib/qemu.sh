# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# qemu.sh: QEMU 10 from backports, kept with its own loader and libraries so that it runs on any
# host and is never installed. QEMU 7.2 double-faults under TCG with kernels from 6.12 on.

# qemu_make FOLDER: the program, its libraries and the firmware a -nodefaults machine reads.
qemu_make() {
	local into=$1 tree=$rig_scratch/qemu-tree lib
	apt_open bookworm bookworm-backports
	apt_unpack_all "$tree" bookworm-backports qemu-system-x86
	mkdir "$into/lib" "$into/share"
	cp "$tree/usr/bin/qemu-system-x86_64" "$into/qemu"
	cp -L "$tree/lib64/ld-linux-x86-64.so.2" "$into/lib/ld.so"
	qemu_libraries "$tree" | while read -r lib; do
		cp -L "$lib" "$into/lib/"
	done
	cp "$tree"/usr/share/seabios/bios-256k.bin "$tree"/usr/share/qemu/{kvmvapic,linuxboot_dma}.bin \
		"$into/share/"
	"$into/lib/ld.so" --library-path "$into/lib" "$into/qemu" --version > "$into/version" ||
		die "no QEMU: the one from $rig_mirror does not run here"
}

qemu_libraries() {
	local dirs
	dirs=$(find "$1/lib" "$1/usr/lib" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
	"$1/lib64/ld-linux-x86-64.so.2" --library-path "$dirs" --list "$1/usr/bin/qemu-system-x86_64" |
		awk '$2 == "=>" { print $3 }'
}

# qemu_command KERNEL PAYLOAD ROOT APPEND [OPTION…]: fills the array qemu_argv. What the machine writes
# is lost with it, but for the boot that stores the kernel's types on PAYLOAD, the second disk.
qemu_command() {
	local kernel=$1 payload=$2 root=$3 append=$4 qemu=$rig_cache/qemu
	local keep=snapshot=on
	shift 4
	[[ " $append " != *' rig.btf '* ]] || keep=snapshot=off
	initramfs_make "$rig_scratch/initrd.$BASHPID" "$kernel"
	qemu_argv=("$qemu/lib/ld.so" --library-path "$qemu/lib" "$qemu/qemu"
		-L "$qemu/share" -nodefaults -no-user-config -no-reboot -display none -serial stdio
		-monitor none -m 2048 -cpu max
		-kernel "$rig_cache/$(kernel_entry "$kernel")/vmlinuz" -initrd "$rig_scratch/initrd.$BASHPID"
		-drive "file=$root,if=virtio,format=raw,snapshot=on"
		-drive "file=$payload,if=virtio,format=raw,$keep"
		-append "console=ttyS0 panic=-1 oops=panic quiet loglevel=1 lsm=landlock,lockdown,yama,bpf $append"
		"$@")
}
