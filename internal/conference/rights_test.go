// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/testkit"
)

// writer is the user by whose rights a Service writes.
const writer = "writer-of-meetings"

// A kube-apiserver that has just started refuses everybody until it knows the roles. Rights that this process had come back, so what
// they are refused for is tried again; rights that it never had are told to the operator.
func TestRightsThatWereThereComeBack(t *testing.T) {
	b := newBehind(t)
	config := rest.CopyConfig(b.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: writer}
	asWriter, err := client.New(config, client.Options{Scheme: testkit.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	b.Service, b.toldCache = replicaWith(t, asWriter)
	live, unknown := b.create("live"), b.create("unknown")
	b.shows(live)
	commands := map[string]func(context.Context) error{
		"create": func(ctx context.Context) error {
			_, err := b.Service.Create(ctx, b.tenant, CreateCommand{Room: "new"})
			return err
		},
		"create where there is one": func(ctx context.Context) error {
			_, err := b.Service.Create(ctx, b.tenant, CreateCommand{Room: "live"})
			return err
		},
		"join": func(ctx context.Context) error {
			_, err := b.Join(ctx, b.tenant, JoinCommand{Room: "live", Duration: "30m"})
			return err
		},
		"change": func(ctx context.Context) error {
			_, err := b.Change(ctx, b.tenant, string(live.UID), func(s *v1alpha1.MeetingSpec) { s.Locked = ptr.To(true) })
			return err
		},
		"find": func(ctx context.Context) error {
			_, err := b.Find(ctx, b.tenant, "unknown")
			return err
		},
		"enter": func(ctx context.Context) error {
			_, err := b.Enter(ctx, b.tenant, "unknown", string(unknown.UID))
			return err
		},
		"end": func(ctx context.Context) error {
			_, err := b.End(ctx, b.tenant, EndCommand{Room: "live"})
			return err
		},
	}
	refusedAs := func(kind fault.Kind) {
		t.Helper()
		for name, command := range commands {
			err := command(t.Context())
			if !fault.Is(err, kind) || !apierrors.IsForbidden(fault.As(err).Cause) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	refusedAs(fault.KindInternal)

	binding := b.grant(t)
	testkit.Eventually(t, 30*time.Second, func() error {
		_, err := b.Service.Create(t.Context(), b.tenant, CreateCommand{Room: "first"})
		return err
	})
	if err := b.Client.Delete(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, 30*time.Second, func() error {
		err := asWriter.List(t.Context(), &v1alpha1.MeetingList{}, client.InNamespace(b.Namespace))
		if !apierrors.IsForbidden(err) {
			return errors.New("the rights are still there")
		}
		return nil
	})
	refusedAs(fault.KindUnavailable)
}

// grant gives the writer what the chart gives the manager.
func (b *behind) grant(t *testing.T) *rbacv1.RoleBinding {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: b.Namespace, Name: writer}
	all := []string{"get", "list", "create", "patch", "delete"}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: writer},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: writer}},
	}
	b.Cluster.Create(t, &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"meetings"}, Verbs: all},
		{APIGroups: []string{corev1.GroupName}, Resources: []string{"secrets"}, Verbs: all},
	}}, binding)
	return binding
}
