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
	s := &MediaServer{Generation: o.Generation, allowed: selectorOf(o.Spec.AllowedNamespaces)}
	s.Name = types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
	s.BrowserURL, s.Draining = o.Spec.BrowserURL, o.Spec.Draining || o.DeletionTimestamp != nil
	s.MaxParticipants = int(ptr.Deref(ptr.Deref(o.Spec.Capacity, v1alpha1.MediaCapacity{}).MaxParticipants, 0))

	name := o.Spec.SecretRef.Name
	data, bad := find(object{"secrets", o.Namespace, name})
	if bad != nil {
		s.problem(bad.reason, "%s", bad.message)
		return s
	}
	for _, key := range []string{mediaKey, mediaSecret} {
		if _, found := data[key]; !found {
			s.problem(v1alpha1.ReasonKeyNotFound, "Secret %q has no key %q; add it", name, key)
			return s
		}
	}
	if len(o.Spec.CABundle) > 0 && !outbound.HasCertificate(o.Spec.CABundle) {
		s.problem(v1alpha1.ReasonAddressInvalid, "spec.caBundle holds no certificate; give it as PEM")
		return s
	}
	s.Server = engine.Server{
		URL: strings.TrimSuffix(o.Spec.APIURL, "/"), CABundle: string(o.Spec.CABundle),
		Key: strings.TrimSpace(string(data[mediaKey])), Secret: strings.TrimSpace(string(data[mediaSecret])),
	}
	made, err := dial(o.Namespace, s.Server)
	if err != nil {
		s.problem(v1alpha1.ReasonAddressInvalid, "LiveKit's address or key cannot be used: %s", public(err))
		return s
	}
	s.Engine = made
	return s
}

func (s *MediaServer) problem(reason, format string, args ...any) {
	s.Problems = append(s.Problems, Problem{
		Condition: v1alpha1.ConditionKeyResolved, Reason: reason, Message: fmt.Sprintf(format, args...), Fatal: true,
	})
}

// selectorOf matches the namespaces, beside its own, that may use a media server.
func selectorOf(allowed v1alpha1.AllowedNamespaces) labels.Selector {
	switch allowed.From {
	case v1alpha1.FromAll:
		return labels.Everything()
	case v1alpha1.FromSelector:
		if selector, err := metav1.LabelSelectorAsSelector(allowed.Selector); err == nil {
			return selector
		}
	case v1alpha1.FromSame:
	}
	return labels.Nothing()
}
