# Everything installs what it needs (see scripts/setup) and runs from a fresh
# clone. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# The kernel lets only root load most programs.
SUDO := $(shell [ "$$(id -u)" = 0 ] || command -v sudo)
# Tests run as root where that is possible.
EXEC := $(if $(SUDO),-exec '$(SUDO) --preserve-env=PATH --preserve-env=CI --preserve-env=XDG_CACHE_HOME --preserve-env=EBPF_BENCH_TEST_KERNELS --preserve-env=EBPF_BENCH_TEST_STORIES --preserve-env=TMPDIR')
# The kernels are fetched by the user and booted by root.
export XDG_CACHE_HOME ?= $(HOME)/.cache
# One variant of every package is compiled, for the tool, its tests and the linters; only
# the race detector takes another one.
export CGO_ENABLED := 0
TOOL := go tool -modfile=tools/go.mod
# Those for workflows have a module of their own: they need other versions of
# the same packages.
ACTION_TOOL := go tool -modfile=tools/actions.mod
# With EBPF_BENCH_TEST_HOST=none the kernel of this machine is left alone: what
# takes one runs in a virtual machine, where nothing takes root.
NO_HOST := $(filter none,$(EBPF_BENCH_TEST_HOST))
# Root itself is kept from loading programs then.
UNPRIVILEGED := $(if $(NO_HOST),$(if $(filter 0,$(shell id -u)),setpriv --inh-caps=-all --bounding-set=-all))
GO_FILES = $(shell git ls-files '*.go')
SHELL_FILES = $(shell git grep -lE '^\#!.*\<(ba)?sh$$' -- ':!*.txtar' ':!*.go')

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

.PHONY: build
build: ## build the binary, statically linked
	@scripts/setup build
	go build -ldflags "-s -w" -o ebpf-bench ./cmd/ebpf-bench

.PHONY: bench
bench: build ## measure the bundled programs and print the table
ifdef NO_HOST
	./ebpf-bench run --kernel 6.12
else
	$(SUDO) ./ebpf-bench run
endif

KERNELS := 5.10 6.1 6.12 7.2

.PHONY: kernels
kernels: build ## get the kernels that the tests boot, by the mirror of apt
	@for k in $(KERNELS); do \
		./ebpf-bench kernel path $$k >/dev/null 2>&1 || { echo "getting kernel $$k"; ./ebpf-bench kernel add $$k; }; \
	done

TEST = $(UNPRIVILEGED) $$($(TOOL) -n gotestsum) --format pkgname-and-test-fails --jsonfile
TEST_FLAGS = -vet=off $(if $(NO_HOST),,$(EXEC))
# A test there keeps the list complete.
RACE = $(shell sed -n 's|^[a-z][^ ]*|./&|p' internal/layers/race.txt)

.PHONY: tested
tested:
	@scripts/setup test
	@$(MAKE) --no-print-directory kernels || { { [ -z "$${CI:-}" ] || [ "$${EBPF_BENCH_TEST_KERNELS:-}" = none ]; } && echo "the tests that boot other kernels are skipped"; }

.PHONY: check
check: build vet ## while you work, a minute: build, vet, staticcheck, layers, the quick tests of what changed
	go test ./internal/layers
	$(UNPRIVILEGED) scripts/check

.PHONY: test
test: vet tested ## what a change must pass: vet, staticcheck, and the quick tests, once more with the race detector
	$(TEST) test-short.json -- -short $(TEST_FLAGS) ./...
	CGO_ENABLED=1 $(TEST) test-race.json -- -race -short $(TEST_FLAGS) $(RACE)

.PHONY: test-all
test-all: vet tested ## everything that this machine can run (two hours)
	$(TEST) test-all.json -- -timeout 90m $(TEST_FLAGS) ./...
	CGO_ENABLED=1 $(TEST) test-all-race.json -- -race -timeout 90m -short $(TEST_FLAGS) ./...
	@$(MAKE) --no-print-directory fuzz FUZZTIME=5000x
	@$(MAKE) --no-print-directory fuzz-kernel e2e-schema hooks

.PHONY: e2e-schema
e2e-schema: tested ## run the end-to-end tests with each request checked by GitHub's description of its API
	@scripts/setup e2e-schema
	EBPF_BENCH_E2E_SCHEMA=1 $(TOOL) gotestsum --format standard-verbose -- -count=1 -timeout 40m -run 'Schema|Base|Fork' ./e2e

.PHONY: figures-action
figures-action: kernels ## measure what the README promises of the action: the time from a cold checkout to the verdict
	@scripts/setup test
	go test -run '^$$' -bench Cold -benchtime 3x ./e2e | grep -E '^Benchmark|^ok|FAIL'

.PHONY: image
image: ## build the image without Docker, and measure in it (root, some minutes, a gigabyte)
	@scripts/setup image
	$(SUDO) env PATH="$$PATH" scripts/image-test

.PHONY: fresh
fresh: ## run the README's commands and the gate in a minimal Debian (root, an hour, five gigabytes)
	@scripts/setup fresh
	$(SUDO) env PATH="$$PATH" scripts/fresh

.PHONY: vet
vet:
	@out=$$(gofmt -l $(GO_FILES)); [ -z "$$out" ] || { echo "gofmt would change:"; echo "$$out"; exit 1; } >&2
	go vet ./...
	$(TOOL) staticcheck -checks all,-ST1000,-ST1003,-ST1016,-ST1020,-ST1021,-ST1022 ./...

.PHONY: lint
lint: vet ## check the style, the layers, the workflows and the usual mistakes
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

.PHONY: reference
reference: ## write docs/reference.md from the flags, inputs and keys in the code
	go test -count=1 -run TestReferenceIsThatOfTheCode ./cmd/ebpf-bench -update-reference

.PHONY: check-generated
check-generated: generate ## fail when the committed objects are not what the sources compile to
	git diff --exit-code -- programs internal/insn/bytecode/helpers_gen.go cmd/ebpf-bench/testdata/objects runner/testdata

.PHONY: fuzz
FUZZTIME ?= 10s
fuzz: ## fuzz every parser, each for FUZZTIME (a time, or a number of inputs as 5000x)
	$(UNPRIVILEGED) scripts/fuzz $(FUZZTIME)

# What loads thousands of programs in a row does so where it can do no harm: Linux
# 6.18 gets stuck for good when more than a thousand are freed at once.
.PHONY: fuzz-kernel
FUZZKERNELTIME ?= 500x
fuzz-kernel: vmtest ## compare the counts of generated programs with those of an interpreter, in a virtual machine
	go test -run '^$$' -fuzz FuzzKernelAgainstOracle -fuzztime $(FUZZKERNELTIME) -exec "'$(CURDIR)/bin/vmtest' -kernel 6.12" ./internal/insn/oracle

.PHONY: figures
figures: build ## measure what the README promises: speed, agreement, spread of ten runs
	@scripts/setup test
	$(SUDO) env PATH="$$PATH" go test -run '^$$' -bench 'Throughput|Slice' -count 3 ./runner
	$(SUDO) env PATH="$$PATH" go test -run '^$$' -bench . ./internal/workload/vethpair ./internal/workload/packet
	$(SUDO) env PATH="$$PATH" go test -run TestAgreesWithBpftool -v ./runner
	go build -o bin/repeat ./scripts/repeat
	$(SUDO) bin/repeat -n 10

.PHONY: figures-exact
figures-exact: kernels ## measure what the README promises of exact mode: time, and results that are identical
	@scripts/setup test
	bash -c 'time ./ebpf-bench run --kernel 6.12'
	bash -c 'time ./ebpf-bench run --kernel 5.10,6.1,6.12,7.2'
	go build -o bin/identical ./scripts/identical
	bin/identical -n 20
	scripts/exact-gate 20

CILIUM = $$(go list -m -f '{{.Dir}}' github.com/cilium/ebpf)
# Objects of others that are at hand everywhere: those that cilium/ebpf is tested
# with, and Debian's.
CORPUS = $(CILIUM)/testdata/*-el.elf /usr/lib/*/bpf/*.o programs/{empty,fun_xdp,perf_profiler,work}/*.o
# All of them, with those that others are tested with that do not load.
OBJECTS = $$(find "$(CILIUM)" -name '*-el.elf') /usr/lib/*/bpf/*.o

# corpus runs a test with objects, gathered into a folder, on this host and each kernel.
corpus = rm -rf bin/corpus && mkdir -p bin/corpus && \
	for f in $(2); do cp "$$f" "bin/corpus/$$(basename "$$(dirname "$$f")")-$$(basename "$$f")"; done && \
	$(SUDO) env PATH="$$PATH" go test -count=1 -timeout 2h -v -run '$(1)' ./runner -corpus '../bin/corpus/*' $(3) && \
	for k in $(KERNELS); do go test -count=1 -timeout 2h -v -run '$(1)' \
		-exec "'$(CURDIR)/bin/vmtest' -kernel $$k -files ../bin/corpus/* -tools bpftool" ./runner -corpus '../bin/corpus/*' $(3) || exit 1; done

.PHONY: vmtest
vmtest: kernels
	@scripts/setup test
	go build -o bin/vmtest ./internal/vm/vmtest

.PHONY: figures-insn
INSN_REPEAT ?= 100
figures-insn: vmtest ## test counting on the programs of others, on this host and each kernel: which load, which are wrong
	@scripts/setup corpus
	@$(call corpus,TestCorpusCounts,$(CORPUS),-repeat $(INSN_REPEAT))

.PHONY: figures-objects
figures-objects: vmtest ## try every program of the objects of others, on this host and each kernel: which load as they are, and which here
	@scripts/setup corpus
	@$(call corpus,TestCorpusLoads,$(OBJECTS))

# The examples of cilium/ebpf, too.
EXAMPLES = $$(find $(CILIUM)/examples $(CILIUM)/docs/examples -name '*_bpfel.o' | sort)

.PHONY: figures-init
figures-init: kernels ## write a suite for each object of others by init, and run it, on this host and on Linux 6.12
	@scripts/setup corpus
	$(SUDO) scripts/init-corpus host $(CORPUS) $(EXAMPLES)
	scripts/init-corpus 6.12 $(CORPUS) $(EXAMPLES)

.PHONY: program-types
program-types: kernels ## write which types of programs are measured on this host and each kernel: docs/program-types.md
	@# With its symbols: probes in user space are attached to the tool itself.
	@go build -ldflags -w -o bin/ebpf-bench ./cmd/ebpf-bench
	go build -o bin/program-types ./scripts/program-types
	$(SUDO) bin/program-types -bin bin/ebpf-bench > bin/program-types.md
	mv bin/program-types.md docs/program-types.md

.PHONY: figures-gate
figures-gate: build ## measure how often the gate is wrong, idle and with all CPUs busy (three hours)
	$(SUDO) ./ebpf-bench selftest gate --tries 100 --same 1000
	$(SUDO) scripts/busy ./ebpf-bench selftest gate --tries 100 --same 1000
	$(SUDO) scripts/busy ./ebpf-bench selftest gate --tries 100 --same 0 --attached

.PHONY: figures-store
figures-store: ## measure what the README promises of compare: time and memory over 2,000 benchmarks and 500 stored runs
	go test -run '^$$' -bench CompareStore -benchtime 10x ./cmd/ebpf-bench

# It compares with addr2line, and where the two differ with that of LLVM.
.PHONY: figures-symbols
figures-symbols: ## compare frames with those of addr2line, at 10,000 addresses of programs in C, C++, Rust and Go
	@scripts/setup symbols
	scripts/symbols-corpus bin/symbols-corpus
	go build -o bin/symbols ./scripts/symbols
	cd bin/symbols-corpus && ../symbols c c++ rust rust-v0 go-dwarf4 go dwz=dwz/zstd,libzstd/programs/zstd

.PHONY: figures-profile
figures-profile: build ## measure the profiler beside perf: shares of functions, sleeps, overhead (half an hour)
	@scripts/setup profile
	go build -o bin/profile ./scripts/profile
	$(SUDO) bin/profile

.PHONY: release
release: ## build VERSION (v1.2.3) twice, compare, and write the sums that its tag must hold
	@scripts/release sums '$(VERSION)'

.PHONY: hooks
hooks: kernels ## ask which hooks fire and are counted on each kernel
	./ebpf-bench doctor --kernel 5.10,6.1,6.12,7.2
