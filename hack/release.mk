# What a release publishes. .github/workflows/release.yaml runs these targets. release-files runs anywhere; the others need
# docker, a registry, and an identity to sign with.

##@ Release

# A release is tagged as its chart says.
RELEASE_VERSION := $(shell sed -n 's/^appVersion: //p' config/chart/Chart.yaml)
RELEASE_REPOSITORY ?= registry.example.com/convene
# Registries take no capital letters.
RELEASE_TO := $(shell echo '$(RELEASE_REPOSITORY)' | tr A-Z a-z)
RELEASE_IMG := $(RELEASE_TO):$(RELEASE_VERSION)
RELEASE := bin/release

.PHONY: release-files
release-files: $(HELM) $(KUSTOMIZE) sbom ## Write what a release publishes beside the image into bin/release/
	@$(STEP) "files of $(RELEASE_VERSION)" go run ./hack/release --helm $(HELM) --kustomize $(KUSTOMIZE) \
		--version $(or $(TAG),$(RELEASE_VERSION)) --image $(RELEASE_IMG) $(RELEASE) bin/sbom/*.json

.PHONY: release-login
release-login: $(HELM) ## Log in to the registry with REGISTRY_USER and REGISTRY_TOKEN of the environment
	@for tool in docker "$(HELM) registry"; do \
		printenv REGISTRY_TOKEN | $$tool login --username "$$REGISTRY_USER" --password-stdin $(firstword $(subst /, ,$(RELEASE_TO))); \
	done

.PHONY: release-image
release-image: ## Build and push the image for amd64 and arm64, with its bill of materials and provenance
	@mkdir -p bin
	@$(STEP) "image $(RELEASE_IMG)" docker buildx build --platform linux/amd64,linux/arm64 --push --tag $(RELEASE_IMG) \
		--provenance=mode=max --sbom=true --build-arg VERSION=$(RELEASE_VERSION) --build-arg COMMIT=$(COMMIT) \
		--metadata-file bin/release-image.json .

.PHONY: release-push
release-push: $(HELM) ## Push the chart of bin/release/, and sign image, chart and checksums without a key
	@hack/release-push $(HELM) $(RELEASE) $(RELEASE_TO) bin/release-image.json

.PHONY: release-publish
release-publish: ## Make the release of the tag with the files of bin/release/
	@gh release create $(RELEASE_VERSION) --verify-tag --title "Convene $(RELEASE_VERSION)" --notes-file $(RELEASE)/NOTES.md $(RELEASE)/*

verify-all: verify-workflows
.PHONY: verify-workflows
verify-workflows: $(ACTIONLINT)
	@$(STEP) "workflows" $(ACTIONLINT) -shellcheck= -pyflakes=
