# What the product is made of: locked, licensed, known to be vulnerable or not, and written down.

##@ Check

SUPPLY := bin/supply
$(SUPPLY): $(wildcard hack/supply/*)
	@go build -C hack/supply -o $(abspath $@) .

verify-all: verify-supply
.PHONY: verify-supply
verify-supply: $(SUPPLY)
	@$(STEP) "modules are what go.sum says" go mod verify
	@$(STEP) "tests of the supply check" go test -C hack/supply ./...
	@$(STEP) "lock files and licences" $(SUPPLY) check

.PHONY: test-attack
test-attack: ## Attack the service and its media server in all ways that the tests know, and print what each costs
	@$(MAKE) --no-print-directory test-slow PKG=./internal/e2e RUN='^TestAttack' TESTFLAGS='-count=1 -v'

.PHONY: vuln
vuln: $(GOVULNCHECK) web ## Look for known vulnerabilities; 2 when a database is out of reach
	@$(STEP) "known vulnerabilities" hack/vuln $(GOVULNCHECK) $(UI) $(DOCS)

.PHONY: sbom
sbom: $(SUPPLY) bin/manager ## Write bills of materials (CycloneDX) into bin/sbom/
	@$(STEP) "bills of materials" $(SUPPLY) sbom bin/manager bin/sbom

# In the image beside the binary: licences ask that their text travels with copies.
NOTICES := bin/THIRD_PARTY_NOTICES
$(NOTICES): $(SUPPLY) bin/manager
	@$(STEP) "licences of what is in the image" $(SUPPLY) notices bin/manager $@
