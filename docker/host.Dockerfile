# What runs on an observed host: the collector, the agent, and the CNI plugin (copied from here to the host's CNI folder).
# To pin a base image, give the digest that you have checked: --build-arg DEBIAN_IMAGE=debian:bookworm-slim@sha256:...
ARG GO_IMAGE=golang:1.26-bookworm
ARG DEBIAN_IMAGE=debian:bookworm-slim
FROM ${GO_IMAGE} AS build
# The build says it: --build-arg VERSION=...
ARG VERSION=development
WORKDIR /src
COPY collectors/go.mod collectors/go.sum ./
RUN go mod download
COPY collectors/ ./
# The build tag `custom` leaves out every Telegraf plugin that is not imported.
RUN CGO_ENABLED=0 go build -mod=readonly -trimpath -tags custom -ldflags "-s -w -X main.version=${VERSION}" -o /out/ \
    ./cmd/wallwatch-telegraf ./cmd/wallwatch-agent ./cmd/wallwatch-cni

FROM ${DEBIAN_IMAGE}
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/* \
    && install -d -m 0700 /var/lib/wallwatch-telegraf /var/lib/wallwatch-agent
COPY --from=build /out/ /usr/local/bin/
COPY docker/host/ /etc/wallwatch/
