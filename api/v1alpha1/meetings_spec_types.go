// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TokensSpec rules the API's tokens.
type TokensSpec struct {
	// defaultLifetime of a token whose request has no expire. Default 1h.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(ms|s|m|h)){1,4}$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="must be more than zero, for example 30m or 24h"
	DefaultLifetime *metav1.Duration `json:"defaultLifetime,omitempty"`
	// maxLifetime is the greatest lifetime that may be asked for. Default 720h (30 days).
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(ms|s|m|h)){1,4}$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="must be more than zero, for example 30m or 24h"
	MaxLifetime *metav1.Duration `json:"maxLifetime,omitempty"`
	// signingKeysSecretRef names the Secret whose every key is a signing key of at least 32 bytes. The one with the
	// greatest name signs, the 32 with the greatest names verify. Its key 0-pseudonym signs nothing: identities of
	// participants are made with it, or where it is absent with the signing key of the least name. Absent means NAME-signing-keys, made by Convene.
	// +optional
	SigningKeysSecretRef *SecretReference `json:"signingKeysSecretRef,omitempty"`

	// legacy accepts tokens that integrations written for MiroTalk sign themselves. Absent means none, and with
	// spec.source that the file decides: JWT_KEY in .env, security.jwt.key in config.js.
	// +optional
	Legacy *LegacyTokensSpec `json:"legacy,omitempty"`
}

// MeetingsSpec rules lengths, time-outs and limits. Changes apply to live meetings too.
type MeetingsSpec struct {
	// defaultDuration of a meeting that was given none, for example 1h30m, or unlimited. Default unlimited.
	// +optional
	DefaultDuration Duration `json:"defaultDuration,omitempty"`
	// maxDuration is the greatest length, for example 8h, or unlimited. With it, unlimited means it and more is refused.
	// Default unlimited.
	// +optional
	MaxDuration Duration `json:"maxDuration,omitempty"`
	// unjoinedTimeout ends a meeting, made by the API, that no participant has joined. Default 24h.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(ms|s|m|h)){1,4}$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="must be more than zero, for example 30m or 24h"
	UnjoinedTimeout *metav1.Duration `json:"unjoinedTimeout,omitempty"`
	// emptyTimeout ends a meeting, made by the API, after the last person has left. Time in which LiveKit could not
	// be seen does not count. Default 5m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(ms|s|m|h)){1,4}$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="must be more than zero, for example 30m or 24h"
	EmptyTimeout *metav1.Duration `json:"emptyTimeout,omitempty"`
	// ttlSecondsAfterEnded keeps the object of an ended meeting for inspection. Default 300.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	TTLSecondsAfterEnded *int32 `json:"ttlSecondsAfterEnded,omitempty"`
	// linkLifetime is how long a meeting that ended unjoined or empty can be started again by its links, and how long join
	// links work unless ticketLifetime says otherwise. Default 24h. Where adHoc is not Never and this is absent, an ended
	// meeting stays for ttlSecondsAfterEnded only, unless it has a password or a participant who was removed or muted.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(ms|s|m|h)){1,4}$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="must be more than zero, for example 30m or 24h"
	LinkLifetime *metav1.Duration `json:"linkLifetime,omitempty"`
	// maxParticipants in any one room. Default 300: so many may all speak. Larger rooms are for listeners, of whom few speak.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxParticipants *int32 `json:"maxParticipants,omitempty"`
	// allowedRedirectHosts are the hosts that a redirect may lead to: exact, or *.suffix, on any port or with one. Empty
	// means any.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=261
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^(\\\\*\\\\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?(:[0-9]{1,5})?$|^\\\\[[0-9A-Fa-f:.]+\\\\](:[0-9]{1,5})?$')",message="must be a host, or *.suffix for all hosts below one, with or without a port; write letters beyond ASCII in Punycode, for example xn--bcher-kva.example"
	AllowedRedirectHosts []string `json:"allowedRedirectHosts,omitempty"`

	// policy says what only presenters may do in a meeting whose own spec.policy does not say so. Default Everyone may do all.
	// +optional
	Policy *MeetingPolicy `json:"policy,omitempty"`
	// locked lets no new participant into a meeting whose own spec.locked does not say so, but presenters. Default false.
	// +optional
	Locked bool `json:"locked,omitempty"`
	// admission says who has to wait to be let into a meeting whose own spec.admission does not say so: nobody (Open),
	// participants until a presenter is in (WithPresenter), or until each is let in (Ask). Default Open.
	// +optional
	Admission Admission `json:"admission,omitempty"`

	// adHoc says who may open a room that has no meeting, by entering it: Never, Tickets (anyone with a join link that the
	// API made), Users (verified users too) or Anyone. Absent means Never, and with spec.source what its file says: Users
	// where the host is protected, else Anyone.
	// +optional
	AdHoc AdHoc `json:"adHoc,omitempty"`
	// maxMeetings is how many meetings may be live at once. Beyond that the REST API makes none, and nobody opens a room. A Meeting that
	// kubectl makes counts too, and is never refused. Default 10000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	MaxMeetings *int32 `json:"maxMeetings,omitempty"`
	// maxAdHocRooms is how many rooms may be live at once that were opened by entering them. Default 100.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	MaxAdHocRooms *int32 `json:"maxAdHocRooms,omitempty"`
	// ticketLifetime is how long join links work, also when their meeting has gone, if adHoc lets them open it again. At most
	// 9600h (400 days). Default 720h (30 days), and linkLifetime where adHoc is Never.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(ms|s|m|h)){1,4}$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s') && duration(self) <= duration('9600h')",message="must be more than zero and at most 9600h (400 days), for example 720h"
	TicketLifetime *metav1.Duration `json:"ticketLifetime,omitempty"`
}
