// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
)

// teamAttempt is something that a team tries on another one with kubectl.
type teamAttempt struct {
	// what it does, and what it would have got.
	what, gains string
	// try says what it got; empty when it was refused.
	try func(ctx context.Context, here, there *team) (got string)
}

// forbidden is a call of the API server that rights have to refuse.
func forbidden(call func(ctx context.Context, here, there *team) error) func(ctx context.Context, here, there *team) string {
	return func(ctx context.Context, here, there *team) string {
		if err := call(ctx, here, there); !apierrors.IsForbidden(err) {
			return fmt.Sprintf("the answer %v", err)
		}
		return ""
	}
}

var teamAttempts = []teamAttempt{
	{"kubectl get secret", "the other's API key", forbidden(func(ctx context.Context, here, there *team) error {
		return here.kube.Get(ctx, client.ObjectKey{Namespace: there.Namespace, Name: "api-key-of-" + there.tenant()}, &corev1.Secret{})
	})},
	{"kubectl get secret, of its own media server", "LiveKit's key, which opens every room", forbidden(func(ctx context.Context, here, _ *team) error {
		return here.kube.Get(ctx, client.ObjectKey{Namespace: here.media, Name: "livekit"}, &corev1.Secret{})
	})},
	{"kubectl create mediaserver", "an address inside the cluster, called by the managers", forbidden(func(ctx context.Context, here, _ *team) error {
		return here.kube.Create(ctx, testkit.MediaServer(here.Namespace, "http://kubernetes.default.svc"))
	})},
	{"kubectl patch mediaserver, of its own", "the use of it for all, or the webhooks of others", forbidden(func(ctx context.Context, here, _ *team) error {
		s := testkit.MediaServer(here.media, "")
		return here.kube.Patch(ctx, s, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"allowedNamespaces":{"from":"All"}}}`)))
	})},
	{"the other's media server", "rooms at the other's expense", func(ctx context.Context, here, there *team) string {
		c := here.tenantOf("guest", "guest."+here.domain)
		c.Spec.API.KeySecretRefs = []v1alpha1.SecretKeyReference{{Name: "api-key-of-" + here.tenant(), Key: "key"}}
		c.Spec.MediaRefs = []v1alpha1.MediaServerReference{{Namespace: there.media, Name: "livekit"}}
		return here.claims(ctx, c, v1alpha1.ConditionMediaServersReachable, metav1.ConditionFalse, v1alpha1.ReasonNotAllowed, "no key")
	}},
	{"a Meeting that asks for the other's media server", "the same", func(ctx context.Context, here, there *team) string {
		m := here.meeting("astray")
		m.Spec.ConfigRef.Name = here.tenant()
		m.Annotations = map[string]string{v1alpha1.AnnotationMediaServer: there.media + "/livekit", v1alpha1.AnnotationRoomOpened: "true"}
		if err := here.kube.Create(ctx, m); err != nil {
			return err.Error()
		}
		defer func() { _ = here.kube.Delete(ctx, m) }()
		here.eventually(here.t, func() error {
			if err := here.kube.Get(ctx, client.ObjectKeyFromObject(m), m); err != nil || m.Status.MediaServer == nil {
				return fmt.Errorf("not placed: %w", err)
			}
			return nil
		})
		if at := m.Status.MediaServer.Namespace; at != here.media {
			return "a place on " + at
		}
		return ""
	}},
	{"kubectl get secrets", "the other's signing keys, and all else", forbidden(func(ctx context.Context, here, there *team) error {
		return here.kube.List(ctx, &corev1.SecretList{}, client.InNamespace(there.Namespace))
	})},
	{"kubectl get meetings", "who meets there, and where", forbidden(func(ctx context.Context, here, there *team) error {
		return here.kube.List(ctx, &v1alpha1.MeetingList{}, client.InNamespace(there.Namespace))
	})},
	{"kubectl get meetings -A", "the same, of all teams", forbidden(func(ctx context.Context, here, _ *team) error {
		return here.kube.List(ctx, &v1alpha1.MeetingList{})
	})},
	{"kubectl get events", "links, in messages", forbidden(func(ctx context.Context, here, there *team) error {
		return here.kube.List(ctx, &eventsv1.EventList{}, client.InNamespace(there.Namespace))
	})},
	{"kubectl patch meeting, to end it", "everybody out", forbidden(func(ctx context.Context, here, there *team) error {
		return here.patch(ctx, there, `{"spec":{"end":{}}}`)
	})},
	{"kubectl patch meeting, to remove a participant", "a participant out", forbidden(func(ctx context.Context, here, there *team) error {
		return here.patch(ctx, there, fmt.Sprintf(`{"spec":{"participants":[{"identity":%q,"removed":true}]}}`, there.You.Identity))
	})},
	{"kubectl delete meeting", "everybody out", forbidden(func(ctx context.Context, here, there *team) error {
		return here.kube.DeleteAllOf(ctx, &v1alpha1.Meeting{}, client.InNamespace(there.Namespace))
	})},
	{"kubectl create meeting", "a room on the other's hosts", forbidden(func(ctx context.Context, here, there *team) error {
		return here.kube.Create(ctx, there.meeting("planted"))
	})},
	{"kubectl create conferenceconfig", "a tenant with the other's Secrets", forbidden(func(ctx context.Context, here, there *team) error {
		return here.kube.Create(ctx, there.config("planted"))
	})},
	{"kubectl annotate namespace, its own", "hosts that it may not claim", forbidden(func(ctx context.Context, here, _ *team) error {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: here.Namespace}}
		return here.kube.Patch(ctx, ns, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"convene.dev/allowed-hosts":"*"}}}`)))
	})},
	{"kubectl edit of a status, its own", "a phase or a link that is a lie", forbidden(func(ctx context.Context, here, _ *team) error {
		m, err := here.boards(ctx)
		if err != nil {
			return err
		}
		m.Status.URL = "https://evil.example.com"
		return here.kube.Status().Update(ctx, m)
	})},
	{"the name of the other's Secret, as its own API key", "the other's API key, on a host of its own", func(ctx context.Context, here, there *team) string {
		c := here.tenantOf("spy", "spy."+here.domain)
		c.Spec.API.KeySecretRefs = []v1alpha1.SecretKeyReference{{Name: "api-key-of-" + there.tenant(), Key: "key"}}
		return here.claims(ctx, c, v1alpha1.ConditionAPIKeysResolved, metav1.ConditionFalse, v1alpha1.ReasonSecretNotFound, there.account.key)
	}},
	{"the other's namespace in the name of a Secret", "the same", func(ctx context.Context, here, there *team) string {
		c := here.tenantOf("spy", "spy."+here.domain)
		c.Spec.API.KeySecretRefs = []v1alpha1.SecretKeyReference{{Name: there.Namespace + "/api-key-of-" + there.tenant(), Key: "key"}}
		return here.claims(ctx, c, v1alpha1.ConditionAPIKeysResolved, metav1.ConditionFalse, v1alpha1.ReasonSecretNotFound, there.account.key)
	}},
	{"a Meeting of the other's ConferenceConfig", "a room on the other's hosts", func(ctx context.Context, here, there *team) string {
		m := here.meeting("planted")
		m.Spec.ConfigRef.Name = there.tenant()
		if err := here.kube.Create(ctx, m); err != nil {
			return err.Error()
		}
		here.eventually(here.t, func() error {
			return here.Client.Get(ctx, client.ObjectKeyFromObject(m), m)
		})
		if got := there.want(http.StatusOK, "GET", "/api/v1/meetings", nil).raw; strings.Contains(got, "planted") {
			return got
		}
		return ""
	}},
	{"an event of its own media key about the other's room", "a meeting that seems to be over", func(ctx context.Context, here, there *team) string {
		m, err := there.boards(ctx)
		if err != nil {
			return err.Error()
		}
		var c v1alpha1.ConferenceConfig
		if err := there.kube.Get(ctx, client.ObjectKey{Namespace: there.Namespace, Name: there.tenant()}, &c); err != nil {
			return err.Error()
		}
		event := fmt.Sprintf(`{"event":"room_finished","room":{"name":%q},"id":"EV_x","createdAt":"1"}`, meeting.EngineRoom(string(c.UID), string(m.UID)))
		for _, at := range []account{here.account, there.account} {
			if r := at.with(here.signed(event)).call("POST", "/media-server/webhook", event); r.status != http.StatusOK {
				return "an error, though the key is one of a media server: " + r.raw
			}
			if r := at.with(here.signed("another event")).call("POST", "/media-server/webhook", event); r.status != http.StatusUnauthorized {
				return fmt.Sprintf("%d for a signature of another event", r.status)
			}
		}
		if state := there.as(there.Session, "GET", "/session", nil); state.text("state") != "live" {
			return state.raw
		}
		return ""
	}},
	{"the very host of the other", "its page, its API, its passwords", claimsHost(v1alpha1.ReasonOlderConfig, func(there *team) string { return "meet." + there.tenant() + ".example.org" })},
	{"the address of the other's baseURL", "the same", claimsHost(v1alpha1.ReasonOlderConfig, func(there *team) string { return strings.TrimPrefix(there.baseURL, "http://") })},
	{"the same host with a port", "requests that name the port", claimsHost(v1alpha1.ReasonOlderConfig, func(there *team) string { return "meet." + there.tenant() + ".example.org:8443" })},
	{"a host inside the other's wildcard", "that host's page, API and passwords", claimsHost(v1alpha1.ReasonOlderConfig, func(there *team) string { return "board." + there.domain })},
	{"a wildcard inside the other's", "all hosts under it", claimsHost(v1alpha1.ReasonOlderConfig, func(there *team) string { return "*.board." + there.domain })},
	{"the other's wildcard", "all its hosts but one", claimsHost(v1alpha1.ReasonOlderConfig, func(there *team) string { return "*." + there.domain })},
	{"a wildcard around the other's hosts", "every host that the other has not named", claimsHost(v1alpha1.ReasonOlderConfig, func(*team) string { return "*.example.com" })},
	{"a wildcard around one host of the other", "its neighbours, and the host when the other goes", claimsHost(v1alpha1.ReasonOlderConfig, func(there *team) string { return "*." + there.tenant() + ".example.org" })},
	{"the name of the manager's Service", "keys that other backends send there", claimsHost(v1alpha1.ReasonNotAllowed, func(*team) string { return "convene.convene-system.svc" })},
	{"a wildcard around all Services", "the same", claimsHost(v1alpha1.ReasonNotAllowed, func(*team) string { return "*.svc.cluster.local" })},
	{"a wildcard around a domain of the public", "every host that nobody has named yet", claimsHost(v1alpha1.ReasonNotAllowed, func(*team) string { return "*.org" })},
}

// claimsHost makes a tenant that claims a host of the other or of nobody, and calls there. The reason is what is wrong with it.
func claimsHost(reason string, of func(there *team) string) func(ctx context.Context, here, there *team) string {
	return func(ctx context.Context, here, there *team) string {
		host := of(there)
		c := here.tenantOf("claimant", host)
		c.Spec.API.KeySecretRefs = []v1alpha1.SecretKeyReference{{Name: "api-key-of-" + here.tenant(), Key: "key"}}
		return here.claims(ctx, c, v1alpha1.ConditionHostConflict, metav1.ConditionTrue, reason, here.account.key)
	}
}
