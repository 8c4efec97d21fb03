# What runs on an observed host: the collector, the agent, and the CNI plugin (copied from here to the host's CNI folder).
# Base images are pinned by digest; another one: --build-arg DEBIAN_IMAGE=debian:bookworm-slim@sha256:...
ARG GO_IMAGE=golang:1.26-bookworm@sha256:a688600ca24f8a4d3ca77f95b0dd40704a9fc787c826660eb7ba0b641b8b175d
ARG DEBIAN_IMAGE=debian:bookworm-slim@sha256:3783cc01769c7b2b1b83a5c5ad96c815348e28ed7da68e2e3687004faa906251
# Go compiles for every machine on the one that builds; nothing of the other kind has to run.
FROM --platform=${BUILDPLATFORM} ${GO_IMAGE} AS build
ARG TARGETOS
ARG TARGETARCH
# Other module proxies, and authorities of certificates that a proxy needs: docker/README.md. None of them reaches the image.
ARG GOPROXY
ARG GOSUMDB
ARG SSL_CERT_FILE
# The build says it: --build-arg VERSION=...
ARG VERSION=development
WORKDIR /src
COPY collectors/go.mod collectors/go.sum ./
RUN --mount=type=secret,id=authorities --mount=type=cache,target=/go/pkg/mod go mod download
COPY collectors/ ./
# The build tag `custom` leaves out every Telegraf plugin that is not imported.
RUN --mount=type=secret,id=authorities --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} go build -mod=readonly -trimpath -tags custom -ldflags "-s -w -X main.version=${VERSION}" -o /out/ \
    ./cmd/wallwatch-telegraf ./cmd/wallwatch-agent ./cmd/wallwatch-cni \
    && install -d -m 0700 /state/wallwatch-telegraf /state/wallwatch-agent

FROM ${DEBIAN_IMAGE}
# The authorities of the system, for brokers, receivers of outputs and token servers whose certificates come from one of them.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /state/ /var/lib/
COPY --from=build /out/ /usr/local/bin/
COPY docker/host/ /etc/wallwatch/
# Where the image comes from: --build-arg VERSION=... --build-arg REVISION=$(git rev-parse HEAD).
ARG VERSION=development
ARG REVISION=unknown
LABEL org.opencontainers.image.source=https://github.com/wallwatch/wallwatch \
    org.opencontainers.image.version=${VERSION} org.opencontainers.image.revision=${REVISION}
