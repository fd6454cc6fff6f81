#!/usr/bin/env bash
# Installs ebpf-bench for the action, into a folder of its own, through which the steps
# also pass on their results: outputs bin and state.
#
# The binary is the asset of the release that SHA256SUMS beside this file names, checked
# against it: both are from the commit that the workflow names, so neither can change.
# If there is no such file, as in a checkout of a branch, the binary is built from the
# folder of the action.
#
#   EBPF_BENCH_VERSION   empty for that release, "source" to build, or v1.2.3,
#                        which must be that release
#   EBPF_BENCH_RELEASES  where releases are, for a mirror
set -euo pipefail

action=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
sums=$action/action/SHA256SUMS
releases=${EBPF_BENCH_RELEASES:-https://github.com/org/ebpf-bench-action/releases/download}
version=${EBPF_BENCH_VERSION:-}

say() { printf 'ebpf-bench: %s\n' "$1" >&2; }
die() {
	say "error: $1"
	[ -z "${2:-}" ] || say "hint: $2"
	exit "${3:-3}"
}

# The version and the sums are only matched by form: nothing in them is run or expanded.
case $version in
'' | source) ;;
*) [[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$ ]] || die "input version: it is empty, source, or such as v1.2.3" "" 2 ;;
esac

case $(uname -m) in
x86_64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) arch=$(uname -m) ;;
esac

# asset prints the digest and the name of the asset for this machine.
asset() {
	[ -f "$sums" ] || return 0
	sed -nE "s/^([0-9a-f]{64})  (ebpf-bench-v[0-9A-Za-z.-]+-linux-$arch)\$/\1 \2/p" "$sums" | head -n 1
}

# download downloads the asset, and refuses anything else.
download() {
	local digest=$1 name=$2 tag=${2#ebpf-bench-} got
	tag=${tag%-linux-*}
	if ! command -v curl >/dev/null; then
		say "warning: there is no curl to download $name with: building it instead"
		say "hint: install curl before the action, such as by apt-get install -y curl ca-certificates"
		return 1
	fi
	curl --fail --silent --show-error --location --retry 3 --max-time 300 --output "$state/download" "$releases/$tag/$name" >&2 || {
		say "warning: $name cannot be downloaded from $releases: building it instead"
		return 1
	}
	got=$(sha256sum <"$state/download")
	[ "${got%% *}" = "$digest" ] || die "$name has the SHA-256 ${got%% *}, and SHA256SUMS says $digest" "nothing of it was run; was the download changed on its way?"
	chmod 755 "$state/download"
	mv "$state/download" "$bin"
	say "got $name, as action/SHA256SUMS has it"
}

build() {
	command -v go >/dev/null || die "there is no Go to build ebpf-bench with" "use a release of the action, or actions/setup-go before it"
	say "building ebpf-bench from source, which takes minutes the first time"
	# Without paths, a later build in another folder reuses what this one compiles.
	(cd "$action" && CGO_ENABLED=0 go build -ldflags "-s -w" -o "$bin" ./cmd/ebpf-bench) || die "ebpf-bench does not build from $action"
	say "built from $action"
}

state=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/ebpf-bench.XXXXXX")
bin=$state/ebpf-bench

read -r digest name <<<"$(asset)" || true
if [ "$version" = source ]; then
	build
elif [ -z "${digest:-}" ]; then
	[ -z "$version" ] || die "input version: this commit of the action knows no release for $arch" "name the release where the action is: uses: org/ebpf-bench-action@$version" 2
	build
else
	case $version in
	'' | "$(sed -E 's/^ebpf-bench-(.*)-linux-.*$/\1/' <<<"$name")") ;;
	*) die "input version: this commit of the action knows $name alone" "name the release where the action is: uses: org/ebpf-bench-action@$version" 2 ;;
	esac
	if ! download "$digest" "$name"; then
		build
	fi
fi

if [ -n "${GITHUB_OUTPUT:-}" ]; then
	printf 'bin=%s\nstate=%s\n' "$bin" "$state" >>"$GITHUB_OUTPUT"
else
	printf '%s\n' "$bin"
fi
