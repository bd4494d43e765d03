# The oldest Kubernetes that docs/support.md promises: what depends on the API server runs on it, too. Building it takes minutes,
# so this is not a part of `make test`.

##@ Check

OLDEST         := $(BIN)/oldest
OLDEST_VERSION := $(shell sed -n 's|^[[:space:]]*k8s.io/kubernetes \(v[^ ]*\).*|\1|p' hack/tools/oldest-kubernetes/go.mod)
OLDEST_LDFLAGS := -X $(KUBE_PKG).gitVersion=$(OLDEST_VERSION) -X $(KUBE_PKG).gitMajor=1 \
	-X $(KUBE_PKG).gitMinor=$(word 2,$(subst ., ,$(OLDEST_VERSION)))

$(OLDEST)/kube-apiserver: hack/tools/oldest-kubernetes/go.mod hack/tools/oldest-kubernetes/go.sum
	@go run ./hack/tool oldest-kube-apiserver hack/tools/oldest-kubernetes \
		k8s.io/kubernetes/cmd/kube-apiserver $@ "-s -w $(OLDEST_LDFLAGS)"

.PHONY: test-oldest
test-oldest: $(STACK) $(HELM) $(KUSTOMIZE) $(OLDEST)/kube-apiserver ## Test custom resources, controllers and policies on the oldest Kubernetes
	@ln -sf $(ETCD) $(KUBECTL) $(OLDEST)/
	@$(STEP) "tests on Kubernetes $(OLDEST_VERSION)" env KUBEBUILDER_ASSETS=$(OLDEST) \
		go test -tags slow -count=1 -timeout 20m $(TESTFLAGS) ./api/... ./controllers
	@$(STEP) "manifests and policies on Kubernetes $(OLDEST_VERSION)" env KUBEBUILDER_ASSETS=$(OLDEST) \
		go test -tags slow -count=1 -timeout 20m $(TESTFLAGS) ./internal/deploy

