# Everything installs what it needs (see scripts/setup) and runs from a fresh clone.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# The kernel lets only root load most programs.
SUDO := $(shell [ "$$(id -u)" = 0 ] || command -v sudo)
# The kernels are fetched by the user and booted by root.
export XDG_CACHE_HOME ?= $(HOME)/.cache
# One variant of every package is compiled, for the tool, its tests and the linters.
export CGO_ENABLED := 0
TOOL := go tool -modfile=tools/go.mod
# Those for workflows have a module of their own: they need other versions of
# the same packages.
ACTION_TOOL := go tool -modfile=tools/actions.mod
GO_FILES = $(shell git ls-files --cached --others --exclude-standard '*.go')
SHELL_FILES = $(shell git grep -lE '^\#!.*\<(ba)?sh$$' -- ':!*.txtar' ':!*.go')
# The packages that make test runs with the race detector; a test keeps them complete.
RACE = $(shell sed -n 's|^[a-z][^ ]*|./&|p' internal/layers/race.txt)

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

.PHONY: build
build: ## build the binary, statically linked
	@scripts/setup build
	go build -ldflags "-s -w" -o ebpf-bench ./cmd/ebpf-bench

# With EBPF_BENCH_TEST_HOST=none the kernel of this machine is left alone.
.PHONY: bench
bench: build ## measure the bundled programs and print the table
	$(if $(filter none,$(EBPF_BENCH_TEST_HOST)),./ebpf-bench run --kernel 6.12,$(SUDO) ./ebpf-bench run)

.PHONY: check
check: build vet ## while you work, a minute: build, vet, staticcheck, layers, the quick tests of what changed
	go test ./internal/layers
	scripts/check

.PHONY: test
test: vet tested ## before a push: vet, staticcheck, all quick tests, some again with the race detector (.ci/run is the gate)
	scripts/test short -short ./...
	scripts/test race -race -short $(RACE)

.PHONY: test-all
test-all: vet tested ## everything that this machine can run (one to two hours)
	@scripts/setup workflows
	scripts/test all -timeout 90m ./...
	scripts/test all-race -race -timeout 90m -short ./...
	scripts/fuzz 5000x
	@$(MAKE) --no-print-directory fuzz-kernel e2e-schema hooks

.PHONY: tested
tested: build
	@scripts/setup test
	@scripts/kernels || { { [ -z "$${CI:-}" ] || [ "$${EBPF_BENCH_TEST_KERNELS:-}" = none ]; } && echo "the tests that boot other kernels are skipped"; }

.PHONY: kernels
kernels: build ## get the kernels that the tests boot, by the mirror of apt
	@scripts/kernels

.PHONY: vet
vet:
	@out=$$(gofmt -l $(GO_FILES)); [ -z "$$out" ] || { echo "gofmt would change:"; echo "$$out"; exit 1; } >&2
	go vet ./...
	$(TOOL) staticcheck -checks all,-ST1000,-ST1003,-ST1016,-ST1020,-ST1021,-ST1022 ./...

.PHONY: lint
lint: vet ## check the style, the scripts, the workflows and the usual mistakes
	@scripts/setup lint
	go build -C tools -o ../bin/lint ./lint
	go vet -vettool=bin/lint ./...
	$(TOOL) revive -config tools/revive.toml ./...
	@$(TOOL) misspell -error $(GO_FILES)
	go mod tidy -diff
	shellcheck -x $(SHELL_FILES)
	$(ACTION_TOOL) actionlint .github/workflows/*.yml docs/recipes/*.yml

.PHONY: generate
generate: ## compile the bundled programs anew
	@scripts/setup generate
	go generate ./...

.PHONY: check-generated
check-generated: generate ## fail when the committed objects are not what the sources compile to
	git diff --exit-code -- programs internal/insn/bytecode/helpers_gen.go cmd/ebpf-bench/testdata/objects runner/testdata

.PHONY: reference
reference: ## write docs/reference.md from the flags, inputs and keys in the code
	go test -count=1 -run TestReferenceIsThatOfTheCode ./cmd/ebpf-bench -update-reference

.PHONY: program-types
program-types: kernels ## write which types of programs are measured on this host and each kernel: docs/program-types.md (five minutes; those that are not are printed as errors)
	@# With its symbols: probes in user space are attached to the tool itself.
	go build -ldflags -w -o bin/ebpf-bench ./cmd/ebpf-bench
	go build -o bin/program-types ./internal/tools/program-types
	$(SUDO) bin/program-types -bin bin/ebpf-bench > bin/program-types.md
	mv bin/program-types.md docs/program-types.md

.PHONY: fuzz
fuzz: ## fuzz every parser, each for FUZZTIME (a time, or a number of inputs as 5000x)
	scripts/fuzz $(or $(FUZZTIME),10s)

# It loads thousands of programs in a row: Linux 6.18 gets stuck for good when more than a
# thousand are freed at once.
.PHONY: fuzz-kernel
fuzz-kernel: tested ## compare the counts of generated programs with those of an interpreter, in a virtual machine
	go build -o bin/vmtest ./internal/tools/vmtest
	go test -run '^$$' -fuzz FuzzKernelAgainstOracle -fuzztime $(or $(FUZZTIME),500x) -exec "'$(CURDIR)/bin/vmtest' -kernel 6.12" ./internal/insn/insntest

.PHONY: e2e-schema
e2e-schema: tested ## run the end-to-end tests with each request checked by GitHub's description of its API
	@scripts/setup e2e-schema
	EBPF_BENCH_E2E_SCHEMA=1 $(TOOL) gotestsum --format standard-verbose -- -count=1 -timeout 40m -run 'Schema|Base|Fork' ./e2e

.PHONY: hooks
hooks: kernels ## ask which hooks fire and are counted on each kernel
	./ebpf-bench doctor --kernel 5.10,6.1,6.12,7.2

.PHONY: image
image: ## build the image without Docker, and measure in it (root, some minutes, a gigabyte)
	@scripts/setup image
	$(SUDO) env PATH="$$PATH" scripts/image-test

.PHONY: fresh
fresh: ## run the README's commands and the gate in a minimal Debian (root, an hour, five gigabytes)
	@scripts/setup fresh
	$(SUDO) env PATH="$$PATH" scripts/fresh

.PHONY: figures
figures: figures-speed ## measure what the README promises of speed and spread, and with figures-NAME the rest: see scripts/figures

figures-%: kernels
	scripts/figures $*

.PHONY: release
release: ## build VERSION (v1.2.3) twice, compare, and write the sums that its tag must hold
	@scripts/release sums '$(VERSION)'
