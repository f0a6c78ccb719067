# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# btf.sh: the types of a kernel, as the kernel itself shows them. Images are packed in as many ways
# as there are kernels, so one boot into the initramfs writes them to a disk.

# btf_make FOLDER KERNEL
btf_make() {
	local into=$1 kernel=$2 disk=$1/btf log=$rig_scratch/btf.log size
	truncate -s 32M "$disk"
	qemu_command "$kernel" "$disk" "$rig_cache/$rig_root_name/root.img" rig.btf -smp 1 -accel tcg
	timeout "${RIG_BOOT_LIMIT:-120}" "${qemu_argv[@]}" > "$log" 2>&1 < /dev/null || true
	size=$(tr -d '\r' < "$log" | sed -n 's/.*rig btf \([0-9]*\) bytes.*/\1/p')
	[ -n "$size" ] || die "kernel $kernel did not boot to show its types: $(tail -n 3 "$log" | paste -sd" ")"
	truncate -s "$size" "$disk"
}
