# A real Kubernetes node on this machine, in namespaces of its own (hack/node), and the tests that run on it. It needs root and
# minutes, so it is not a part of `make test`.

NODE_IMAGES := .local/node/images
NODE        := $(BIN)/node
PACK        := $(BIN)/pack

# containerd without what no test uses.
CONTAINERD_TAGS := -tags=no_btrfs,no_devmapper,no_zfs,no_aufs,no_tracing
$(addprefix $(BIN)/,containerd containerd-shim-runc-v2 ctr): export GOFLAGS := $(GOFLAGS) $(CONTAINERD_TAGS)

CONTAINERD  := github.com/containerd/containerd/v2/cmd
CNI_PLUGINS := github.com/containernetworking/plugins/plugins
$(eval $(call tool,kubelet,kubernetes,k8s.io/kubernetes/cmd/kubelet,$$(KUBE_LDFLAGS)))
$(eval $(call tool,kube-controller-manager,kubernetes,k8s.io/kubernetes/cmd/kube-controller-manager,$$(KUBE_LDFLAGS)))
$(eval $(call tool,kube-scheduler,kubernetes,k8s.io/kubernetes/cmd/kube-scheduler,$$(KUBE_LDFLAGS)))
$(eval $(call tool,kube-proxy,kubernetes,k8s.io/kubernetes/cmd/kube-proxy,$$(KUBE_LDFLAGS)))
$(eval $(call tool,containerd,containerd,$(CONTAINERD)/containerd))
$(eval $(call tool,containerd-shim-runc-v2,containerd,$(CONTAINERD)/containerd-shim-runc-v2))
$(eval $(call tool,ctr,containerd,$(CONTAINERD)/ctr))
$(eval $(call tool,cni/bridge,cni,$(CNI_PLUGINS)/main/bridge))
$(eval $(call tool,cni/loopback,cni,$(CNI_PLUGINS)/main/loopback))
$(eval $(call tool,cni/host-local,cni,$(CNI_PLUGINS)/ipam/host-local))
$(eval $(call tool,cni/portmap,cni,$(CNI_PLUGINS)/meta/portmap))
$(eval $(call tool,coredns,coredns,.))
$(eval $(call tool,network-policies,network-policies,.))
$(eval $(call tool,pack,pack,.))
FLUX := helm-controller kustomize-controller source-controller
$(foreach c,$(FLUX),$(eval $(call tool,$(c),flux,github.com/fluxcd/$(c))))
$(BIN)/coredns: hack/tools/coredns/main.go
$(BIN)/network-policies: hack/tools/network-policies/main.go
$(PACK): $(wildcard hack/tools/pack/*.go)

# In the order of their size: what waits longest is built first.
NODE_PARTS := $(addprefix $(BIN)/,kubelet kube-controller-manager kube-scheduler kube-proxy containerd containerd-shim-runc-v2 ctr \
	coredns network-policies cni/bridge cni/loopback cni/host-local cni/portmap)

##@ Check

# It upgrades from the build that test-upgrade does (UPGRADE_FROM).
.PHONY: test-node
test-node: node-fits $(NODE_PARTS) $(STACK) $(HELM) $(KUSTOMIZE) node-images ## Install Convene on a real Kubernetes node on this machine, and use it; needs root
	@$(STEP) "prerequisites" hack/test-prerequisites
	@from=$$(hack/previous-build "$(UPGRADE_FROM)"); \
	mkdir -p $(NODE_IMAGES)/convene-older; \
	$(PACK) -o $(NODE_IMAGES)/convene-older -name localhost/convene:older -entrypoint /manager "/manager=$$from/manager"; \
	$(STEP) "tests on a real node" env KUBEBUILDER_ASSETS= CONVENE_UPGRADE_FROM="$$from" \
		go test -tags node -count=1 -timeout 20m -run '^TestNode' -v -exec '$(NODE) -images $(abspath $(NODE_IMAGES))' ./internal/e2e $(NODEFLAGS)

# Flux brings the clients of every cloud, and so more minutes to build.
.PHONY: test-flux
test-flux: node-fits $(NODE_PARTS) $(STACK) $(HELM) $(addprefix $(BIN)/,$(FLUX)) $(BIN)/flux-crds.yaml node-images ## Have Flux apply the example repository on a real Kubernetes node on this machine; needs root
	@$(STEP) "Flux on a real node" env KUBEBUILDER_ASSETS= \
		go test -tags node -count=1 -timeout 20m -run '^TestFlux' -v -exec '$(NODE) -images $(abspath $(NODE_IMAGES))' ./internal/e2e $(NODEFLAGS)

# The definitions of Flux' kinds, and of those of the Gateway API that the chart uses, as their projects have them.
GATEWAY_API := sigs.k8s.io/gateway-api@v1.6.3
$(BIN)/flux-crds.yaml: hack/tools/flux/go.mod
	@cd hack/tools/flux && go mod download $(addprefix github.com/fluxcd/,$(FLUX)) \
		&& sources="$$(go list -m -f '{{.Dir}}/config/crd/bases' $(addprefix github.com/fluxcd/,$(FLUX)))" \
		&& gateways=$$(go mod download -json $(GATEWAY_API) | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')/config/crd/standard \
		&& for file in $$(find $$sources -name '*.yaml') $$gateways/*_gateways.yaml $$gateways/*_httproutes.yaml; do \
			echo ---; cat $$file; done >$@

.PHONY: node
node: node-fits $(NODE_PARTS) $(STACK) $(HELM) node-images ## A shell on a real Kubernetes node on this machine, with kubectl and helm; needs root
	@$(NODE) -images $(abspath $(NODE_IMAGES)) bash

# Whether this machine can run a node: first, because the parts take minutes to build.
.PHONY: node-fits node-packages
node-fits: node-packages bin/node
	@$(NODE) -check

# What cannot be installed is named by node-fits.
node-packages:
	@[ "$$(id -u)" != 0 ] || hack/debian-packages iproute2 iptables nftables runc redis-server || true

bin/node: FORCE
	@go build -o $@ ./hack/node

.local/node/bin/%: FORCE
	@mkdir -p $(@D)
	@go build -ldflags '-s -w' -o $@ ./hack/node/$*

# $(call image,name,what it is made of,arguments of pack)
define image
node-images: $(NODE_IMAGES)/$(1)/index.json
$(NODE_IMAGES)/$(1)/index.json: $(PACK) $(2)
	@mkdir -p $$(@D)
	@$(PACK) -o $$(@D) $(3)
endef

.PHONY: node-images
# The image of the managers is made of the steps of the Dockerfile.
$(eval $(call image,convene,node-manager Dockerfile,-name localhost/convene:node -dockerfile Dockerfile))
$(eval $(call image,livekit,$(LIVEKIT),-name docker.io/livekit/livekit-server:node -entrypoint /livekit-server /livekit-server=$(LIVEKIT)))
$(eval $(call image,redis,,-name docker.io/library/redis:node -entrypoint /usr/bin/redis-server -libraries /usr/bin/redis-server=/usr/bin/redis-server))
$(eval $(call image,coredns,$(BIN)/coredns,-name localhost/coredns:node -entrypoint /coredns /coredns=$(BIN)/coredns))
$(eval $(call image,pause,.local/node/bin/pause,-name registry.k8s.io/pause:node -entrypoint /pause /pause=.local/node/bin/pause))
$(eval $(call image,dial,.local/node/bin/dial,-name localhost/dial:node -entrypoint /dial /dial=.local/node/bin/dial))
$(eval $(call image,ingress,.local/node/bin/ingress,-name localhost/ingress:node -entrypoint /ingress /ingress=.local/node/bin/ingress))

.PHONY: node-manager
node-manager: web
	@$(STEP) "steps of the image" hack/image-steps $$(go env GOARCH)
