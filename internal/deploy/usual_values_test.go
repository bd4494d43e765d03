// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/yaml"

	"convene.dev/convene/internal/testkit/manifests"
)

// usual is a setting that people know from other charts: those that `helm create` makes, and those of cert-manager, CloudNativePG,
// livekit-helm and Bitnami.
type usual struct {
	name, values string
	// appears are lines of KIND/NAME JSONPATH = VALUE: what the rendered objects have to hold. A value that is empty is one that has
	// to be missing.
	appears []string
}

// managers are settings of the managers' pods, and of all objects.
var managers = []usual{
	{"imagePullSecrets", `imagePullSecrets: [{name: a}, b]`, []string{
		`Deployment/convene .spec.template.spec.imagePullSecrets = [{name: a}, {name: b}]`,
	}},
	{"global.imagePullSecrets", `{global: {imagePullSecrets: [{name: a}]}, imagePullSecrets: [a, b], livekit: {enabled: true, redis: {create: true, passwordSecretName: r}}}`, []string{
		`Deployment/convene .spec.template.spec.imagePullSecrets = [{name: a}, {name: b}]`,
		`Deployment/convene-livekit .spec.template.spec.imagePullSecrets = [{name: a}, {name: b}]`,
		`Deployment/convene-livekit-redis .spec.template.spec.imagePullSecrets = [{name: a}, {name: b}]`,
		`Pod/convene-test-* .spec.imagePullSecrets = [{name: a}, {name: b}]`,
	}},
	{"podSecurityContext", `podSecurityContext: {fsGroup: 2000}`, []string{
		`Deployment/convene .spec.template.spec.securityContext = {fsGroup: 2000, runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}`,
	}},
	{"securityContext", `securityContext: {runAsUser: 1234, seccompProfile: null}`, []string{
		`Deployment/convene .spec.template.spec.containers[0].securityContext = ` +
			`{allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, readOnlyRootFilesystem: true, runAsNonRoot: true, runAsUser: 1234}`,
	}},
	{"volumes", `{volumes: [{name: ca, configMap: {name: ca}}], gatewayTLS: {secretName: cert}}`, []string{
		`Deployment/convene .spec.template.spec.volumes = [{name: tls, secret: {secretName: cert}}, {name: ca, configMap: {name: ca}}]`,
	}},
	{"volumeMounts", `volumeMounts: [{name: ca, mountPath: /ca}]`, []string{
		`Deployment/convene .spec.template.spec.containers[0].volumeMounts = [{name: ca, mountPath: /ca}]`,
	}},
	{"startupProbe", `startupProbe: {failureThreshold: 90}`, []string{
		`Deployment/convene .spec.template.spec.containers[0].startupProbe.failureThreshold = 90`,
		`Deployment/convene .spec.template.spec.containers[0].startupProbe.httpGet = {path: /readyz, port: health}`,
	}},
	{"livenessProbe", `livenessProbe: {timeoutSeconds: 7}`, []string{
		`Deployment/convene .spec.template.spec.containers[0].livenessProbe = ` +
			`{httpGet: {path: /healthz, port: health}, periodSeconds: 10, failureThreshold: 3, timeoutSeconds: 7}`,
	}},
	{"readinessProbe", `readinessProbe: {periodSeconds: 4}`, []string{
		`Deployment/convene .spec.template.spec.containers[0].readinessProbe = {httpGet: {path: /readyz, port: health}, periodSeconds: 4, failureThreshold: 1, timeoutSeconds: 5}`,
	}},
	{"strategy", `strategy: {type: Recreate}`, []string{`Deployment/convene .spec.strategy = {type: Recreate}`}},
	{"revisionHistoryLimit", `revisionHistoryLimit: 0`, []string{`Deployment/convene .spec.revisionHistoryLimit = 0`}},
	{"deploymentAnnotations", `deploymentAnnotations: {reloader.stakater.com/auto: "true"}`, []string{
		`Deployment/convene .metadata.annotations = {reloader.stakater.com/auto: "true"}`,
	}},
	{"commonAnnotations", `{commonAnnotations: {team: a}, service: {annotations: {b: c}}}`, []string{
		`Deployment/convene .metadata.annotations = {team: a}`,
		`Service/convene .metadata.annotations = {team: a, b: c}`,
		`Deployment/convene .spec.template.metadata.annotations =`,
	}},
	{"dnsConfig", `dnsConfig: {options: [{name: ndots, value: "1"}]}`, []string{
		`Deployment/convene .spec.template.spec.dnsConfig = {options: [{name: ndots, value: "1"}]}`,
	}},
	{"dnsPolicy", `dnsPolicy: Default`, []string{`Deployment/convene .spec.template.spec.dnsPolicy = Default`}},
	{"hostAliases", `hostAliases: [{ip: 192.0.2.1, hostnames: [livekit.example.com]}]`, []string{
		`Deployment/convene .spec.template.spec.hostAliases = [{ip: 192.0.2.1, hostnames: [livekit.example.com]}]`,
	}},
	{"runtimeClassName", `runtimeClassName: gvisor`, []string{`Deployment/convene .spec.template.spec.runtimeClassName = gvisor`}},
	{"extraObjects", `
extraObjects:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: 'of-{{ .Release.Name }}'}, data: {a: b}}
- |
  apiVersion: v1
  kind: ConfigMap
  metadata: {name: as-text}
`, []string{`ConfigMap/of-convene .data.a = b`, `ConfigMap/as-text .metadata.name = as-text`}},
	{"autoscaling", `{autoscaling: {enabled: true, maxReplicas: 5, targetMemoryUtilizationPercentage: 70, behavior: {scaleDown: {stabilizationWindowSeconds: 60}}}, replicaCount: 1}`, []string{
		`Deployment/convene .spec.replicas =`,
		`HorizontalPodAutoscaler/convene .spec.scaleTargetRef = {apiVersion: apps/v1, kind: Deployment, name: convene}`,
		`HorizontalPodAutoscaler/convene .spec.minReplicas = 2`,
		`HorizontalPodAutoscaler/convene .spec.maxReplicas = 5`,
		`HorizontalPodAutoscaler/convene .spec.metrics[*].resource.name = cpu`,
		`HorizontalPodAutoscaler/convene .spec.metrics[1].resource.target.averageUtilization = 70`,
		`HorizontalPodAutoscaler/convene .spec.behavior.scaleDown.stabilizationWindowSeconds = 60`,
		`PodDisruptionBudget/convene .spec.minAvailable = 1`,
	}},
	{"a number of managers that others set", `replicaCount: ""`, []string{
		`Deployment/convene .spec.replicas =`, `PodDisruptionBudget/convene .spec.minAvailable = 1`, `no HorizontalPodAutoscaler/convene`,
	}},
	{"no managers", `replicaCount: 0`, []string{`Deployment/convene .spec.replicas = 0`, `no PodDisruptionBudget/convene`}},
	{"podDisruptionBudget.maxUnavailable", `podDisruptionBudget: {maxUnavailable: 25%}`, []string{
		`PodDisruptionBudget/convene .spec.maxUnavailable = 25%`, `PodDisruptionBudget/convene .spec.minAvailable =`,
	}},
}

// addresses are settings of Services and of the Ingress.
var addresses = []usual{
	{"appProtocol", `{service: {port: 80}}`, []string{`Service/convene .spec.ports[0].appProtocol = http`}},
	{"no appProtocol for a cloud", `{service: {type: LoadBalancer}}`, []string{`Service/convene .spec.ports[0].appProtocol =`}},
	{"httpRoute", `
httpRoute:
  enabled: true
  labels: {a: b}
  parentRefs: [{name: gateway, sectionName: https}]
  hostnames: [meet.example.com]
  filters: [{type: RequestHeaderModifier}]
  additionalRules: [{matches: [{path: {value: /old}}], filters: [{type: RequestRedirect}]}]
`, []string{
		`HTTPRoute/convene .metadata.labels.a = b`,
		`HTTPRoute/convene .spec.rules[0].filters = [{type: RequestHeaderModifier}]`,
		`HTTPRoute/convene .spec.rules[1] = {matches: [{path: {value: /old}}], filters: [{type: RequestRedirect}]}`,
	}},
	{"service.labels", `service: {labels: {a: b}}`, []string{`Service/convene .metadata.labels.a = b`}},
	{"service.nodePort", `service: {type: NodePort, nodePort: 30080}`, []string{`Service/convene .spec.ports[0].nodePort = 30080`}},
	{"service.ipFamilyPolicy", `service: {ipFamilyPolicy: PreferDualStack}`, []string{`Service/convene .spec.ipFamilyPolicy = PreferDualStack`}},
	{"service.ipFamilies", `service: {ipFamilies: [IPv6, IPv4]}`, []string{`Service/convene .spec.ipFamilies = [IPv6, IPv4]`}},
	{"service.externalTrafficPolicy", `service: {type: LoadBalancer, externalTrafficPolicy: Local}`, []string{`Service/convene .spec.externalTrafficPolicy = Local`}},
	{"service.loadBalancerSourceRanges", `service: {type: LoadBalancer, loadBalancerSourceRanges: [192.0.2.0/24]}`, []string{
		`Service/convene .spec.loadBalancerSourceRanges = [192.0.2.0/24]`,
	}},
	{"ingress.hosts[].host and .paths", `
ingress:
  enabled: true
  hosts:
  - {host: a.example.com, paths: [{path: /meet, pathType: Exact}, {path: /media-server}]}
  - {host: b.example.com}
  - c.example.com
`, []string{
		`Ingress/convene .spec.rules[*].host = a.example.com`,
		`Ingress/convene .spec.rules[0].http.paths[0].path = /meet`,
		`Ingress/convene .spec.rules[0].http.paths[0].pathType = Exact`,
		`Ingress/convene .spec.rules[0].http.paths[1].pathType = Prefix`,
		`Ingress/convene .spec.rules[0].http.paths[1].backend.service = {name: convene, port: {name: http}}`,
		`Ingress/convene .spec.rules[1].http.paths[0].path = /`,
		`Ingress/convene .spec.rules[2].host = c.example.com`,
	}},
	{"ingress.tls", `ingress: {enabled: true, hosts: [a.example.com], tls: [{secretName: cert, hosts: [a.example.com]}]}`, []string{
		`Ingress/convene .spec.tls = [{secretName: cert, hosts: [a.example.com]}]`,
	}},
	{"ingress.labels", `ingress: {enabled: true, hosts: [a.example.com], labels: {a: b}}`, []string{`Ingress/convene .metadata.labels.a = b`}},
	{"ingress.pathType", `ingress: {enabled: true, hosts: [a.example.com], pathType: ImplementationSpecific}`, []string{
		`Ingress/convene .spec.rules[0].http.paths[0].pathType = ImplementationSpecific`,
	}},
}

// observed are settings of monitoring.
var observed = []usual{
	{"serviceMonitor.relabelings", `monitoring: {serviceMonitor: {enabled: true, relabelings: [{action: labeldrop, regex: pod}]}}`, []string{
		`ServiceMonitor/convene .spec.endpoints[0].relabelings = [{action: labeldrop, regex: pod}]`,
	}},
	{"serviceMonitor.metricRelabelings", `monitoring: {serviceMonitor: {enabled: true, metricRelabelings: [{action: drop, regex: go_.*, sourceLabels: [__name__]}]}}`, []string{
		`ServiceMonitor/convene .spec.endpoints[0].metricRelabelings = [{action: drop, regex: go_.*, sourceLabels: [__name__]}]`,
	}},
	{"serviceMonitor.scrapeTimeout", `monitoring: {serviceMonitor: {enabled: true, scrapeTimeout: 5s}}`, []string{
		`ServiceMonitor/convene .spec.endpoints[0] = {port: metrics, path: /metrics, interval: 30s, scrapeTimeout: 5s}`,
	}},
	{"serviceMonitor.namespace", `monitoring: {serviceMonitor: {enabled: true, namespace: monitoring}}`, []string{
		`ServiceMonitor/convene-system.convene .metadata.namespace = monitoring`,
		`ServiceMonitor/convene-system.convene .spec.namespaceSelector.matchNames = [convene-system]`,
	}},
	{"podMonitor", `monitoring: {podMonitor: {enabled: true, labels: {release: prometheus}, interval: 15s}}`, []string{
		`PodMonitor/convene .metadata.labels.release = prometheus`,
		`PodMonitor/convene .spec.podMetricsEndpoints = [{port: metrics, path: /metrics, interval: 15s}]`,
		`PodMonitor/convene .spec.selector.matchLabels = {app.kubernetes.io/name: convene, app.kubernetes.io/instance: convene, app.kubernetes.io/component: manager}`,
	}},
	{"thresholds of alerts", `monitoring: {prometheusRule: {enabled: true, alerts: {ConveneMeetingsStuckEnding: {threshold: 1800, for: 5m, severity: critical}}}}`, []string{
		`PrometheusRule/convene .spec.groups[0].rules[?(@.alert=="ConveneMeetingsStuckEnding")].expr = max by (cluster, namespace, tenant) (convene_meeting_ending_seconds) > 1800`,
		`PrometheusRule/convene .spec.groups[0].rules[?(@.alert=="ConveneMeetingsStuckEnding")].for = 5m`,
		`PrometheusRule/convene .spec.groups[0].rules[?(@.alert=="ConveneMeetingsStuckEnding")].labels.severity = critical`,
	}},
	{"alerts that are left out", `monitoring: {prometheusRule: {enabled: true, alerts: {ConveneAPISlow: {enabled: false}}}}`, []string{
		`PrometheusRule/convene .spec.groups[0].rules[?(@.alert=="ConveneAPISlow")].expr =`,
		`PrometheusRule/convene .spec.groups[0].rules[?(@.alert=="ConveneAPIErrors")].for = 5m`,
	}},
	{"dashboard.namespace", `monitoring: {dashboard: {enabled: true, namespace: grafana}}`, []string{`ConfigMap/convene-system.convene-dashboard .metadata.namespace = grafana`}},
}

// media are settings of LiveKit.
var media = []usual{
	{"livekit.affinity", `livekit: {enabled: true, affinity: {podAntiAffinity: {}}}`, []string{`Deployment/convene-livekit .spec.template.spec.affinity = {podAntiAffinity: {}}`}},
	{"livekit.podAnnotations", `livekit: {enabled: true, annotations: {c: d}, podAnnotations: {sidecar.istio.io/inject: "false"}}`, []string{
		`Deployment/convene-livekit .metadata.annotations.c = d`,
		`Deployment/convene-livekit .spec.template.metadata.annotations['sidecar\.istio\.io/inject'] = "false"`,
	}},
	{"livekit.priorityClassName", `livekit: {enabled: true, priorityClassName: media}`, []string{`Deployment/convene-livekit .spec.template.spec.priorityClassName = media`}},
	{"livekit.podSecurityContext", `livekit: {enabled: true, podSecurityContext: {runAsUser: 1000}}`, []string{
		`Deployment/convene-livekit .spec.template.spec.securityContext.runAsUser = 1000`,
		`Deployment/convene-livekit .spec.template.spec.securityContext.fsGroup = 65532`,
	}},
	{"livekit.autoscaling", `livekit: {enabled: true, redis: {address: "r:6379"}, autoscaling: {enabled: true, minReplicas: 2, maxReplicas: 6, targetCPUUtilizationPercentage: 60}}`, []string{
		`Deployment/convene-livekit .spec.replicas =`,
		`HorizontalPodAutoscaler/convene-livekit .spec.scaleTargetRef.name = convene-livekit`,
		`HorizontalPodAutoscaler/convene-livekit .spec.metrics[0].resource.target.averageUtilization = 60`,
		`HorizontalPodAutoscaler/convene-livekit .spec.maxReplicas = 6`,
	}},
	{"a number of nodes that others set", `livekit: {enabled: true, nodes: "", redis: {address: "r:6379"}}`, []string{
		`Deployment/convene-livekit .spec.replicas =`, `PodDisruptionBudget/convene-livekit .spec.maxUnavailable = 1`,
	}},
	{"no nodes", `livekit: {enabled: true, nodes: 0}`, []string{
		`Deployment/convene-livekit .spec.replicas = 0`, `no PodDisruptionBudget/convene-livekit`,
	}},
	{"no nodes behind load balancers", `
livekit: {enabled: true, nodes: 0, network: loadBalancer, loadBalancer: {ips: [192.0.2.1, 192.0.2.2], nodeAnnotations: [{a: b}, {a: c}]}}
`, []string{
		`Deployment/convene-livekit-1 .spec.replicas = 0`,
		`Service/convene-livekit-1 .metadata.annotations = {a: c}`,
	}},
	{"TURN with TLS of the load balancer", `livekit: {enabled: true, turn: {enabled: true, domain: turn.example.com, externalTLS: true, annotations: {certificate: of mine}}}`, []string{
		`Deployment/convene-livekit .spec.template.spec.volumes = [{name: config, configMap: {name: convene-livekit}}]`,
		`Service/convene-livekit-turn .metadata.annotations.certificate = of mine`,
		`Service/convene-livekit-turn .spec.ports = [{name: turn, port: 443, targetPort: turn}]`,
	}},
	{"TURN over UDP", `livekit: {enabled: true, network: loadBalancer, loadBalancer: {ips: [192.0.2.1]}, turn: {udpPort: 3478}}`, []string{
		`Deployment/convene-livekit-0 .spec.template.spec.containers[0].ports[?(@.name=="turn-udp")] = {name: turn-udp, containerPort: 3478, protocol: UDP}`,
		`Service/convene-livekit-0 .spec.ports[?(@.name=="turn-udp")] = {name: turn-udp, port: 3478, targetPort: turn-udp, protocol: UDP}`,
		`NetworkPolicy/convene-livekit .spec.ingress[1].ports[?(@.port=="turn-udp")] = {port: turn-udp, protocol: UDP}`,
		`no Service/convene-livekit-turn`,
	}},
	{"IP families", `
livekit:
  enabled: true
  nodes: 2
  network: loadBalancer
  loadBalancer: {ips: ["2001:db8::10", 192.0.2.1]}
  config: {rtc: null}
  redis: {create: true}
  ipFamilyPolicy: PreferDualStack
  ipFamilies: [IPv6, IPv4]
service: {ipFamilyPolicy: RequireDualStack}
`, []string{
		`Service/convene-livekit-0 .spec.ipFamilies = [IPv6]`,
		`Service/convene-livekit-1 .spec.ipFamilies =`,
		`Service/convene-livekit .spec.ipFamilies = [IPv6, IPv4]`,
		`Service/convene-livekit-redis .spec.ipFamilyPolicy = PreferDualStack`,
		`Service/convene .spec.ipFamilyPolicy = RequireDualStack`,
	}},
	{"the IP family of TURN", `livekit: {enabled: true, turn: {enabled: true, domain: turn.example.com}, ipFamilyPolicy: PreferDualStack}`, []string{
		`Service/convene-livekit-turn .spec.ipFamilyPolicy = PreferDualStack`,
	}},
	{"addresses of load balancers that are not there", `livekit: {enabled: true, loadBalancer: {ips: ["2001:db8::1", 192.0.2.1]}, turn: {udpPort: 3478}}`, []string{
		`Deployment/convene-livekit .spec.replicas = 1`,
	}},
	{"two keys of LiveKit", `livekit: {enabled: true, secretName: new, previousSecretName: old}`, []string{
		`Deployment/convene-livekit .spec.template.spec.containers[0].env[?(@.name=="LIVEKIT_API_KEY")].valueFrom.secretKeyRef.name = new`,
		`Deployment/convene-livekit .spec.template.spec.containers[0].env[?(@.name=="LIVEKIT_PREVIOUS_API_KEY")].valueFrom.secretKeyRef.name = old`,
	}},
	{"livekit.serviceMonitor", `livekit: {enabled: true, network: loadBalancer, loadBalancer: {ips: [192.0.2.1]}, serviceMonitor: {enabled: true, labels: {a: b}}}`, []string{
		`ServiceMonitor/convene-livekit .metadata.labels.a = b`,
		`ServiceMonitor/convene-livekit .spec.endpoints[0].port = metrics`,
		`Service/convene-livekit .spec.ports[?(@.name=="metrics")].targetPort = metrics`,
		`Deployment/convene-livekit-0 .spec.template.spec.containers[0].ports[?(@.name=="metrics")].containerPort = 6789`,
		`NetworkPolicy/convene-livekit-metrics .spec.ingress[0].ports[0].port = metrics`,
	}},
	{"livekit.topologySpreadConstraints", `livekit: {enabled: true, topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}`, []string{
		`Deployment/convene-livekit .spec.template.spec.topologySpreadConstraints[0].topologyKey = zone`,
		`Deployment/convene-livekit .spec.template.spec.topologySpreadConstraints[0].labelSelector.matchLabels['app\.kubernetes\.io/component'] = livekit`,
	}},
	{"livekit.podDisruptionBudget", `livekit: {enabled: true, nodes: 3, redis: {address: "r:6379"}, podDisruptionBudget: {maxUnavailable: 2}}`, []string{
		`PodDisruptionBudget/convene-livekit .spec.maxUnavailable = 2`,
	}},
	{"livekit.image.digest", `livekit: {enabled: true, image: {digest: "sha256:` + strings.Repeat("0", 64) + `"}}`, []string{
		`Deployment/convene-livekit .spec.template.spec.containers[0].image = docker.io/livekit/livekit-server@sha256:` + strings.Repeat("0", 64),
	}},
	{"annotations of each load balancer", `
livekit:
  enabled: true
  nodes: 2
  redis: {address: "r:6379"}
  network: loadBalancer
  loadBalancer: {ips: [192.0.2.1, 192.0.2.2], annotations: {all: of them}, nodeAnnotations: [{eip: a}, {eip: b}]}
`, []string{
		`Service/convene-livekit-0 .metadata.annotations = {all: of them, eip: a}`,
		`Service/convene-livekit-1 .metadata.annotations = {all: of them, eip: b}`,
	}},
	{"livekit.extraEnv", `livekit: {enabled: true, extraEnv: [{name: SSL_CERT_DIR, value: /ca}]}`, []string{
		`Deployment/convene-livekit .spec.template.spec.containers[0].env[?(@.name=="SSL_CERT_DIR")].value = /ca`,
		`Deployment/convene-livekit .spec.template.spec.containers[0].env[?(@.name=="LIVEKIT_KEYS")].value = "$(LIVEKIT_API_KEY): $(LIVEKIT_API_SECRET)"`,
	}},
	{"livekit.volumes", `livekit: {enabled: true, volumes: [{name: ca, configMap: {name: ca}}], volumeMounts: [{name: ca, mountPath: /ca}]}`, []string{
		`Deployment/convene-livekit .spec.template.spec.volumes = [{name: config, configMap: {name: convene-livekit}}, {name: ca, configMap: {name: ca}}]`,
		`Deployment/convene-livekit .spec.template.spec.containers[0].volumeMounts[?(@.name=="ca")].mountPath = /ca`,
	}},
	{"livekit.redis.address with IPv6", `livekit: {enabled: true, nodes: 2, redis: {address: "[fd00::1]:6379"}}`, []string{
		`Deployment/convene-livekit .spec.replicas = 2`,
	}},
	{"Sentinel", `livekit: {enabled: true, nodes: 2, config: {redis: {sentinel_master_name: mymaster, sentinel_addresses: ["s:26379"]}}}`, []string{
		`Deployment/convene-livekit .spec.replicas = 2`,
	}},
	{"Redis Cluster", `livekit: {enabled: true, redis: {passwordSecretName: redis}, autoscaling: {enabled: true}, config: {redis: {cluster_addresses: ["r:6379"]}}}`, []string{
		`Deployment/convene-livekit .spec.template.spec.containers[0].env[?(@.name=="REDIS_PASSWORD")].valueFrom.secretKeyRef.name = redis`,
	}},
	{"livekit.redis as a pod", `
livekit:
  enabled: true
  imagePullSecrets: [{name: livekit}]
  redis:
    create: true
    passwordSecretName: redis
    imagePullSecrets: [{name: redis}]
    resources: {limits: {memory: 1Gi}}
    nodeSelector: {a: b}
    tolerations: [{operator: Exists}]
    image: {tag: "8", pullPolicy: Always}
`, []string{
		`Deployment/convene-livekit .spec.template.spec.imagePullSecrets = [{name: livekit}]`,
		`Deployment/convene-livekit-redis .spec.template.spec.imagePullSecrets = [{name: redis}]`,
		`Deployment/convene-livekit-redis .spec.template.spec.containers[0].resources = {requests: {cpu: 50m, memory: 64Mi}, limits: {memory: 1Gi}}`,
		`Deployment/convene-livekit-redis .spec.template.spec.nodeSelector = {a: b}`,
		`Deployment/convene-livekit-redis .spec.template.spec.tolerations = [{operator: Exists}]`,
		`Deployment/convene-livekit-redis .spec.template.spec.containers[0].image = docker.io/library/redis:8`,
		`Deployment/convene-livekit-redis .spec.template.spec.containers[0].imagePullPolicy = Always`,
	}},
}

// TestUsualValuesWork: settings that users bring from other charts do here what they do there.
func TestUsualValuesWork(t *testing.T) {
	var all []usual
	for _, some := range [][]usual{managers, addresses, observed, media} {
		all = append(all, some...)
	}
	for _, u := range all {
		t.Run(u.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "values.yaml")
			if err := os.WriteFile(file, []byte(u.values), 0o600); err != nil {
				t.Fatal(err)
			}
			rendered := manifests.Helm(t, manifests.SystemNamespace, "--values", file)
			for _, line := range u.appears {
				appears(t, rendered, line)
			}
		})
	}
}

// appears looks for KIND/NAME JSONPATH = VALUE, or for no object in "no KIND/NAME".
func appears(t *testing.T, rendered []*unstructured.Unstructured, line string) {
	t.Helper()
	if absent, ok := strings.CutPrefix(line, "no "); ok {
		kind, name, _ := strings.Cut(absent, "/")
		if slices.ContainsFunc(manifests.OfKind(rendered, kind), func(o *unstructured.Unstructured) bool { return o.GetName() == name }) {
			t.Errorf("%s is rendered", absent)
		}
		return
	}
	where, want, ok := strings.Cut(line, " =")
	object, path, also := strings.Cut(where, " ")
	kind, name, named := strings.Cut(object, "/")
	if !ok || !also || !named {
		t.Fatalf("not KIND/NAME JSONPATH = VALUE: %s", line)
	}
	look := jsonpath.New("").AllowMissingKeys(true)
	if err := look.Parse("{" + path + "}"); err != nil {
		t.Fatal(err)
	}
	var wanted, got any
	if err := yaml.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	if prefix, ok := strings.CutSuffix(name, "*"); ok {
		for _, o := range manifests.OfKind(rendered, kind) {
			if strings.HasPrefix(o.GetName(), prefix) {
				name = o.GetName()
			}
		}
	}
	found, err := look.FindResults(manifests.Find(t, rendered, kind, name).Object)
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	if len(found[0]) > 0 {
		raw, err := json.Marshal(found[0][0].Interface())
		if err != nil {
			t.Fatal(err)
		}
		if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&got); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("%s (- wanted, + rendered):\n%s", where, diff)
	}
}
