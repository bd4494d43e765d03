// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"net/url"
	"slices"
	"strconv"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"convene.dev/convene/internal/testkit/manifests"
)

// LiveKit in the cluster sends its webhooks to the managers' Service. Where the gateway serves TLS, its certificate is for the
// public host: LiveKit would refuse it.
func TestWebhooksReachTheManagersWithoutTheGatewaysCertificate(t *testing.T) {
	for _, secret := range []string{"", "certificate"} {
		all := manifests.Helm(t, manifests.SystemNamespace, "--set", "livekit.enabled=true,gatewayTLS.secretName="+secret)
		var config struct{ Webhook struct{ URLs []string } }
		written := manifests.As[corev1.ConfigMap](t, manifests.Find(t, all, "ConfigMap", "convene-livekit")).Data["livekit.yaml"]
		if err := yaml.Unmarshal([]byte(written), &config); err != nil || len(config.Webhook.URLs) != 1 {
			t.Fatalf("%v:\n%s", err, written)
		}
		to, err := url.Parse(config.Webhook.URLs[0])
		if err != nil || to.Scheme != "http" {
			t.Fatalf("with TLS %q, webhooks go to %s (%v)", secret, config.Webhook.URLs[0], err)
		}
		service := manifests.As[corev1.Service](t, manifests.Find(t, all, "Service", "convene"))
		at := slices.IndexFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return strconv.Itoa(int(p.Port)) == to.Port() })
		if at < 0 || *service.Spec.Ports[at].AppProtocol != "http" {
			t.Fatalf("with TLS %q, the Service does not take plain HTTP at %s", secret, to.Port())
		}
		pod := manifests.As[appsv1.Deployment](t, manifests.Find(t, all, "Deployment", "convene")).Spec.Template.Spec.Containers[0]
		port := slices.IndexFunc(pod.Ports, func(p corev1.ContainerPort) bool { return p.Name == service.Spec.Ports[at].TargetPort.StrVal })
		if port < 0 {
			t.Fatalf("with TLS %q, the pod has no port %s", secret, service.Spec.Ports[at].TargetPort.StrVal)
		}
		argument := "--webhook-bind-address=:" + strconv.Itoa(int(pod.Ports[port].ContainerPort))
		if slices.Contains(pod.Args, argument) != (secret != "") {
			t.Errorf("with TLS %q, the manager runs with %q", secret, pod.Args)
		}
	}
}
