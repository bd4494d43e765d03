// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
)

// writer is the user by whose rights a Service writes.
const writer = "writer-of-meetings"

// TestMissingRightsMayComeBack: a kube-apiserver that has just started refuses everybody until it knows the roles.
func TestMissingRightsMayComeBack(t *testing.T) {
	b := newBehind(t)
	asWriter := b.As(t, writer).Client
	b.Service, b.toldCache = replicaWith(t, asWriter)
	commands := b.writes("a")
	maps.Copy(commands, b.reads("a"))
	refused := func() {
		t.Helper()
		for name, command := range commands {
			err := command(t.Context())
			if !fault.Is(err, fault.KindUnavailable) || !apierrors.IsForbidden(fault.As(err).Cause) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	refused()

	binding := b.grant(t)
	granted := b.writes("b")
	maps.Copy(granted, b.reads("b"))
	for name, command := range granted {
		testkit.Eventually(t, 30*time.Second, func() error {
			if err := command(t.Context()); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
	}
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
	refused()
}

// TestRefusalsAreToldToTheOperator: what a policy of the cluster denies, with whichever code, is no outage, which clients try again for
// ever, and no mistake of the client. The log has the policy's text, and the answer does not.
func TestRefusalsAreToldToTheOperator(t *testing.T) {
	b := newBehind(t)
	policy := b.AdmissionWebhook(t, testkit.Writes(admissionv1.OperationAll, "meetings", "secrets"))
	for name, command := range b.writes("admitted") {
		if err := command(t.Context()); err != nil {
			t.Errorf("%s, while the policy admits: %v", name, err)
		}
	}
	writes := b.writes("denied")
	refused := func(t *testing.T) {
		t.Helper()
		for name, command := range writes {
			err := command(t.Context())
			if !fault.Is(err, fault.KindInternal) || fault.As(err).Reason != v1alpha1.ReasonRefused {
				t.Errorf("%s: %v", name, err)
			} else if f := fault.As(err); !strings.Contains(f.Cause.Error(), "the policy of the house") || strings.Contains(f.Message, "house") {
				t.Errorf("%s: %v, and to the client: %s", name, f.Cause, f.Message)
			}
		}
	}
	for _, code := range []int32{0, 400, 401, 403, 404, 408, 409, 422, 429, 500, 503, 504} {
		policy.Deny(code)
		t.Run(fmt.Sprint("a webhook, with ", code), refused)
	}
	policy.Admit(0)
	b.denyAll(t)
	t.Run("a ValidatingAdmissionPolicy", refused)
}

// denyAll makes a policy of the cluster that denies every write of Meetings and Secrets in the test's namespace.
func (b *behind) denyAll(t *testing.T) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: "nothing-in-" + b.Namespace}
	all := []admissionv1.NamedRuleWithOperations{{RuleWithOperations: testkit.Writes(admissionv1.OperationAll, "meetings", "secrets")}}
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: meta, Spec: admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{ResourceRules: all},
		Validations:      []admissionv1.Validation{{Expression: "false", Message: "the policy of the house"}},
	}}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: meta.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		MatchResources: &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: b.Namespace}}},
	}}
	b.Cluster.Create(t, policy, binding)
	testkit.Eventually(t, time.Minute, func() error {
		probe := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, GenerateName: "probe-"}}
		if b.Client.Create(t.Context(), probe, client.DryRunAll) == nil {
			return errors.New("the policy does not deny yet")
		}
		return nil
	})
}

// writes are all commands that write, each on Meetings of its own. A command that fails can be given again.
func (b *behind) writes(prefix string) map[string]func(context.Context) error {
	prefix += "-"
	for _, room := range []string{"live", "open", "changed", "ending"} {
		b.shows(b.create(prefix + room))
	}
	ended := b.create(prefix + "ended").DeepCopy()
	ended.Status.Phase = v1alpha1.MeetingEnded
	b.shows(ended)
	uid := func(room string) string { return string(b.Service.directory.Holder(b.tenant, prefix+room).UID) }
	changed, opened := uid("changed"), meeting.View{UID: uid("open")}
	create := func(c CreateCommand) func(context.Context) error {
		return func(ctx context.Context) error { _, err := b.Service.Create(ctx, b.tenant, c); return err }
	}
	join := func(c JoinCommand) func(context.Context) error {
		return func(ctx context.Context) error { _, err := b.Join(ctx, b.tenant, c); return err }
	}
	return map[string]func(context.Context) error{
		"create":                      create(CreateCommand{Room: prefix + "new"}),
		"create with a password":      create(CreateCommand{Room: prefix + "secret", Password: ptr.To("sesame")}),
		"create after one that ended": create(CreateCommand{Room: prefix + "ended"}),
		"join that makes the room":    join(JoinCommand{Room: prefix + "joined"}),
		"join with a duration":        join(JoinCommand{Room: prefix + "live", Duration: "30m"}),
		"join that sets the password": join(JoinCommand{Room: prefix + "live", Password: ptr.To("sesame")}),
		"change": func(ctx context.Context) error {
			_, err := b.Change(ctx, b.tenant, changed, always(func(s *v1alpha1.MeetingSpec) { s.Locked = ptr.To(true) }))
			return err
		},
		"open": func(ctx context.Context) error {
			_, err := b.MarkOpened(ctx, b.tenant, opened, "", "")
			return err
		},
		"end": func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, time.Second) // No controller carries the end out.
			defer cancel()
			_, err := b.End(ctx, b.tenant, EndCommand{Room: prefix + "ending"})
			return err
		},
	}
}

// reads are commands that ask the API server and write nothing.
func (b *behind) reads(prefix string) map[string]func(context.Context) error {
	prefix += "-there-"
	live, unknown := b.create(prefix+"live"), b.create(prefix+"unknown")
	b.shows(live)
	return map[string]func(context.Context) error{
		"create where there is one": func(ctx context.Context) error {
			_, err := b.Service.Create(ctx, b.tenant, CreateCommand{Room: live.Spec.Room})
			return err
		},
		"find": func(ctx context.Context) error {
			_, err := b.Find(ctx, b.tenant, unknown.Spec.Room)
			return err
		},
		"enter": func(ctx context.Context) error {
			_, err := b.Enter(ctx, b.tenant, unknown.Spec.Room, string(unknown.UID))
			return err
		},
	}
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
