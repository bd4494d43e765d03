# syntax=docker/dockerfile:1

# The same make targets that developers and CI use. Both build stages run on the builder's own platform; the manager
# is cross-compiled.

FROM --platform=$BUILDPLATFORM node:24-bookworm AS web
WORKDIR /src
COPY Makefile ./
COPY hack hack
COPY internal/web/ui internal/web/ui
COPY internal/web/dist internal/web/dist
COPY internal/httpapi/docsui internal/httpapi/docsui
RUN make web

FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
COPY --from=web /src/internal/web/dist internal/web/dist
COPY --from=web /src/internal/httpapi/docsui/dist internal/httpapi/docsui/dist
ARG TARGETOS TARGETARCH VERSION=dev COMMIT=unknown
# The pages are there: no Node.js is needed here.
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    GOOS=$TARGETOS GOARCH=$TARGETARCH make --assume-old=web bin/manager VERSION=$VERSION COMMIT=$COMMIT

# No shell, no package manager; certificate authorities and a user that is not root.
FROM gcr.io/distroless/static:nonroot
COPY --from=build /src/LICENSE /LICENSE
COPY --from=build /src/bin/manager /manager
USER 65532:65532
EXPOSE 8080 8081 9090
ENTRYPOINT ["/manager"]
