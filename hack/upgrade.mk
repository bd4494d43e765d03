# An older build and this one side by side, and what an update from the one to the other does to meetings, links and pages.
# Minutes, so not a part of `make test`.

# The build to update from: a commit, a tag or a branch of this repository. The first one whose custom resources have this shape:
# those of before are written again by hand (docs/stability.md).
UPGRADE_FROM ?= a7b1fda

##@ Check

.PHONY: test-upgrade
test-upgrade: $(STACK) web ## Update from the build of the commit UPGRADE_FROM to this one, and go back
	@$(STEP) "prerequisites" hack/test-prerequisites
	@from=$$(hack/previous-build "$(UPGRADE_FROM)"); \
	$(STEP) "update from $(UPGRADE_FROM)" env CONVENE_TREE="$$(hack/tree-hash)" CONVENE_UPGRADE_FROM="$$from" \
		go test -tags upgrade -count=1 -timeout 20m -run '^TestUpgrade' -v ./internal/e2e
