# syntax=docker/dockerfile:1

# The same make targets that developers and CI use. Both build stages run on the builder's own platform; the manager
# is cross-compiled.

FROM --platform=$BUILDPLATFORM docker.io/library/node:24-bookworm@sha256:64af3819f9275802414d7cdc38c27e9d82bd564dec4d4da87d008255d36c63b4 AS web
WORKDIR /src
COPY Makefile ./
COPY hack hack
COPY internal/web/ui internal/web/ui
COPY internal/web/dist internal/web/dist
COPY internal/httpapi/docsui internal/httpapi/docsui
RUN make web

FROM --platform=$BUILDPLATFORM docker.io/library/golang:1.26-bookworm@sha256:a688600ca24f8a4d3ca77f95b0dd40704a9fc787c826660eb7ba0b641b8b175d AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
COPY --from=web /src/internal/web/dist internal/web/dist
COPY --from=web /src/internal/httpapi/docsui/dist internal/httpapi/docsui/dist
# The licences of what is in the pages.
COPY --from=web /src/internal/web/ui/node_modules internal/web/ui/node_modules
COPY --from=web /src/internal/httpapi/docsui/node_modules internal/httpapi/docsui/node_modules
ARG TARGETOS TARGETARCH VERSION=dev COMMIT=unknown
# The pages are there: no Node.js is needed here.
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    GOOS=$TARGETOS GOARCH=$TARGETARCH make --assume-old=web bin/manager VERSION=$VERSION COMMIT=$COMMIT \
    && make --assume-old=web --assume-old=bin/manager bin/THIRD_PARTY_NOTICES

# No shell, no package manager; certificate authorities and a user that is not root.
FROM gcr.io/distroless/static:nonroot@sha256:e2e927ec666bae08560abb3c55d0659eceabb657f56b6782ab500a9fc7f555e3 AS image
ARG VERSION=dev COMMIT=unknown
LABEL org.opencontainers.image.title="Convene" \
    org.opencontainers.image.description="Video meetings on Kubernetes" \
    org.opencontainers.image.url="https://convene.dev" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.version="$VERSION" \
    org.opencontainers.image.revision="$COMMIT" \
    org.opencontainers.image.base.name="gcr.io/distroless/static:nonroot"
COPY --from=build /src/LICENSE /LICENSE
COPY --from=build /src/bin/THIRD_PARTY_NOTICES /THIRD_PARTY_NOTICES
COPY --from=build /src/bin/manager /manager
USER 65532:65532
EXPOSE 8080 8081 9090
ENTRYPOINT ["/manager"]
