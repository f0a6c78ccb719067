# shellcheck shell=bash disable=SC2034,SC2154 # the files of this folder share their variables
# image.sh: ext4 images without a loop device, and the payload image: the build and the tests.

# image_make IMAGE TREE SPARE_MB: an ext4 image of TREE with that much room to write.
image_make() {
	local size
	size=$(($(du -sm --apparent-size "$2" | cut -f1) * 5 / 4 + $3))
	mke2fs -q -t ext4 -m 0 -E lazy_itable_init=1 -d "$2" "$1" "${size}M" > /dev/null ||
		die "cannot make '$1': is the disk full?"
}

# payload_make IMAGE: the tree as the suites know it from the host, below /sbx in the guest.
payload_make() {
	local stage=$rig_scratch/payload program
	rm -rf -- "$stage"
	mkdir -p "$stage/build/release"
	cp -a "$rig_source/tests" "$stage/tests"
	for program in sbxctl sbxd sbxtop tests; do
		[ ! -e "$rig_build/$program" ] || cp -a "$rig_build/$program" "$stage/build/release/"
	done
	image_make "$1" "$stage" 16
}
