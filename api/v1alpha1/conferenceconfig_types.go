// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConferenceConfig is one tenant of the conferencing service: its address, API keys, switches and rules.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=confcfg,categories=convene
// +kubebuilder:printcolumn:name="Variant",type=string,JSONPath=`.spec.variant`
// +kubebuilder:printcolumn:name="Base-URL",type=string,JSONPath=`.spec.baseURL`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Meetings",type=integer,JSONPath=`.status.meetings`
// +kubebuilder:printcolumn:name="Participants",type=integer,JSONPath=`.status.participants`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Endpoints",type=string,priority=1,JSONPath=`.status.endpoints`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 240",message="the name must have at most 240 characters, because Convene names a Secret after it"
type ConferenceConfig struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is that of every object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is how this tenant should be served.
	// +required
	Spec ConferenceConfigSpec `json:"spec"`
	// status is how it is served now. Written by the controllers only.
	//
	// Before it is first written, observedGeneration is -1, so that tools which know kstatus see that no controller has looked.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status ConferenceConfigStatus `json:"status,omitempty"`
}

// ConferenceConfigList is a list of ConferenceConfigs.
//
// +kubebuilder:object:root=true
type ConferenceConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ConferenceConfig `json:"items"`
}

// Variant is the form of the REST API that a tenant serves. Variant A replaces MiroTalk SFU: an allow-map switches its endpoints, and DELETE
// ends meetings. Variant B replaces MiroTalk P2P: a disable-list switches its endpoints, and there is no DELETE. Everything else is the same.
// +kubebuilder:validation:Enum=A;B
type Variant string

// The two variants of the API.
const (
	// VariantA has the allow-map and the end operation.
	VariantA Variant = "A"
	// VariantB has the disable-list and no end operation.
	VariantB Variant = "B"
)

// ConferenceConfigSpec is how a tenant should be served. baseURL and one source of API keys are needed.
//
// +kubebuilder:validation:XValidation:rule="(has(self.api) && has(self.api.keySecretRefs) && size(self.api.keySecretRefs) > 0) || has(self.source)",message="a source of API keys is needed: set api.keySecretRefs or source"
// +kubebuilder:validation:XValidation:rule="self.variant == 'A' || !has(self.api) || !has(self.api.allowed)",message="api.allowed belongs to variant A; use api.disabled in variant B"
// +kubebuilder:validation:XValidation:rule="self.variant == 'B' || !has(self.api) || !has(self.api.disabled)",message="api.disabled belongs to variant B; use api.allowed in variant A"
// +kubebuilder:validation:XValidation:rule="self.variant == 'B' || !has(self.source) || !has(self.source.env)",message="source.env belongs to variant B; use source.configJS in variant A"
// +kubebuilder:validation:XValidation:rule="self.variant == 'A' || !has(self.source) || !has(self.source.configJS)",message="source.configJS belongs to variant A; use source.env in variant B"
type ConferenceConfigSpec struct {
	// variant is the form of the REST API. Variant A replaces MiroTalk SFU: an allow-map (api.allowed) switches its endpoints, and DELETE ends
	// meetings. Variant B replaces MiroTalk P2P: a disable-list (api.disabled) switches its endpoints, and there is no DELETE. Everything else
	// is the same. Default A.
	// +optional
	// +kubebuilder:default=A
	Variant Variant `json:"variant,omitempty"`

	// baseURL is the absolute http or https URL that people's browsers use. It may have a path prefix and has no
	// trailing slash. Every URL that the API hands out begins with it.
	// +required
	// +kubebuilder:validation:MinLength=8
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() in ['http', 'https'] && size(url(self).getHostname()) > 0",message="baseURL must be an absolute http or https URL, for example https://meet.example.com"
	// +kubebuilder:validation:XValidation:rule="!self.endsWith('/') && !self.matches('[ ?#@]')",message="baseURL must not end with / and must not contain ?, #, @ or spaces; write for example https://meet.example.com/video"
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]+://[^/]+(/[A-Za-z0-9._~-]+)*$')",message="baseURL's path must consist of letters, digits and . _ ~ - between single slashes; write for example https://meet.example.com/video"
	BaseURL string `json:"baseURL"`

	// hostnames are the hosts whose requests this tenant answers, without regard to case: exact, or *.suffix. An
	// entry may carry a port, and then beats one without; exact beats wildcard. Empty means the host of baseURL. Of
	// two ConferenceConfigs the older keeps a host, and keeps other namespaces out of what is inside or around it.
	// Addresses, names without a domain, names of Services and wildcards such as *.com are only for namespaces with the annotation
	// convene.dev/allowed-hosts.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=261
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^(\\\\*\\\\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?(:[0-9]{1,5})?$|^\\\\[[0-9A-Fa-f:.]+\\\\](:[0-9]{1,5})?$')",message="must be a host, or *.suffix for all hosts below one, with or without a port; write letters beyond ASCII in Punycode, for example xn--bcher-kva.example"
	Hostnames []string `json:"hostnames,omitempty"`

	// api holds the keys and switches of the REST API.
	// +optional
	API *APISpec `json:"api,omitempty"`

	// source takes keys and switches from the operator's own file, as it is. A field that is set in api wins.
	// +optional
	Source *SourceSpec `json:"source,omitempty"`

	// access says who may enter.
	// +optional
	Access *AccessSpec `json:"access,omitempty"`

	// tokens rules the API's tokens.
	// +optional
	Tokens *TokensSpec `json:"tokens,omitempty"`

	// meetings rules lengths, time-outs and limits.
	// +optional
	Meetings *MeetingsSpec `json:"meetings,omitempty"`

	// web rules the pages that people see.
	// +optional
	Web *WebSpec `json:"web,omitempty"`

	// privacy says what others learn of people and of what they write.
	// +optional
	Privacy *PrivacySpec `json:"privacy,omitempty"`

	// mediaRefs name the MediaServers that meetings are placed on. A meeting is placed once, on the one with the fewest
	// participants that is reachable and not draining, and stays there. Without a usable one no room can be entered.
	// +optional
	// +listType=map
	// +listMapKey=namespace
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	MediaRefs []MediaServerReference `json:"mediaRefs,omitempty"`

	// compat changes what clients of MiroTalk SFU and MiroTalk P2P expect to be otherwise.
	// +optional
	Compat *CompatSpec `json:"compat,omitempty"`
}

// APISpec holds the keys and switches of the REST API.
type APISpec struct {
	// keySecretRefs name the API keys. Any one of them is accepted, so a key is rotated by adding the new one,
	// moving clients over, and removing the old one.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +listMapKey=key
	// +kubebuilder:validation:MaxItems=16
	KeySecretRefs []SecretKeyReference `json:"keySecretRefs,omitempty"`

	// allowed switches endpoints in variant A: true enables, false disables, an absent name is enabled. Names:
	// stats, meetings, meeting, meetingEnd (absent: as meeting), join, token, docs. Any other name is refused.
	// +optional
	// +kubebuilder:validation:MaxProperties=7
	// +kubebuilder:validation:XValidation:rule="self.all(name, name in ['stats', 'meetings', 'meeting', 'meetingEnd', 'join', 'token', 'docs'])",message="there is no endpoint of this name; use stats, meetings, meeting, meetingEnd, join, token or docs"
	Allowed map[string]bool `json:"allowed,omitempty"`

	// disabled lists the endpoints that are off in variant B: stats, meetings, meeting, join, token, docs. Any other name is
	// refused.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=6
	// +kubebuilder:validation:items:Enum=stats;meetings;meeting;join;token;docs
	Disabled []string `json:"disabled,omitempty"`

	// extensions are endpoints beyond those of the API's document that are on, in both variants. Each is off until it is named
	// here: control (look at one meeting, change it while it goes on, and moderate its participants).
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.all(name, name in ['control'])",message="there is no extension of this name; use control"
	Extensions []string `json:"extensions,omitempty"`

	// rateLimit limits requests that carry a right key. Absent means no limit.
	// +optional
	RateLimit *RateLimitSpec `json:"rateLimit,omitempty"`
}

// RateLimitSpec is a token bucket for each API key.
type RateLimitSpec struct {
	// requestsPerSecond refills the bucket.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	RequestsPerSecond int32 `json:"requestsPerSecond"`
	// burst is the size of the bucket. Absent means requestsPerSecond.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Burst *int32 `json:"burst,omitempty"`
}

// SourceSpec names the operator's own file. Exactly one is set.
//
// +kubebuilder:validation:XValidation:rule="has(self.env) != has(self.configJS)",message="source needs exactly one of env (variant B) and configJS (variant A)"
type SourceSpec struct {
	// env is the .env file of variant B: API_KEY_SECRET and API_DISABLED.
	// +optional
	Env *EnvSource `json:"env,omitempty"`
	// configJS is the config.js file of variant A: api.keySecret and api.allowed.
	// +optional
	ConfigJS *ConfigJSSource `json:"configJS,omitempty"`
}

// EnvSource is an environment file, as kubectl create secret generic NAME --from-file=.env keeps it, or variables, each in a key.
//
// +kubebuilder:validation:XValidation:rule="has(self.secretRef) != has(self.from)",message="env needs exactly one of secretRef and from"
type EnvSource struct {
	// secretRef names the Secret.
	// +optional
	SecretRef *SecretReference `json:"secretRef,omitempty"`
	// from lists several Secrets and ConfigMaps. Of a variable that is in two of them the later one counts, as with envFrom of a Pod.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	From []EnvFromSource `json:"from,omitempty"`
}

// EnvFromSource is a Secret or a ConfigMap with environment variables, each in a key, or with an environment file in a key that ends
// in .env.
//
// +kubebuilder:validation:XValidation:rule="has(self.secretRef) != has(self.configMapRef)",message="each entry needs exactly one of secretRef and configMapRef"
type EnvFromSource struct {
	// secretRef names a Secret.
	// +optional
	SecretRef *SecretReference `json:"secretRef,omitempty"`
	// configMapRef names a ConfigMap.
	// +optional
	ConfigMapRef *ConfigMapReference `json:"configMapRef,omitempty"`
}

// ConfigJSSource is a config.js file in a Secret or a ConfigMap. It is evaluated in a JavaScript sandbox without
// files, network or time. process.env is what the Secret's other keys hold: whoever may write the file reads them.
//
// +kubebuilder:validation:XValidation:rule="has(self.secretKeyRef) != has(self.configMapKeyRef)",message="configJS needs exactly one of secretKeyRef and configMapKeyRef"
// +kubebuilder:validation:XValidation:rule="!has(self.envSecretRef) || !has(self.envFrom)",message="configJS takes only one of envSecretRef and envFrom"
type ConfigJSSource struct {
	// secretKeyRef names the Secret and the key that holds the file.
	// +optional
	SecretKeyRef *SecretKeyReference `json:"secretKeyRef,omitempty"`
	// configMapKeyRef names the ConfigMap and the key that holds the file.
	// +optional
	ConfigMapKeyRef *ConfigMapKeyReference `json:"configMapKeyRef,omitempty"`
	// envSecretRef names a Secret that holds process.env. Where this and envFrom are absent, the Secret of secretKeyRef holds it.
	// +optional
	EnvSecretRef *SecretReference `json:"envSecretRef,omitempty"`
	// envFrom lists several Secrets and ConfigMaps that hold process.env. Of a variable that is in two of them the later one counts.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	EnvFrom []EnvFromSource `json:"envFrom,omitempty"`
}

// AccessSpec says who may enter.
type AccessSpec struct {
	// protected means that a valid token or login is needed to enter any room. Absent means false, and with spec.source what its
	// file says (HOST_USER_AUTH, host.user_auth). While that file cannot be read it stays as it was, and is true at first.
	// +optional
	Protected *bool `json:"protected,omitempty"`
	// usersSecretRef names a Secret key that holds htpasswd lines with bcrypt hashes of a cost up to 12, as
	// htpasswd -B writes them. Absent means that the passwords in tokens are not checked. Where protected is absent too and the file of
	// spec.source wants logins, absent means that nobody can log in.
	// +optional
	UsersSecretRef *SecretKeyReference `json:"usersSecretRef,omitempty"`
	// presenters are usernames that are presenters once they are verified.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=1024
	// +kubebuilder:validation:items:MaxLength=128
	Presenters []string `json:"presenters,omitempty"`
}

// ParticipantsShown is what the status of a Meeting shows of its participants.
// +kubebuilder:validation:Enum=Names;Counts
type ParticipantsShown string

// What a Meeting can show of its participants.
const (
	// ShowNames shows how many participants there are, and of the first 100 their names and all else that is known.
	ShowNames ParticipantsShown = "Names"
	// ShowCounts shows how many participants there are.
	ShowCounts ParticipantsShown = "Counts"
)

// ChatHistory is what those who join a meeting late read of its chat.
// +kubebuilder:validation:Enum=Shown;Hidden
type ChatHistory string

// What participants can read of the chat before they joined.
const (
	// ChatShown shows those who join late, or come back, the last public messages of the meeting.
	ChatShown ChatHistory = "Shown"
	// ChatHidden shows participants what is written while they are in the meeting.
	ChatHidden ChatHistory = "Hidden"
)

// PrivacySpec says what others learn of people and of what they write.
type PrivacySpec struct {
	// participants is what status of this tenant's Meetings shows of participants to all who may read Meetings: Names, or no
	// more than Counts. The REST API answers the same in both cases. Default Names.
	// +optional
	Participants ParticipantsShown `json:"participants,omitempty"`

	// chatHistory is what participants read of the chat before they joined: Shown is the last 100 public messages of this meeting,
	// Hidden is nothing. No server stores them: the browsers of participants who are in the meeting pass them on, and the gateway
	// checks that nothing in them was changed. Default Shown.
	// +optional
	ChatHistory ChatHistory `json:"chatHistory,omitempty"`
}

// ConferenceConfigStatus is how a tenant is served now.
type ConferenceConfigStatus struct {
	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// endpoints that are enabled now, in alphabetical order.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=64
	Endpoints []string `json:"endpoints,omitempty"`
	// meetings that are live now.
	// +optional
	Meetings int32 `json:"meetings"`
	// participants who are in a meeting now.
	// +optional
	Participants int32 `json:"participants"`
	// conditions of the tenant: Ready sums up; see the reference for the others.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
