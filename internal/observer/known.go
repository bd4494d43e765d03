// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

var errNotAnswered = errors.New("the API server has just not answered")

// known is what the API server says of the suspects of one list. It is asked once for each namespace, and for each
// ConferenceConfig that has gone.
type known struct {
	api client.Reader
	// uids are those of the Meetings in a namespace. gone are ConferenceConfigs that have gone indeed, failed are those that
	// could not be looked up.
	uids         map[string]map[string]bool
	gone, failed map[types.UID]bool
}

func newKnown(api client.Reader) *known {
	return &known{api: api, uids: map[string]map[string]bool{}, gone: map[types.UID]bool{}, failed: map[types.UID]bool{}}
}

// alive says whether a room on a media server belongs to a Meeting that is there, or to a ConferenceConfig that has not gone
// after all.
func (k *known) alive(ctx context.Context, at engine.Server, s *suspect) (alive bool, err error) {
	if k.failed[s.tenant.UID] {
		return false, errNotAnswered
	}
	switch {
	case s.gone:
		alive, err = k.hasConfig(ctx, s.tenant)
	case s.moved:
		alive, err = k.isPlaced(ctx, at, s)
	default:
		alive, err = k.hasMeeting(ctx, s)
	}
	k.failed[s.tenant.UID] = err != nil
	return alive, err
}

// hasConfig says whether a tenant's ConferenceConfig is there; another one of its name does not count.
func (k *known) hasConfig(ctx context.Context, t *tenant.Tenant) (bool, error) {
	if gone, asked := k.gone[t.UID]; asked {
		return !gone, nil
	}
	var config v1alpha1.ConferenceConfig
	err := k.api.Get(ctx, t.NamespacedName, &config)
	if kube.IgnoreGone(err) != nil {
		return false, err
	}
	k.gone[t.UID] = kube.AnswerOf(err) == kube.Gone || config.UID != t.UID
	return !k.gone[t.UID], nil
}

// isPlaced reports whether the API server has a suspect's Meeting on a media server: the cache may not know of that move yet. Where
// the Meeting is elsewhere, isPlaced puts it into the suspect.
func (k *known) isPlaced(ctx context.Context, at engine.Server, s *suspect) (bool, error) {
	var m v1alpha1.Meeting
	if err := k.api.Get(ctx, client.ObjectKeyFromObject(s.meeting), &m); err != nil {
		return false, kube.IgnoreGone(err)
	}
	placed, known := owner{tenant: s.tenant}.serverOf(&m)
	if m.UID != s.meeting.UID || !known || placed == at {
		return true, nil
	}
	s.meeting = &m
	return false, nil
}

func (k *known) hasMeeting(ctx context.Context, s *suspect) (bool, error) {
	namespace := s.tenant.Namespace
	if k.uids[namespace] == nil {
		uids, err := k.listUIDs(ctx, namespace)
		if err != nil {
			return false, err
		}
		k.uids[namespace] = uids
	}
	_, uid, _ := meeting.ParseEngineRoom(s.name)
	return k.uids[namespace][uid], nil
}

// listUIDs lists the UIDs of all Meetings of a namespace.
func (k *known) listUIDs(ctx context.Context, namespace string) (map[string]bool, error) {
	uids := map[string]bool{}
	var page metav1.PartialObjectMetadataList
	page.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("MeetingList"))
	err := kube.EachPage(ctx, k.api, &page, func() {
		for i := range page.Items {
			uids[string(page.Items[i].UID)] = true
		}
	}, client.InNamespace(namespace))
	return uids, err
}
