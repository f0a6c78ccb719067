# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# kernel.sh: a stock Debian kernel, unpacked and never installed, with an initramfs that loads the
# virtio disk, mounts the root image and hands over. The table tests/vm/kernels names them.

# Loading order matters: there is no modprobe in the initramfs. What a kernel has built in is absent.
rig_modules='virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk
	crc16 crc32c_generic libcrc32c mbcache jbd2 ext4 overlay'

# kernel_entry SERIES: the name of its cache entry, another one when the modules are others.
kernel_entry() {
	printf 'kernel-%s-%s\n' "$1" "$(printf '%s' "$rig_modules" | sha256sum | cut -c 1-8)"
}

kernel_list() {
	awk '!/^#/ && NF { print $1 }' "$rig_dir/kernels"
}

kernel_require() {
	kernel_list | grep -qxF -- "$1" ||
		usage_die "unknown KERNEL '$1': one of $(kernel_list | paste -sd' ')"
}

# kernel_make FOLDER SERIES
kernel_make() {
	local into=$1 series=$2 tree=$rig_scratch/kernel-tree suite meta packages
	read -r suite meta < <(awk -v k="$series" '$1 == k { print $2, $3 }' "$rig_dir/kernels")
	apt_open "$suite"
	mapfile -t packages < <(apt-cache depends --recurse --important "$meta" 2> /dev/null |
		grep -E '^linux-(image|binary|modules)-[0-9]' | sort -u)
	[ "${#packages[@]}" -gt 0 ] || die "$suite has no $meta: change tests/vm/kernels"
	rm -rf -- "$tree"
	apt_unpack "$tree" "${packages[@]}"
	kernel_place "$into" "$series" "$suite" "$tree"
}

kernel_place() {
	local into=$1 series=$2 suite=$3 tree=$4 modules image release
	modules=$(find "$tree" -path '*lib/modules/*' -maxdepth 5 -name kernel -printf '%h\n' -quit)
	release=${modules##*/}
	case $release in
	"$series".*) ;;
	*) die "$suite now has kernel '$release', not $series: change tests/vm/kernels" ;;
	esac
	image=$(find "$tree" \( -name "vmlinuz-$release" -o -name vmlinuz \) -type f -print -quit)
	cp "$image" "$into/vmlinuz"
	echo "$release" > "$into/release"
	mkdir "$into/modules"
	kernel_modules "$modules" "$into/modules"
}

# initramfs_make IMAGE KERNEL: small enough to be made for each boot.
initramfs_make() {
	local out=$1 kernel=$2 tree=$1.tree busybox=$rig_cache/$rig_root_name/busybox
	rm -rf -- "$tree"
	mkdir -p "$tree"/{bin,proc,sys,dev,new}
	cp "$busybox" "$tree/bin/busybox"
	cp "$rig_dir/guest/initramfs" "$tree/init"
	cp -r "$rig_cache/$(kernel_entry "$kernel")/modules" "$tree/"
	(cd "$tree" && find . | "$busybox" cpio -o -H newc 2> /dev/null) | gzip -1 > "$out"
}

kernel_modules() {
	local name file place number=10
	for name in $rig_modules; do
		file=$(find "$1" -name "$name.ko*" -print -quit)
		[ -n "$file" ] || continue
		number=$((number + 1))
		place=$2/$number-$name.ko
		case $file in
		*.xz) xz -dc "$file" > "$place" ;;
		*.zst) zstd -qdc "$file" > "$place" ;;
		*) cp "$file" "$place" ;;
		esac
	done
}
