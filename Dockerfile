# ebpf-bench in a container. Counting instructions takes no privileges:
#
#   docker build -t ebpf-bench .
#   docker run --rm -v "$PWD":/w ebpf-bench run --kernel 6.12
#
# The kernel is fetched anew by each container, unless it keeps a cache:
# -v ebpf-bench:/var/cache/ebpf-bench. To write into /w, as --out does, be the
# user that owns it: --user "$(id -u):$(id -g)". Measuring time, on the host's
# own kernel, takes --privileged --user 0. scripts/image-test builds and runs all
# of this without Docker.

# By tag, as a digest is to be taken from the registry itself:
#   docker build --build-arg BASE_IMAGE=debian:trixie-slim@sha256:… …
# The release workflow's binaries do not come from here, and are reproducible.
ARG GO_IMAGE=golang:1.26-trixie
ARG BASE_IMAGE=debian:trixie-slim

FROM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.release=${VERSION}" -o /ebpf-bench ./cmd/ebpf-bench

FROM ${BASE_IMAGE}
ARG VERSION=
LABEL org.opencontainers.image.title="ebpf-bench" \
      org.opencontainers.image.description="Measures what a run of an eBPF program costs, in the real kernel" \
      org.opencontainers.image.source="https://github.com/org/ebpf-bench-action" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
# Kernels come from the suites of Debian, by the mirror and the keys that the
# image has. Git is for base and head that are revisions. Whoever the container
# runs as keeps kernels in the cache, and may read a repository that somebody
# else owns.
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates debian-archive-keyring git qemu-system-x86 \
 && rm -rf /var/lib/apt/lists/* \
 && install -d -m 1777 /var/cache/ebpf-bench \
 && git config --system --add safe.directory /w
COPY --from=build /ebpf-bench /usr/local/bin/ebpf-bench
ENV HOME=/tmp XDG_CACHE_HOME=/var/cache
USER 65532:65532
WORKDIR /w
ENTRYPOINT ["ebpf-bench"]
CMD ["--help"]
