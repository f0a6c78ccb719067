#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watchdog: 120
# node and npm under the default profile: npm ci and npm test from a folder of packages.
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/confined.sh"

need node
works "$T/work" node 'node -e "require(\"fs\").writeFileSync(\"f\", String(require(\"os\").tmpdir()))" && [ "$(cat f)" = /tmp ]'
works "$T/work" "worker threads and child processes" 'node -e "
	const { Worker } = require(\"worker_threads\");
	new Worker(\"require(\\\"child_process\\\").execSync(\\\"true\\\")\", { eval: true }).on(\"exit\", process.exit)"'
need npm
mkdir -p "$T/work/"{registry/dep,app}
echo '{"name":"dep","version":"1.0.0","main":"index.js"}' >"$T/work/registry/dep/package.json"
echo 'module.exports = 42' >"$T/work/registry/dep/index.js"
echo '{"name":"app","version":"1.0.0","private":true,"dependencies":{"dep":"file:../registry/dep-1.0.0.tgz"},"scripts":{"test":"node -e \"process.exit(require(\\\"dep\\\") === 42 ? 0 : 1)\""}}' >"$T/work/app/package.json"
works "$T/work" "npm pack, install, ci and test" '
	cd registry && npm pack --silent ./dep >/dev/null && cd ../app
	npm install --silent --offline --no-audit --no-fund && npm ci --silent --offline --no-audit --no-fund && npm test --silent'
