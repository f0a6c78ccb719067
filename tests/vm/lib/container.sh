# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# container.sh: runs a script in a privileged runc container with pid, mount and cgroup namespaces of
# its own, on the machine's own root file system. For the tests in tests/vm/container.

# container_run SCRIPT: its output and status are the container's.
container_run() {
	local bundle=$T/bundle
	need runc
	mkdir -p "$bundle/rootfs"
	mountpoint -q "$bundle/rootfs" || mount --bind / "$bundle/rootfs"
	printf '%s\n' "$1" > "$T/script"
	container_config "$bundle"
	runc run --bundle "$bundle" "sbx-test-$$" < /dev/null
}

cleanup() {
	runc delete --force "sbx-test-$$" > /dev/null 2>&1
	umount "$T/bundle/rootfs" 2> /dev/null
	rmdir "/sys/fs/cgroup/sbx-test-$$" 2> /dev/null
	return 0
}

# As "docker run --privileged --cgroupns=private": all capabilities, cgroupfs writable, a bpffs.
container_config() {
	(cd "$1" && rm -f config.json && runc spec)
	jq --arg cgroup "/sbx-test-$$" --arg state "$T" --argjson capabilities "$(all_capabilities)" '
		.process.terminal = false |
		.process.args = ["/bin/bash", "-u", ($state + "/script")] |
		.process.cwd = "/" |
		.process.noNewPrivileges = false |
		.process.rlimits = [] |
		.process.env += ["HOME=/root", "T=" + $state, "SBX_RUN_DIR=" + env.SBX_RUN_DIR, "SBXCTL=" + env.SBXCTL] |
		.process.capabilities |= map_values($capabilities) |
		.root = {path: "rootfs", readonly: false} |
		.linux.cgroupsPath = $cgroup |
		.linux.resources.devices = [{allow: true, access: "rwm"}] |
		.linux.maskedPaths = [] | .linux.readonlyPaths = [] |
		.linux.namespaces = [{type: "pid"}, {type: "mount"}, {type: "cgroup"}, {type: "ipc"}, {type: "uts"}] |
		(.mounts[] | select(.type == "cgroup") | .options) = ["nosuid", "noexec", "nodev", "rw"] |
		.mounts += [
			{destination: "/sys/fs/bpf", type: "bpf", source: "bpf", options: ["rw"]},
			{destination: "/sbx", type: "bind", source: "/sbx", options: ["bind", "ro"]},
			{destination: "/tmp", type: "bind", source: "/tmp", options: ["bind", "rw"]}
		]' "$1/config.json" > "$1/config.new"
	mv "$1/config.new" "$1/config.json"
}

all_capabilities() {
	capsh --print | sed -n 's/^Bounding set =//p' | tr a-z A-Z | jq -R 'split(",")'
}
