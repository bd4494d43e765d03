# The Helm chart, the generated reference, and what checks them.

##@ Build

tools: $(HELM) $(CRD_REF_DOCS)
test-go test-e2e test-some: $(HELM) $(KUSTOMIZE) $(if $(SLOW),$(HELM4))
verify-generated generate: $(CRD_REF_DOCS) $(UI)/node_modules/.installed
generate: page-types

.PHONY: chart
chart: ## Bring CRDs, roles, alerts and the table of values into the Helm chart
	@go run ./hack/chart

.PHONY: reference
reference: $(CRD_REF_DOCS) ## Write docs/configure.md from the types
	@$(CRD_REF_DOCS) --log-level ERROR --config hack/reference/config.yaml --source-path api/v1alpha1 --max-depth 20 \
		--renderer markdown --templates-dir hack/reference/templates --output-path docs/configure.md

.PHONY: page-types
page-types: $(UI)/node_modules/.installed ## Write the room page's types from internal/web/session.yaml
	@npm --prefix $(UI) run --silent generate >/dev/null 2>&1 || npm --prefix $(UI) run generate

verify-all: verify-promql
.PHONY: verify-promql
verify-promql:
	@$(STEP) "expressions of alerts and dashboard" go run -C hack/promql . \
		$(addprefix $(CURDIR)/config/components/monitoring/,rules.yaml dashboard.json)

verify-all: verify-image
.PHONY: verify-image
verify-image: web
	@$(STEP) "steps of the image" hack/image-steps
