// SPDX-License-Identifier: Apache-2.0

// Package tenant turns ConferenceConfigs and the Secrets that they name into Tenants: what the gateway and the
// controllers need to serve them, always current, on every replica.
package tenant

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/compat"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/source"
)

// Tenant is a ConferenceConfig with everything resolved. It is never changed once it is made: a change makes
// another one.
type Tenant struct {
	types.NamespacedName
	UID        types.UID
	Generation int64
	Created    time.Time
	Variant    v1alpha1.Variant

	// BaseURL is absolute without a trailing slash; BasePath is its path, "" or "/prefix".
	BaseURL, BasePath string
	// Hosts that this tenant asks for, lower case.
	Hosts []string
	// allowedHosts are those that nobody owns and its Namespace may have.
	allowedHosts []string

	// Keys are the API keys; none usable means that the API answers 503.
	Keys credential.KeyRing
	// enabled holds every known endpoint.
	enabled map[Endpoint]bool
	// NamesUnread reports that the names of endpoints are in a file that could not be read.
	NamesUnread bool
	// RateLimit for each API key; nil is none.
	RateLimit *v1alpha1.RateLimitSpec

	// Protected hosts let a caller in only with a verified token or login.
	Protected bool
	// Users are the host's users; nil when none are configured.
	Users *credential.Users
	// Presenters are usernames that are presenters once verified.
	Presenters map[string]bool

	// Signer signs and verifies tokens, tickets and sessions; nil until there are signing keys.
	Signer *credential.Signer
	// TokenLifetime is the default, MaxTokenLifetime the greatest.
	TokenLifetime, MaxTokenLifetime time.Duration

	Settings meeting.Settings
	Web      Web
	Compat   Compat
	// LegacyTokens opens tokens that integrations sign themselves; nil where none are accepted.
	LegacyTokens *compat.TokenKey
	// NamesHidden says that Meetings show how many participants there are, and not who.
	NamesHidden bool
	// ChatHidden says that participants read nothing of the chat before they joined.
	ChatHidden bool

	// Media are the media servers that the tenant's meetings may be on, in the order of spec.mediaRefs, and after them those that
	// it used before.
	Media []*Media
	// Deleting says that the ConferenceConfig is being deleted, and gets no new meetings.
	Deleting bool

	// Problems are the conditions that are not as they should be.
	Problems []Problem

	// logins is what people have to log in for by the operator's own file, also while that cannot be read.
	logins source.Logins
	// source is what the operator's own file says; nil where there is none that can be read.
	source *source.Settings
	// origin names what this was resolved from; empty where it has to be tried again.
	origin string
}

// Web is how the tenant's pages look and who may embed or call them.
type Web struct {
	v1alpha1.WebSpec
	// Brand has a name always.
	Brand v1alpha1.BrandSpec
}

// Problem is one thing that is wrong, as a condition says it.
type Problem struct {
	Condition, Reason, Message string
	// WhenTrue makes the condition True, in place of False: the condition says a problem (WeakSecret, …), or holds with a remark.
	WhenTrue bool
	// Fatal problems make the ConferenceConfig not Ready.
	Fatal bool
}

// Endpoint is a name by which an endpoint is switched.
type Endpoint string

// The endpoints that can be switched.
const (
	Stats      Endpoint = "stats"
	Meetings   Endpoint = "meetings"
	Meeting    Endpoint = "meeting"
	MeetingEnd Endpoint = "meetingEnd"
	Join       Endpoint = "join"
	Token      Endpoint = "token"
	Docs       Endpoint = "docs"
	// Control looks at one meeting, changes it while it goes on, and moderates its participants.
	Control Endpoint = "control"
)

// documented are the endpoints of the API's document that a variant has, in alphabetical order.
func documented(v v1alpha1.Variant) []Endpoint {
	if v == v1alpha1.VariantB {
		return []Endpoint{Docs, Join, Meeting, Meetings, Stats, Token}
	}
	return []Endpoint{Docs, Join, Meeting, MeetingEnd, Meetings, Stats, Token}
}

// extensions are endpoints beyond the API's document. A tenant has those that spec.api.extensions names; its rule in the CRD has
// the same names.
var extensions = []Endpoint{Control}

// Endpoints that a variant has, in alphabetical order.
func Endpoints(v v1alpha1.Variant) []Endpoint {
	all := append(documented(v), extensions...)
	slices.Sort(all)
	return all
}

// Has reports whether the tenant has the endpoint: by its variant, and an extension because it is named.
func (t *Tenant) Has(e Endpoint) bool {
	_, ok := t.enabled[e]
	return ok
}

// Enabled reports whether the endpoint is switched on.
func (t *Tenant) Enabled(e Endpoint) bool { return t.enabled[e] }

// RoomOptions are those of the engine's room of a meeting with a limit. A room cannot be given another limit while it is there:
// where clients may raise that of a meeting, the engine holds the tenant's greatest, and the gateway the meeting's.
func (t *Tenant) RoomOptions(limit int) engine.RoomOptions {
	if t.Enabled(Control) {
		limit = t.Settings.MaxParticipants
	}
	return engine.RoomOptions{MaxParticipants: limit}
}

// Issuer names the tenant in what it signs.
func (t *Tenant) Issuer() string { return "convene/" + t.Namespace + "/" + t.Name }

// MeetingURL is the room link.
func (t *Tenant) MeetingURL(room string) string { return MeetingURL(t.BaseURL, room) }
