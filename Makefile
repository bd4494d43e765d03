SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

include hack/tools/tools.mk

# Everything is built in one flavor: what tools, tests and the manager have in common is compiled once. A clone that belongs to
# another user, as in containers, has no readable history.
export CGO_ENABLED := 0
FLAVOR := -trimpath -buildvcs=false
export GOFLAGS := $(strip $(filter-out $(FLAVOR),$(shell go env GOFLAGS 2>/dev/null)) $(FLAVOR))

IMG     ?= localhost/convene:latest
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT  ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)

STEP := hack/step
UI   := internal/web/ui
DOCS := internal/httpapi/docsui

# What a machine brings itself is not built.
ASSETS  := $(filter-out $(BIN),$(KUBEBUILDER_ASSETS))
RUNNING := $(if $(ASSETS),,$(KUBE_APISERVER) $(ETCD)) $(LIVEKIT)
STACK   := $(RUNNING) $(if $(and $(ASSETS),$(wildcard $(ASSETS)/kubectl)),,$(KUBECTL))

# $(call beside-pages,TOOLS) makes tools, and the pages meanwhile. hack/tool makes one tool at a time, because Go's builds keep all
# cores busy; npm often waits for the network.
beside-pages = $(MAKE) --no-print-directory -s -j2 web $(1)

##@ Use

.PHONY: help
help: ## Show the targets
	@awk 'BEGIN {FS = ":.*## "} \
		/^##@ / {group = substr($$0, 5); if (!(group in targets)) groups[++n] = group; targets[group] = targets[group] ""} \
		/^[a-z-]+:.*## / {targets[group] = targets[group] sprintf("  %-15s %s\n", $$1, $$2)} \
		END {for (i = 1; i <= n; i++) printf "\n%s\n%s", groups[i], targets[groups[i]]}' $(MAKEFILE_LIST)

.PHONY: run
run: ## Build and start everything on this machine; Ctrl-C ends it
	@+$(call beside-pages,$(RUNNING))
	@$(MAKE) --no-print-directory bin/manager bin/local
	@exec bin/local --end-with-parent

##@ Build

.PHONY: build
build: bin/manager ## Build the room page and bin/manager

.PHONY: web
web: $(UI)/../dist/index.html $(DOCS)/dist/swagger-ui-bundle.js.gz ## Build the pages that the binary embeds

$(UI)/node_modules/.installed: $(UI)/package-lock.json
	@$(STEP) --usually "20 s" "npm packages of the room page" npm --prefix $(UI) ci --no-audit --no-fund --loglevel=error
	@touch $@

$(UI)/../dist/index.html: $(UI)/node_modules/.installed \
		$(shell find $(UI)/src $(UI)/embed $(UI)/build -type f) $(wildcard $(UI)/*.html $(UI)/*.json $(UI)/*.ts $(UI)/public/*)
	@$(STEP) --usually "30 s" "room page" npm --prefix $(UI) run --silent build
	@touch $@

$(DOCS)/node_modules/.installed: $(DOCS)/package-lock.json
	@$(STEP) --usually "10 s" "npm packages of the API's documentation" npm --prefix $(DOCS) ci --no-audit --no-fund --loglevel=error
	@touch $@

$(DOCS)/dist/swagger-ui-bundle.js.gz: $(DOCS)/node_modules/.installed $(DOCS)/build.mjs
	@$(STEP) --usually "5 s" "API documentation" npm --prefix $(DOCS) run --silent build
	@touch $@

# Go knows best what is out of date.
.PHONY: FORCE
FORCE:

bin/manager: web FORCE
	@$(STEP) --usually "a minute the first time" "bin/manager" go build -ldflags '-s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)' -o $@ ./cmd/manager

bin/local: FORCE
	@$(STEP) --usually "10 s the first time" "bin/local" go build -o $@ ./hack/local

.PHONY: tools
tools: $(STACK) $(CONTROLLER_GEN) $(KUSTOMIZE) $(GOLANGCI_LINT) ## Build the pinned tools into bin/

.PHONY: generate
generate: $(CONTROLLER_GEN) ## Generate deep copies, CRDs, roles, the API's documents, the chart's copies and the reference
	@$(CONTROLLER_GEN) object:headerFile=hack/boilerplate.go.txt paths=./api/...
	@$(CONTROLLER_GEN) crd paths=./api/... output:crd:artifacts:config=config/crd/bases
	@$(CONTROLLER_GEN) rbac:roleName=manager-role paths='{./cmd/...,./controllers/...,./internal/...}' \
		output:rbac:artifacts:config=config/rbac
	@go run ./hack/openapi internal/httpapi/openapi.yaml internal/httpapi/openapi
	@go run ./hack/commands internal/web/session.yaml
	@$(MAKE) --no-print-directory -s chart reference

.PHONY: modules
modules: ## Bring the project, the control plane and LiveKit to the same versions of modules
	@hack/modules

.PHONY: docker-build
docker-build: ## Build the image IMG (localhost/convene:latest)
	@$(STEP) "image $(IMG)" docker build --build-arg VERSION=$(VERSION) --build-arg COMMIT=$(COMMIT) -t $(IMG) .

.PHONY: clean
clean: ## Remove what was built; .local/ stays
	rm -rf bin $(UI)/node_modules $(DOCS)/node_modules
	find $(UI)/../dist $(DOCS)/dist -mindepth 1 -not -name .gitignore -delete

##@ Check

# SLOW is set by test-slow: then the tests with the build tag slow, and a short part of the faults, run too.
GO_TEST = env CONVENE_TREE="$$(hack/tree-hash)" go test $(if $(SLOW),-tags slow) -timeout $(if $(SLOW),60m,30m) $(TESTFLAGS)
# How many packages are tested at once. The tests of a package wait for API servers and deadlines for much of their time.
TWICE = $$(($$(getconf _NPROCESSORS_ONLN) * 2))
# End-to-end tests mostly wait for deadlines, which a busy machine misses. They run after all others, and testkit.Parallel bounds
# how many of them run at once.
MANY = -parallel 200

.PHONY: test test-slow test-page test-go test-e2e test-some test-prerequisites
test: ## Run what proves a change; PKG=./controllers RUN='^TestName$' for some of it
	@+$(call beside-pages,$(STACK) $(HELM) $(KUSTOMIZE))
	@hack/stages $(if $(PKG),test-some,test-page test-go test-e2e)

test-slow: export SLOW := yes
test-slow: ## Run the same with the slow tests; PKG=./internal/e2e RUN='^TestChat$' for some of it
	@+$(call beside-pages,$(STACK) $(HELM) $(HELM4) $(KUSTOMIZE))
	@hack/stages $(if $(PKG),test-some,test-page test-go test-e2e)

test-prerequisites:
	@$(STEP) "prerequisites" hack/test-prerequisites $(if $(SLOW),firefox php)
	@mkdir -p .local/screenshots

test-page: $(UI)/node_modules/.installed
	@npm --prefix $(UI) run --silent test -- --reporter=dot

test-go: $(STACK) web test-prerequisites
	@$(GO_TEST) -p $(TWICE) $$(go list ./... | grep -vE '/internal/($(if $(SLOW),,chaos|)e2e)$$')

test-e2e: $(STACK) web test-prerequisites
	@$(GO_TEST) $(MANY) ./internal/e2e

test-some: $(STACK) web test-prerequisites
	@$(GO_TEST) $(if $(findstring e2e,$(PKG)),$(MANY)) $(if $(RUN),-run '$(RUN)') $(PKG)

.PHONY: env
env: ## Print the variables that go test by hand needs: eval "$(make -s env)"
	@echo 'export CGO_ENABLED=$(CGO_ENABLED) GOFLAGS="$(GOFLAGS)" KUBEBUILDER_ASSETS="$(or $(KUBEBUILDER_ASSETS),$(BIN))"'

# In these packages goroutines share state.
SHARED := controllers $(addprefix internal/,conference directory httpserver kube limit livekit observer signalling tenant web)

.PHONY: test-race
test-race: export CGO_ENABLED := 1
test-race: $(STACK) $(HELM) $(KUSTOMIZE) web ## Run the packages in which goroutines share state under the race detector
	@$(STEP) "prerequisites" hack/test-prerequisites cc
	@$(GO_TEST) -race -p $(TWICE) $(addprefix ./,$(SHARED))

# .github/workflows/all.yaml has a job for each.
ALL := verify-all test-slow test-race test-faults test-upgrade test-cluster test-node test-flux test-oldest test-mutants

.PHONY: test-all
test-all: ## Run every check and every test there is, for hours; a table of the parts comes last
	@hack/stages $(ALL)

# One target for each check: `make -k verify` reports all that is wrong.
.PHONY: verify verify-all verify-modules verify-generated verify-comments verify-manifests verify-api verify-go verify-page
verify: verify-modules verify-generated verify-comments verify-go verify-page ## Lint all code; generated files and go.mod up to date
verify-all: verify verify-manifests verify-api ## verify, and manifests, licences, workflows and the image's steps for both architectures

verify-modules:
	@$(STEP) "go.mod is tidy" go mod tidy -diff

verify-generated: $(CONTROLLER_GEN)
	@$(STEP) "generated files are up to date" hack/generated

verify-comments:
	@$(STEP) "comments read once" go run ./hack/comments

verify-manifests: $(KUSTOMIZE)
	@$(STEP) "manifests build" hack/manifests $(KUSTOMIZE)

verify-api: $(KUBE_API_LINTER)
	@$(STEP) "the API follows Kubernetes' conventions" $(KUBE_API_LINTER) -test=false ./api/v1alpha1

verify-go: $(GOLANGCI_LINT) web
	@$(STEP) "lint Go" $(GOLANGCI_LINT) run
	@$(STEP) "the tests of \`make test\` build without those behind tags" go vet ./internal/e2e

verify-page: $(UI)/node_modules/.installed
	@$(STEP) "lint the room page" npm --prefix $(UI) run --silent lint
	@$(STEP) "types of the room page" $(UI)/node_modules/.bin/tsc --noEmit -p $(UI)

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (30s)
	@hack/fuzz $(or $(FUZZTIME),30s)

.PHONY: bench
bench: $(STACK) web ## Run the benchmarks and measure the whole on a real API server and LiveKit
	@go test -run '^$$' -bench . -benchmem ./internal/...
	@go test -tags bench -count=1 -timeout 30m -run '^TestBench' -v ./internal/e2e

# Sizes of bench-scale, each as meetings IN_USE or IN_USE+IDLE, and paths of the managers to compare; none is the one of this tree.
SCALE    ?= 1000 10000
MANAGERS ?=

.PHONY: bench-scale
bench-scale: $(STACK) web ## Measure a leader with thousands of meetings: SCALE="1000 3000+97000"
	@CONVENE_SCALE="$(SCALE)" CONVENE_SCALE_MANAGERS="$(MANAGERS)" \
		go test -tags bench -count=1 -timeout 5h -run '^TestScale$$' -v ./internal/e2e

.PHONY: screenshots
screenshots: $(STACK) web ## Take a picture of every screen into .local/screenshots/
	@$(STEP) "prerequisites" hack/test-prerequisites
	@$(STEP) "screenshots" env CONVENE_SCREENSHOTS=1 go test -tags slow -run TestEveryScreen -count=1 ./internal/e2e

include hack/faults.mk
include hack/upgrade.mk
include hack/deploy.mk
include hack/security.mk
include hack/cluster.mk
include hack/mutants.mk
include hack/release.mk
include hack/node.mk
include hack/oldest.mk

##@ Cluster (that of your KUBECONFIG)

.PHONY: install
install: $(KUSTOMIZE) $(KUBECTL) ## Install the CRDs
	@$(KUSTOMIZE) build config/crd | $(KUBECTL) apply --server-side -f -
	@# What is defined is served and explained a moment later.
	@for kind in meetings conferenceconfigs mediaservers; do \
		for try in $$(seq 60); do $(KUBECTL) explain $$kind >/dev/null 2>&1 && break || sleep 0.5; done; \
		$(KUBECTL) explain $$kind >/dev/null; \
	done

.PHONY: deploy
deploy: $(KUSTOMIZE) $(KUBECTL) ## Deploy Convene, from image IMG, with all it needs
	@$(KUSTOMIZE) build config/default | sed 's|image: localhost/convene:latest|image: $(IMG)|' | $(KUBECTL) apply --server-side -f -

.PHONY: uninstall
uninstall: $(KUSTOMIZE) $(KUBECTL) ## End all meetings and remove all that deploy has made
	@# The manager goes last: it is what ends meetings.
	@$(KUBECTL) delete conferenceconfigs --all --all-namespaces
	@$(KUBECTL) wait meetings --all --all-namespaces --for=condition=Ended --timeout=1m || true
	@$(KUBECTL) delete meetings --all --all-namespaces
	@$(KUSTOMIZE) build config/default | $(KUBECTL) delete --ignore-not-found -f -
