// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/devstack"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// team has a namespace, an admin of it, and a tenant with a meeting going on.
type team struct {
	*world
	resident
	// kube is the API server as the team's admin has it.
	kube client.Client
	// domain is what the team claims all of, beside the address that its tenant is called at.
	domain string
	// media is the platform's namespace with the MediaServer that this team alone may use, and mediaKey and mediaSecret the key that
	// is kept there, which no team knows.
	media, mediaKey, mediaSecret string
}

// newTeams is one control plane with managers for all namespaces, as the chart installs them, and two teams that know nothing of
// each other but all names. What they have they made themselves, with the roles that the chart ships.
func newTeams(t *testing.T, env ...string) (one, two *team) {
	t.Helper()
	cluster := testkit.OwnControlPlane(t)
	home := cluster.NewNamespace(t)
	shipped := manifests.Helm(t, home)
	grant(t, cluster, shipped)
	ports, err := devstack.RandomPorts(2)
	if err != nil {
		t.Fatal(err)
	}
	addresses := []string{fmt.Sprintf("127.0.0.1:%d", ports[0]), fmt.Sprintf("127.0.0.1:%d", ports[1])}
	livekit := testkit.LiveKit(t, testkit.LiveKitOptions{MoreKeys: map[string]string{"key-of-two": "secret-of-two-0123456789-0123456789"}})
	found := func(name, address, mediaKey, mediaSecret string) *team {
		mine := *cluster
		mine.Namespace = cluster.NewNamespace(t)
		mine.Kubectl(t, "annotate", "namespace", mine.Namespace, "convene.dev/allowed-hosts=127.0.0.1")
		tm := &team{world: &world{Cluster: &mine, livekit: livekit}, domain: name + ".example.com", mediaKey: mediaKey, mediaSecret: mediaSecret}
		tm.media = tm.mediaServer(t)
		bindAdmin(t, tm.Cluster, "admin-of-"+name)
		tm.kube = tm.As(t, "admin-of-"+name).Client
		tm.a = account{t: t, baseURL: "http://" + address, key: "key-of-" + name + "-0123456789"}
		for _, o := range []client.Object{
			tm.secret("api-key-of-"+name, map[string]string{"key": tm.a.key}),
			tm.tenantOf(name, address, "*."+tm.domain, "meet."+name+".example.org"),
		} {
			if err := tm.kube.Create(t.Context(), o); err != nil {
				t.Fatalf("the admin of %s cannot make %s: %v", name, o.GetName(), err)
			}
		}
		return tm
	}
	one = found("one", addresses[0], livekit.Key, livekit.Secret)
	two = found("two", addresses[1], "key-of-two", "secret-of-two-0123456789-0123456789")
	manager := testkit.Manager(t, cluster, testkit.ManagerOptions{
		Kubeconfig: serviceAccountKubeconfig(t, cluster, home, "convene"), Addresses: addresses, Env: env,
		Args: []string{"--namespace=", "--leader-elect", "--leader-election-namespace=" + home},
	})
	for name, tm := range map[string]*team{"one": one, "two": two} {
		tm.manager = manager
		tm.eventually(t, func() error { return tm.configReady(name) })
		tm.resident = settle(tm.a, "board", "Ada of "+name, "sesame-"+name)
		tm.eventually(t, tm.hasPeople("board", 1))
	}
	return one, two
}

// mediaServer is what the platform makes for a team: a MediaServer in a namespace of its own, for the team's namespace alone.
func (tm *team) mediaServer(t *testing.T) (namespace string) {
	namespace = tm.NewNamespace(t)
	s := testkit.MediaServer(namespace, tm.livekit.URL)
	s.Spec.AllowedNamespaces = v1alpha1.AllowedNamespaces{
		From: v1alpha1.FromSelector, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: tm.Namespace}},
	}
	key := testkit.SecretFor(v1alpha1.UsedByMediaServer, namespace, "livekit", map[string]string{"apiKey": tm.mediaKey, "apiSecret": tm.mediaSecret})
	for _, o := range []client.Object{key, s} {
		if err := tm.Client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	return namespace
}

// bindAdmin makes a user an admin of the cluster's namespace. No controller adds roles to others here, so each that belongs to admin is
// bound by itself.
func bindAdmin(t *testing.T, c *testkit.Cluster, user string) {
	t.Helper()
	var roles rbacv1.ClusterRoleList
	if err := c.Client.List(t.Context(), &roles); err != nil {
		t.Fatal(err)
	}
	for _, role := range roles.Items {
		if !isAggregated(&role) {
			continue
		}
		c.Create(t, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, GenerateName: "admin-"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		})
	}
}

func (tm *team) secret(name string, data map[string]string) *corev1.Secret {
	return testkit.SecretFor(v1alpha1.UsedByConferenceConfig, tm.Namespace, name, data)
}

// tenantOf is a ConferenceConfig of the team that claims hosts.
func (tm *team) tenantOf(name string, hosts ...string) *v1alpha1.ConferenceConfig {
	c := tm.config(name)
	c.Spec.BaseURL = "http://" + hosts[0]
	c.Spec.Hostnames = hosts
	c.Spec.API.KeySecretRefs = []v1alpha1.SecretKeyReference{{Name: "api-key-of-" + name, Key: "key"}}
	c.Spec.MediaRefs = []v1alpha1.MediaServerReference{{Namespace: tm.media, Name: "livekit"}}
	return c
}

// claims makes a tenant, waits until it says what is wrong with it, sees that a key does not open its host, and deletes it.
func (tm *team) claims(ctx context.Context, c *v1alpha1.ConferenceConfig, kind string, status metav1.ConditionStatus, reason, key string) (got string) {
	if err := tm.kube.Create(ctx, c); err != nil {
		return err.Error()
	}
	name := client.ObjectKeyFromObject(c)
	defer func() {
		if err := tm.kube.Delete(ctx, c); err != nil {
			got += err.Error()
		}
		tm.eventually(tm.t, func() error {
			if err := tm.kube.Get(ctx, name, c); !apierrors.IsNotFound(err) {
				return fmt.Errorf("still there: %w", err)
			}
			return nil
		})
	}()
	tm.eventually(tm.t, func() error {
		if err := tm.kube.Get(ctx, name, c); err != nil {
			return err
		}
		if found := meta.FindStatusCondition(c.Status.Conditions, kind); found == nil || found.Status != status || found.Reason != reason {
			return fmt.Errorf("%s is %+v", kind, found)
		}
		return nil
	})
	if ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady); ready == nil || ready.Status == metav1.ConditionTrue {
		got = fmt.Sprintf("Ready %+v; ", ready)
	}
	host := strings.Replace(c.Spec.Hostnames[0], "*", "some", 1)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, tm.baseURL+"/api/v1/stats", nil)
	if err != nil {
		return err.Error()
	}
	request.Host = host
	request.Header.Set("Authorization", key)
	if r := tm.do(request); r.status == http.StatusOK {
		got += "an answer at " + host
	}
	return got
}

// signed is the authorization that LiveKit sends with an event, under the team's key.
func (tm *team) signed(event string) string {
	hash := sha256.Sum256([]byte(event))
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"iss": tm.mediaKey, "sha256": base64.StdEncoding.EncodeToString(hash[:]),
		"nbf": time.Now().Add(-time.Minute).Unix(), "exp": time.Now().Add(time.Minute).Unix(),
	})
	signed, err := token.SignedString([]byte(tm.mediaSecret))
	if err != nil {
		tm.t.Fatal(err)
	}
	return signed
}

// tenant is the name of the team's tenant.
func (tm *team) tenant() string { return strings.TrimSuffix(tm.domain, ".example.com") }

// boards is the team's own Meeting, as its admin reads it.
func (tm *team) boards(ctx context.Context) (*v1alpha1.Meeting, error) {
	var all v1alpha1.MeetingList
	err := tm.kube.List(ctx, &all, client.InNamespace(tm.Namespace), client.MatchingFields{"spec.room": "board"})
	if err != nil || len(all.Items) != 1 {
		return nil, fmt.Errorf("%d Meetings: %w", len(all.Items), err)
	}
	return &all.Items[0], nil
}

// patch is kubectl patch of the other's Meeting.
func (tm *team) patch(ctx context.Context, there *team, patch string) error {
	m, err := there.boards(ctx)
	if err != nil {
		return err
	}
	return tm.kube.Patch(ctx, m, client.RawPatch("application/merge-patch+json", []byte(patch)))
}

// TestTwoTeamsOnOneControlPlane: two teams, each with its own admin and the roles as they are shipped. Each tries everything on the
// other, and gets nothing; what is its own goes on.
func TestTwoTeamsOnOneControlPlane(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	one, two := newTeams(t)
	for _, pair := range []struct{ here, there *team }{{one, two}, {two, one}} {
		t.Run(pair.here.tenant()+" over the API", func(t *testing.T) { pair.here.tries(t, pair.there.resident) })
		for _, a := range teamAttempts {
			t.Run(pair.here.tenant()+": "+a.what, func(t *testing.T) {
				here, there := *pair.here, *pair.there
				here.account, there.account = here.on(t), there.on(t)
				if got := a.try(t.Context(), &here, &there); got != "" {
					t.Errorf("team %s tries %s, to get %s, and gets %s", here.tenant(), a.what, a.gains, got)
				}
			})
		}
	}
	for _, tm := range []*team{one, two} {
		tm.eventually(t, func() error { return tm.configReady(tm.tenant()) })
		tm.eventually(t, tm.hasPeople("board", 1))
		select {
		case reason := <-tm.Disconnected():
			t.Errorf("the call of team %s was cut: %s", tm.tenant(), reason)
		default:
		}
		tm.a.want(http.StatusOK, "GET", "/api/v1/meetings", nil)
	}
}
