// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"

	"convene.dev/convene/internal/devstack"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// TestLiveKitTakesTheEnginesConfiguration starts the LiveKit that the chart names with the chart's livekit.yaml. Only
// ports, and the folder of the certificate, are this machine's.
func TestLiveKitTakesTheEnginesConfiguration(t *testing.T) {
	ports, err := devstack.RandomPorts(4)
	if err != nil {
		t.Fatal(err)
	}
	api, udp, tcp, turn := ports[0], ports[1], ports[2], ports[3]
	certificate := selfSigned(t, "turn.example.com")
	all := manifests.Helm(t, manifests.SystemNamespace,
		"--set", "livekit.enabled=true,livekit.secretName=livekit,livekit.network=loadBalancer,livekit.loadBalancer.ips={127.0.0.1}",
		"--set", fmt.Sprintf("livekit.udpPort=%d,livekit.tcpPort=%d", udp, tcp),
		"--set", "livekit.turn.enabled=true,livekit.turn.domain=turn.example.com,livekit.turn.allowPeerCIDRs={127.0.0.0/8}",
		"--set", fmt.Sprintf("livekit.config.port=%d,livekit.config.turn.tls_port=%d", api, turn),
		"--set", "livekit.config.turn.cert_file="+certificate+".crt,livekit.config.turn.key_file="+certificate+".key",
	)
	config := filepath.Join(t.TempDir(), "livekit.yaml")
	written := manifests.As[corev1.ConfigMap](t, manifests.Find(t, all, "ConfigMap", "convene-livekit")).Data["livekit.yaml"]
	if err := os.WriteFile(config, []byte(written), 0o600); err != nil {
		t.Fatal(err)
	}
	var parsed struct {
		Room struct {
			AutoCreate *bool `json:"auto_create"`
		}
		RTC struct {
			MaxBuffered *int `json:"data_channel_max_buffered_amount"`
		}
		Limit struct {
			Video int `json:"subscription_limit_video"`
			Audio int `json:"subscription_limit_audio"`
		}
	}
	if err := yaml.Unmarshal([]byte(written), &parsed); err != nil || parsed.Room.AutoCreate == nil || *parsed.Room.AutoCreate {
		t.Fatalf("LiveKit would make rooms for anybody who was removed (%v):\n%s", err, written)
	}
	if most := parsed.RTC.MaxBuffered; most == nil || *most != 1<<20 {
		t.Errorf("LiveKit would hold any amount of data for a participant who takes none:\n%s", written)
	}
	if parsed.Limit.Video != 120 || parsed.Limit.Audio != 1000 {
		t.Errorf("a page would be sent any number of tracks:\n%s", written)
	}
	server, err := devstack.Start(t.Context(), devstack.Command{
		Name: "livekit-server", Path: manifests.Tool(t, "livekit-server"), Args: []string{"--config=" + config}, LogDir: t.TempDir(),
		Env: []string{
			"LIVEKIT_KEYS=key-of-a-test: secret-of-a-test-0123456789abcdef", "LIVEKIT_WEBHOOK_API_KEY=key-of-a-test", "NODE_IP=127.0.0.1",
		},
		Ready: func(ctx context.Context) error { return ok(ctx, "http://127.0.0.1:"+strconv.Itoa(api)+"/") },
		Grace: 100 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	testkit.Eventually(t, 30*time.Second, func() error {
		connection, err := dialer.DialContext(t.Context(), "tcp", "127.0.0.1:"+strconv.Itoa(turn))
		if err != nil {
			return err
		}
		defer func() { _ = connection.Close() }()
		return connection.(*tls.Conn).ConnectionState().PeerCertificates[0].VerifyHostname("turn.example.com")
	})
}

func ok(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, response.Status)
	}
	return nil
}

// selfSigned writes NAME.crt and NAME.key for a host and returns NAME.
func selfSigned(t *testing.T, host string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{host}, NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "tls")
	for file, block := range map[string]*pem.Block{
		name + ".crt": {Type: "CERTIFICATE", Bytes: certificate}, name + ".key": {Type: "EC PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return name
}

// TestWebhooksAreLetIn where the gateway takes requests from an Ingress alone: from LiveKit's pods, or from the machines whose network
// it uses.
func TestWebhooksAreLetIn(t *testing.T) {
	behindIngress := []string{"--set", "livekit.enabled=true,networkPolicy.gatewayFrom[0].podSelector.matchLabels.app=ingress"}
	behindBalancer := append([]string{"--set", "livekit.network=loadBalancer,livekit.loadBalancer.ips={203.0.113.7}"}, behindIngress...)
	all := manifests.Helm(t, manifests.SystemNamespace, behindBalancer...)
	livekit := manifests.As[appsv1.Deployment](t, manifests.Find(t, all, "Deployment", "convene-livekit-0"))
	if !letIn(t, all, livekit.Spec.Template.ObjectMeta) {
		t.Error("LiveKit's own pods are kept out")
	}
	if letIn(t, manifests.Helm(t, manifests.SystemNamespace, behindIngress...), livekit.Spec.Template.ObjectMeta) {
		t.Error("pods are let in that LiveKit on the hosts' network does not have")
	}

	machines := append([]string{"--set", "networkPolicy.nodeCIDRs={192.168.77.0/24}"}, behindIngress...)
	policy := manifests.As[networkingv1.NetworkPolicy](t, manifests.Find(t, manifests.Helm(t, manifests.SystemNamespace, machines...), "NetworkPolicy", "convene"))
	if from := policy.Spec.Ingress[0].From; len(from) != 2 || from[1].IPBlock == nil || from[1].IPBlock.CIDR != "192.168.77.0/24" {
		t.Errorf("the machines are kept out: %+v", from)
	}
}
