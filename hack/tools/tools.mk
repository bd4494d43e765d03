# Tools at exact versions, from Go modules of their own under hack/tools (their dependencies contradict each
# other), made once in bin/ and again only when that module's go.mod or go.sum changes. Those of the control plane and of
# LiveKit have the project's versions (`make modules`): what they share is compiled once. hack/tool takes the tool that another
# clone has built (~/.cache/convene/tools), or the release of a project where it is the one that hack/tool/archives.go pins, and
# builds otherwise. PREBUILT_FROM=https://mirror.example downloads from a mirror of github.com; PREBUILT_FROM= (empty) builds
# everything. make hands it on by itself.

BIN := $(abspath bin)

# The control plane's binaries; KUBEBUILDER_ASSETS, where it is set, is used instead.
KUBERNETES_VERSION := $(shell sed -n 's|^[[:space:]]*k8s.io/kubernetes \(v[^ ]*\).*|\1|p' hack/tools/kubernetes/go.mod)
KUBE_PKG     := k8s.io/component-base/version
KUBE_LDFLAGS := -X $(KUBE_PKG).gitVersion=$(KUBERNETES_VERSION) -X $(KUBE_PKG).gitMajor=1 \
	-X $(KUBE_PKG).gitMinor=$(word 2,$(subst ., ,$(KUBERNETES_VERSION)))

HELM_VERSION := $(shell sed -n 's|^[[:space:]]*helm.sh/helm/v3 \(v[^ ]*\).*|\1|p' hack/tools/helm/go.mod)
# Without a cluster, helm takes the version that it was built with for the cluster's.
HELM_LDFLAGS := -X helm.sh/helm/v3/internal/version.version=$(HELM_VERSION) \
	$(foreach p,chartutil lint/rules,-X helm.sh/helm/v3/pkg/$p.k8sVersionMajor=1 \
	-X helm.sh/helm/v3/pkg/$p.k8sVersionMinor=$(word 2,$(subst ., ,$(KUBERNETES_VERSION))))

ETCD           := $(BIN)/etcd
KUBE_APISERVER := $(BIN)/kube-apiserver
KUBECTL        := $(BIN)/kubectl
LIVEKIT        := $(BIN)/livekit-server
CONTROLLER_GEN := $(BIN)/controller-gen
KUSTOMIZE      := $(BIN)/kustomize
GOLANGCI_LINT  := $(BIN)/golangci-lint
HELM           := $(BIN)/helm
HELM4          := $(BIN)/helm4
CRD_REF_DOCS   := $(BIN)/crd-ref-docs
GOVULNCHECK    := $(BIN)/govulncheck
ACTIONLINT     := $(BIN)/actionlint
KUBE_API_LINTER := $(BIN)/kube-api-linter

# $(call tool,binary,module folder,package,ldflags)
define tool
$(BIN)/$(1): hack/tools/$(2)/go.mod hack/tools/$(2)/go.sum
	@go run ./hack/tool $(1) hack/tools/$(2) $(3) $(BIN)/$(1) "-s -w $(4)"
endef

$(eval $(call tool,etcd,kubernetes,go.etcd.io/etcd/server/v3))
$(eval $(call tool,kube-apiserver,kubernetes,k8s.io/kubernetes/cmd/kube-apiserver,$$(KUBE_LDFLAGS)))
$(eval $(call tool,kubectl,kubernetes,k8s.io/kubernetes/cmd/kubectl,$$(KUBE_LDFLAGS)))
$(eval $(call tool,livekit-server,livekit,github.com/livekit/livekit-server/cmd/server))
$(eval $(call tool,controller-gen,controller-gen,sigs.k8s.io/controller-tools/cmd/controller-gen))
$(eval $(call tool,kustomize,kustomize,sigs.k8s.io/kustomize/kustomize/v5))
$(eval $(call tool,golangci-lint,golangci-lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint))
$(eval $(call tool,helm,helm,helm.sh/helm/v3/cmd/helm,$$(HELM_LDFLAGS)))
$(eval $(call tool,helm4,helm4,helm.sh/helm/v4/cmd/helm))
$(eval $(call tool,crd-ref-docs,crd-ref-docs,github.com/elastic/crd-ref-docs))
$(eval $(call tool,govulncheck,govulncheck,golang.org/x/vuln/cmd/govulncheck))
$(eval $(call tool,actionlint,actionlint,github.com/rhysd/actionlint/cmd/actionlint))
$(eval $(call tool,kube-api-linter,kube-api-linter,.))
$(KUBE_API_LINTER): hack/tools/kube-api-linter/main.go
