// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
)

// MediaServer is the MediaServer "livekit" of a namespace, whose key is in the Secret "livekit".
func MediaServer(namespace, apiURL string) *v1alpha1.MediaServer {
	return &v1alpha1.MediaServer{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "livekit"},
		Spec:       v1alpha1.MediaServerSpec{APIURL: apiURL, SecretRef: v1alpha1.SecretReference{Name: "livekit"}},
	}
}

// MediaRefs name the MediaServers of these names in the same namespace.
func MediaRefs(names ...string) (refs []v1alpha1.MediaServerReference) {
	for _, name := range names {
		refs = append(refs, v1alpha1.MediaServerReference{Name: name})
	}
	return refs
}
