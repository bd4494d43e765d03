// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/outbound"
)

// MediaServer is a MediaServer with everything resolved. It is never changed once it is made.
type MediaServer struct {
	// Media is how it is used. Without an Engine it cannot be.
	Media
	Generation int64
	// Problems are the conditions that are not as they should be.
	Problems []Problem

	// allowed matches the labels of the namespaces that may use it.
	allowed labels.Selector
	// origin names what this was resolved from.
	origin string
}

// allows says whether a namespace may use the media server.
func (s *MediaServer) allows(namespace string, of labels.Set) bool {
	return namespace == s.Name.Namespace || s.allowed.Matches(of)
}

// The keys of a MediaServer's Secret. Their names are fixed: what is under mediaKey is in each request to the media server, what is under
// mediaSecret never leaves the managers, and whoever writes a MediaServer cannot exchange the two.
const (
	mediaKey    = "apiKey"
	mediaSecret = "apiSecret"
)

// resolveMediaServer makes a MediaServer of the custom resource and the Secret that it names.
func resolveMediaServer(o *v1alpha1.MediaServer, find lookup, dial engine.Dialer) *MediaServer {
	allowed, err := selectorOf(o.Spec.AllowedNamespaces)
	s := &MediaServer{Generation: o.Generation, allowed: allowed}
	s.Name = types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
	s.Draining = o.Spec.Draining || o.DeletionTimestamp != nil
	s.MaxParticipants = int(ptr.Deref(ptr.Deref(o.Spec.Capacity, v1alpha1.MediaCapacity{}).MaxParticipants, 0))
	s.connect(o, find, dial)
	if err != nil {
		s.Problems = append(s.Problems, Problem{
			Condition: v1alpha1.ConditionSettingsInvalid, Reason: v1alpha1.ReasonSelectorInvalid, WhenTrue: true, Fatal: true,
			Message: fmt.Sprintf("spec.allowedNamespaces.selector cannot be read, and no other namespace may use the media server: %.500s; correct it", err),
		})
	}
	return s
}

// connect makes the Engine, or notes why there is none.
func (s *MediaServer) connect(o *v1alpha1.MediaServer, find lookup, dial engine.Dialer) {
	name := o.Spec.SecretRef.Name
	data, bad := find(object{"secrets", o.Namespace, name})
	if bad != nil {
		s.problem(bad.reason, "%s", bad.message)
		return
	}
	for _, key := range []string{mediaKey, mediaSecret} {
		if _, found := data[key]; !found {
			s.problem(v1alpha1.ReasonKeyNotFound, "Secret %q has no key %q; add it", name, key)
			return
		}
	}
	if len(o.Spec.CABundle) > 0 {
		if err := outbound.CheckBundle(o.Spec.CABundle); err != nil {
			s.problem(v1alpha1.ReasonAddressInvalid, "spec.caBundle %s", err)
			return
		}
	}
	s.Server = engine.Server{
		URL: strings.TrimSuffix(o.Spec.APIURL, "/"), CABundle: string(o.Spec.CABundle),
		Key: strings.TrimSpace(string(data[mediaKey])), Secret: strings.TrimSpace(string(data[mediaSecret])),
	}
	made, err := dial(o.Namespace, s.Server)
	if err != nil {
		s.problem(v1alpha1.ReasonAddressInvalid, "LiveKit's address or key cannot be used: %s", public(err))
		return
	}
	s.Engine = made
}

func (s *MediaServer) problem(reason, format string, args ...any) {
	s.Problems = append(s.Problems, Problem{
		Condition: v1alpha1.ConditionKeyResolved, Reason: reason, Message: fmt.Sprintf(format, args...), Fatal: true,
	})
}

// selectorOf matches the namespaces, beside its own, that may use a media server: none where the selector cannot be read.
func selectorOf(allowed v1alpha1.AllowedNamespaces) (labels.Selector, error) {
	switch allowed.From {
	case v1alpha1.FromAll:
		return labels.Everything(), nil
	case v1alpha1.FromSelector:
		selector, err := metav1.LabelSelectorAsSelector(allowed.Selector)
		if err != nil {
			return labels.Nothing(), err
		}
		return selector, nil
	case v1alpha1.FromSame:
	}
	return labels.Nothing(), nil
}
