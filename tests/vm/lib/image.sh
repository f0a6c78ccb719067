# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
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
	local stage=$rig_scratch/payload
	rm -rf -- "$stage"
	mkdir -p "$stage"
	cp -a "$rig_source/tests" "$rig_source/include" "$stage/"
	payload_cases "$stage/shared"
	payload_programs "$rig_build" "$stage/build/release"
	payload_programs "$rig_build/tests" "$stage/build/release/tests"
	payload_programs "$rig_build/bench" "$stage/build/release/bench"
	payload_programs "$rig_source/build/faults" "$stage/build/faults"
	image_make "$1" "$stage" 16
}

payload_cases() {
	local cases=${SBX_SHARED:-$rig_source/../shared}/cases
	[ -d "$cases" ] || return 0
	mkdir -p "$1"
	cp -a "$cases" "$1/"
}

payload_programs() {
	[ -d "$1" ] || return 0
	mkdir -p "$2"
	find "$1" -maxdepth 1 -type f -perm -u+x -exec cp -t "$2" {} +
}
