# Two nodes of LiveKit over Redis, and what becomes of meetings when one is killed. Minutes, so not a part of `make test`.

##@ Check

.PHONY: test-cluster
test-cluster: $(STACK) web ## Two LiveKit nodes over Redis and two managers on this machine, one node is killed
	@$(STEP) "prerequisites" hack/test-prerequisites
	@command -v redis-server >/dev/null || hack/debian-packages redis-server
	@$(STEP) "two nodes of LiveKit" env CONVENE_TREE="$$(hack/tree-hash)" \
		go test -tags cluster -count=1 -timeout 20m -run '^TestTwoNodes' -v ./internal/e2e
