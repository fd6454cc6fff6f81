# ebpf-bench in a container. Measuring on the host's kernel takes --privileged:
#
#   docker build -t ebpf-bench .
#   docker run --rm --privileged -v "$PWD":/w ebpf-bench run ebpf-bench.yml
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -o /ebpf-bench ./cmd/ebpf-bench

FROM debian:bookworm-slim
COPY --from=build /ebpf-bench /usr/local/bin/ebpf-bench
WORKDIR /w
ENTRYPOINT ["ebpf-bench"]
