// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MediaServer is a LiveKit server, or a cluster of them behind one address, that meetings are placed on. Its key stays in its
// namespace: ConferenceConfigs of other namespaces use the server and never see the key.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=media,categories=convene
// +kubebuilder:printcolumn:name="API-URL",type=string,JSONPath=`.spec.apiURL`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Draining",type=boolean,JSONPath=`.spec.draining`
// +kubebuilder:printcolumn:name="Rooms",type=integer,JSONPath=`.status.rooms`
// +kubebuilder:printcolumn:name="Participants",type=integer,JSONPath=`.status.participants`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="From",type=string,priority=1,JSONPath=`.spec.allowedNamespaces.from`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type MediaServer struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is that of every object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is how the media server is reached, and who may use it.
	// +required
	Spec MediaServerSpec `json:"spec"`
	// status is what was last seen of the media server. Written by the controllers only.
	//
	// Before it is first written, observedGeneration is -1, so that tools which know kstatus see that no controller has looked.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status MediaServerStatus `json:"status,omitempty"`
}

// MediaServerList is a list of MediaServers.
//
// +kubebuilder:object:root=true
type MediaServerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MediaServer `json:"items"`
}

// MediaServerSpec is how a media server is reached, and who may use it.
type MediaServerSpec struct {
	// apiURL is the http or https URL at which Convene reaches LiveKit. Convene connects to no link-local address and
	// to no address at which clouds answer their machines, and uses no proxy.
	// +required
	// +kubebuilder:validation:MinLength=8
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() in ['http', 'https'] && size(url(self).getHostname()) > 0",message="apiURL must be an absolute http or https URL, for example http://livekit.media.svc:7880"
	// +kubebuilder:validation:XValidation:rule="!self.contains('@')",message="apiURL must not contain a user; the key belongs into the Secret of secretRef"
	APIURL string `json:"apiURL"`
	// secretRef names the Secret, in the same namespace, with LiveKit's apiKey and apiSecret, and the label
	// convene.dev/used-by=MediaServer.
	// +required
	SecretRef SecretReference `json:"secretRef"`
	// caBundle is PEM with the certificates of the authorities that may have signed the certificate of an https apiURL. Absent
	// means the authorities of Convene's image.
	// +optional
	// +kubebuilder:validation:MaxLength=393216
	// +kubebuilder:validation:XValidation:rule="size(self) >= 0",message="must be text in base64, with PEM in it"
	CABundle []byte `json:"caBundle,omitempty"`
	// allowedNamespaces says which namespaces may use this media server. Absent means its own alone.
	// +optional
	// +kubebuilder:default={from: Same}
	AllowedNamespaces AllowedNamespaces `json:"allowedNamespaces,omitzero"`
	// draining keeps new meetings away. Meetings that no participant is in move to another media server of their tenant, those
	// with participants stay until they are empty.
	// +optional
	Draining bool `json:"draining,omitempty"`
	// capacity says how much this media server can bear. Absent means that nothing is known.
	// +optional
	Capacity *MediaCapacity `json:"capacity,omitempty"`
}

// FromNamespaces says from which namespaces a media server may be used.
// +kubebuilder:validation:Enum=Same;All;Selector
type FromNamespaces string

// The values of FromNamespaces, as listeners of the Gateway API have them.
const (
	// FromSame is the media server's own namespace alone.
	FromSame FromNamespaces = "Same"
	// FromAll is every namespace.
	FromAll FromNamespaces = "All"
	// FromSelector is every namespace whose labels match the selector.
	FromSelector FromNamespaces = "Selector"
)

// AllowedNamespaces says which namespaces may use a media server. Its own always may.
//
// +kubebuilder:validation:XValidation:rule="(has(self.from) && self.from == 'Selector') == has(self.selector)",message="selector belongs to from: Selector; set both or neither"
// +kubebuilder:validation:XValidation:rule="!has(self.selector) || !has(self.selector.matchExpressions) || self.selector.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && size(e.values) > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0))",message="each of selector.matchExpressions must have the operator In or NotIn and values, or the operator Exists or DoesNotExist and none"
type AllowedNamespaces struct {
	// from is Same (its own namespace, the default), All, or Selector.
	// +optional
	// +kubebuilder:default=Same
	From FromNamespaces `json:"from,omitempty"`
	// selector matches the labels of namespaces.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// MediaCapacity is how much a media server can bear.
type MediaCapacity struct {
	// maxParticipants is from how many participants on no new meetings are placed here while another media server of their tenant
	// has capacity.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000
	MaxParticipants *int32 `json:"maxParticipants,omitempty"`
}

// MediaServerReference names a MediaServer.
type MediaServerReference struct {
	// name of the MediaServer.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// namespace of the MediaServer, which must allow this one. Empty means the same namespace.
	// +optional
	// +kubebuilder:default=""
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}

// MediaServerStatus is what was last seen of a media server.
type MediaServerStatus struct {
	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conferenceConfigs that may place meetings here.
	// +optional
	ConferenceConfigs int32 `json:"conferenceConfigs"`
	// rooms of Convene's that were open when last counted, some seconds ago at most.
	// +optional
	Rooms int32 `json:"rooms"`
	// participants in these rooms.
	// +optional
	Participants int32 `json:"participants"`
	// conditions of the media server: Ready sums up; see the reference for the others.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
