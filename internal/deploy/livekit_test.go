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
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"

	"convene.dev/convene/internal/devstack"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/livekit"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// TestLiveKitTakesTheChartsConfiguration starts the LiveKit that the chart names with the chart's livekit.yaml and keys. Only ports, and the
// folder of the certificate, are this machine's.
func TestLiveKitTakesTheChartsConfiguration(t *testing.T) {
	for name, of := range map[string]struct {
		externalTLS bool
		ip          string
	}{
		"LiveKit ends TLS": {false, "127.0.0.1"}, "the load balancer ends TLS": {true, "127.0.0.1"}, "IPv6": {true, "2001:db8::1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			takesTheChartsConfiguration(t, of.externalTLS, of.ip)
		})
	}
}

func takesTheChartsConfiguration(t *testing.T, externalTLS bool, ip string) {
	ports, err := devstack.RandomPorts(5)
	if err != nil {
		t.Fatal(err)
	}
	api, udp, tcp, turn, turnUDP := ports[0], ports[1], ports[2], ports[3], ports[4]
	all := manifests.Helm(t, manifests.SystemNamespace,
		"--set", "livekit.enabled=true,livekit.secretName=livekit,livekit.previousSecretName=before,livekit.network=loadBalancer,livekit.loadBalancer.ips={"+ip+"}",
		"--set", fmt.Sprintf("livekit.udpPort=%d,livekit.tcpPort=%d,livekit.turn.udpPort=%d", udp, tcp, turnUDP),
		"--set", fmt.Sprintf("livekit.turn.enabled=true,livekit.turn.domain=turn.example.com,livekit.turn.allowPeerCIDRs={127.0.0.0/8},livekit.turn.externalTLS=%v", externalTLS),
		"--set", "livekit.config.webhook.urls={http://127.0.0.1:9/theirs}",
	)
	written := manifests.As[corev1.ConfigMap](t, manifests.Find(t, all, "ConfigMap", "convene-livekit")).Data["livekit.yaml"]
	var parsed struct {
		Room struct {
			AutoCreate   *bool `json:"auto_create"`
			RemoteUnmute bool  `json:"enable_remote_unmute"`
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
	if !parsed.Room.RemoteUnmute {
		t.Errorf("a telephone that was muted would stay so:\n%s", written)
	}
	if most := parsed.RTC.MaxBuffered; most == nil || *most != 1<<20 {
		t.Errorf("LiveKit would hold any amount of data for a participant who takes none:\n%s", written)
	}
	if parsed.Limit.Video != 120 || parsed.Limit.Audio != 1000 {
		t.Errorf("a page would be sent any number of tracks:\n%s", written)
	}
	here := map[string]any{}
	if err := yaml.Unmarshal([]byte(written), &here); err != nil {
		t.Fatal(err)
	}
	if urls := fmt.Sprint(here["webhook"]); !strings.Contains(urls, "/theirs") || !strings.Contains(urls, "/media-server/webhook") {
		t.Errorf("LiveKit tells only %s", urls)
	}
	ofTurn := here["turn"].(map[string]any)
	here["port"], ofTurn["tls_port"] = api, turn
	if !externalTLS {
		certificate := selfSigned(t, "turn.example.com")
		ofTurn["cert_file"], ofTurn["key_file"] = certificate+".crt", certificate+".key"
	}
	config := filepath.Join(t.TempDir(), "livekit.yaml")
	write(t, config, here)
	value := map[string]string{
		"LIVEKIT_API_KEY": "key-of-a-test", "LIVEKIT_API_SECRET": "secret-of-a-test-0123456789abcdef",
		"LIVEKIT_PREVIOUS_API_KEY": "key-of-before", "LIVEKIT_PREVIOUS_API_SECRET": "secret-of-before-0123456789abcdef",
	}
	var expand []string
	for name, v := range value {
		expand = append(expand, "$("+name+")", v)
	}
	env := []string{"NODE_IP=" + ip}
	pod := manifests.As[appsv1.Deployment](t, manifests.Find(t, all, "Deployment", "convene-livekit-0")).Spec.Template.Spec
	for _, e := range pod.Containers[0].Env {
		if strings.Contains(e.Value, "$(") {
			env = append(env, e.Name+"="+strings.NewReplacer(expand...).Replace(e.Value))
		}
	}
	server, err := devstack.Start(t.Context(), devstack.Command{
		Name: "livekit-server", Path: manifests.Tool(t, "livekit-server"), Args: []string{"--config=" + config}, LogDir: t.TempDir(), Env: env,
		Ready: func(ctx context.Context) error { return ok(ctx, "http://127.0.0.1:"+strconv.Itoa(api)+"/") },
		Grace: 100 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	for _, of := range []string{"LIVEKIT_", "LIVEKIT_PREVIOUS_"} {
		e, err := livekit.New("test", engine.Server{URL: "http://127.0.0.1:" + strconv.Itoa(api), Key: value[of+"API_KEY"], Secret: value[of+"API_SECRET"]})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Rooms(t.Context(), "any"); err != nil {
			t.Errorf("LiveKit refuses %sAPI_KEY: %v", of, err)
		}
	}
	if taken, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:"+strconv.Itoa(turnUDP)); err == nil {
		_ = taken.Close()
		t.Error("there is no TURN over UDP")
	}
	if externalTLS {
		connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", "127.0.0.1:"+strconv.Itoa(turn))
		if err != nil {
			t.Fatal(err)
		}
		_ = connection.Close()
		return
	}
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
