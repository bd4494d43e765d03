// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/hostname"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/meeting"
)

const (
	defaultTokenLifetime = time.Hour
	maxTokenLifetime     = 30 * 24 * time.Hour
	defaultBrand         = "Convene"
)

// lookup gives the data of a Secret or ConfigMap, or why that cannot be used.
type lookup func(object) (map[string][]byte, *unusable)

// sources are what a Tenant is made from beside its ConferenceConfig.
type sources struct {
	find     lookup
	evaluate Evaluator
	// media are the MediaServers that the ConferenceConfig and its Meetings name.
	media []namedMedia
}

// resolver resolves one ConferenceConfig. It is pure but for the sandbox of config.js, which the context can stop.
type resolver struct {
	sources
	ctx      context.Context
	config   *v1alpha1.ConferenceConfig
	previous *Tenant
	// again is how long to wait before the file is evaluated, because it could not be for a reason that passes; otherwise 0.
	again time.Duration
	Tenant
}

// resolve makes a Tenant of a ConferenceConfig. Where settings contradict each other those of the previous Tenant
// stay in force. again asks for another try after that time, unless it is 0.
func resolve(ctx context.Context, config *v1alpha1.ConferenceConfig, from sources, previous *Tenant) (t *Tenant, again time.Duration) {
	r := &resolver{ctx: ctx, config: config, sources: from, previous: previous}
	r.identify()
	r.access()
	r.signing()
	r.users()
	r.rules()
	r.compat()
	r.web()
	r.useMedia()
	r.keepMedia()
	resolved := r.Tenant // Not a part of the resolver, which has the previous Tenant: each would keep all before it.
	return &resolved, r.again
}

func (r *resolver) problem(condition, reason string, whenTrue, fatal bool, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{
		Condition: condition, Reason: reason, Message: fmt.Sprintf(format, args...), WhenTrue: whenTrue, Fatal: fatal,
	})
}

func (r *resolver) identify() {
	c := r.config
	r.NamespacedName = types.NamespacedName{Namespace: c.Namespace, Name: c.Name}
	r.UID, r.Generation, r.Created = c.UID, c.Generation, c.CreationTimestamp.Time
	r.Variant = c.Spec.Variant
	r.Deleting = c.DeletionTimestamp != nil
	r.BaseURL = strings.TrimSuffix(c.Spec.BaseURL, "/")
	base, err := url.Parse(r.BaseURL)
	if err != nil {
		base = &url.URL{} // The schema lets no such URL in.
	}
	host, err := hostname.Of(base)
	if err == nil && !strings.EqualFold(host, base.Host) { // Browsers send this form, and so do the links that they are given.
		r.BaseURL = base.Scheme + "://" + host + base.EscapedPath()
	}
	r.BasePath = base.Path
	for _, host := range c.Spec.Hostnames {
		r.Hosts = append(r.Hosts, strings.ToLower(host))
	}
	if len(r.Hosts) == 0 {
		r.Hosts = []string{host}
	}
}

func (r *resolver) object(resource, name string) object {
	return object{resource: resource, namespace: r.config.Namespace, name: name}
}

// secretKey reads one key of a Secret. What is wrong is reported under the condition.
func (r *resolver) secretKey(condition string, ref v1alpha1.SecretKeyReference) (value []byte, ok bool) {
	data, bad := r.find(r.object("secrets", ref.Name))
	if bad != nil {
		r.problem(condition, bad.reason, false, true, "%s", bad.message)
		return nil, false
	}
	value, ok = data[ref.Key]
	if !ok {
		r.problem(condition, v1alpha1.ReasonKeyNotFound, false, true, "Secret %q has no key %q; add it", ref.Name, ref.Key)
	}
	return value, ok
}

// signing reads the keys that sign tokens, tickets and sessions.
func (r *resolver) signing() {
	name := SigningKeysSecret(r.config)
	data, bad := r.find(r.object("secrets", name))
	if bad != nil && bad.reason == v1alpha1.ReasonSecretNotFound {
		bad.message = fmt.Sprintf(
			"Secret %q does not exist, or Convene may not read it; Convene creates it where it may write Secrets, unless spec.tokens.signingKeysSecretRef names another", name)
	}
	if bad != nil {
		r.problem(v1alpha1.ConditionSigningKeysResolved, bad.reason, false, true, "%s", bad.message)
		return
	}
	signer, problems := credential.NewSigner(r.Issuer(), data)
	r.Signer = signer
	for _, p := range problems {
		reason := v1alpha1.ReasonKeyTooShort
		if p.TooMany {
			reason = v1alpha1.ReasonTooManyKeys
		}
		r.problem(v1alpha1.ConditionSigningKeysResolved, reason, false, signer == nil, "Secret %q: %s", name, p)
	}
	if signer == nil && len(problems) == 0 {
		r.problem(v1alpha1.ConditionSigningKeysResolved, v1alpha1.ReasonKeyNotFound, false, true, "Secret %q holds no key; add one of %d random bytes", name, credential.SigningKeySize)
	}
}

// SigningKeysSecret is the name of the Secret that holds a ConferenceConfig's signing keys.
func SigningKeysSecret(c *v1alpha1.ConferenceConfig) string {
	if c.Spec.Tokens != nil && c.Spec.Tokens.SigningKeysSecretRef != nil {
		return c.Spec.Tokens.SigningKeysSecretRef.Name
	}
	return c.Name + "-signing-keys"
}

// users reads who may enter. Where users are named and cannot be read, no user may, and likewise where the operator's own file has users and
// the ConferenceConfig does not.
func (r *resolver) users() {
	spec := ptr.Deref(r.config.Spec.Access, v1alpha1.AccessSpec{})
	r.Protected = ptr.Deref(spec.Protected, r.logins.ToEnter)
	r.Presenters = make(map[string]bool, len(spec.Presenters))
	for _, name := range spec.Presenters {
		r.Presenters[name] = true
	}
	if spec.UsersSecretRef == nil {
		if spec.Protected == nil && r.logins.Any() {
			r.lockLogins()
		}
		return
	}
	text, _ := r.secretKey(v1alpha1.ConditionUsersResolved, *spec.UsersSecretRef)
	users, problems := credential.ParseUsers(text)
	r.Users = users
	if len(problems) > 0 {
		r.problem(v1alpha1.ConditionUsersResolved, v1alpha1.ReasonLinesInvalid, false, false, "Secret %q, %s", spec.UsersSecretRef.Name, problems[0])
	}
}

// lockLogins has no login and no password in a token be right, where the operator's own file wants logins and Convene knows no users.
func (r *resolver) lockLogins() {
	r.Users, _ = credential.ParseUsers(nil)
	reason, why := v1alpha1.ReasonNotConfigured, "the file of spec.source has people log in, and its users are not read from it"
	if r.source == nil {
		reason, why = v1alpha1.ReasonSourceInvalid, "the file of spec.source cannot be read, and may have people log in"
	}
	r.problem(v1alpha1.ConditionUsersResolved, reason, false, r.Protected,
		"%s: nobody can log in. Name the users in spec.access.usersSecretRef (lines of htpasswd -B); or set spec.access.protected to true if the "+
			"backend that asks for tokens checks its users itself, or to false if guests may enter all rooms, "+
			"with spec.meetings.adHoc: Anyone if they may open them too", why)
}

// rules reads lengths, time-outs, limits and lifetimes.
func (r *resolver) rules() {
	spec := r.config.Spec
	settings, err := meeting.ResolveSettings(r.meetings())
	if err == nil {
		r.TokenLifetime, r.MaxTokenLifetime, err = lifetimes(spec.Tokens)
	}
	if err != nil {
		r.problem(v1alpha1.ConditionSettingsInvalid, v1alpha1.ReasonContradiction, true, true, "%s; until then the last good settings are used", public(err))
		settings, r.TokenLifetime, r.MaxTokenLifetime = meeting.DefaultSettings(), defaultTokenLifetime, maxTokenLifetime
		if r.previous != nil {
			settings, r.TokenLifetime, r.MaxTokenLifetime = r.previous.Settings, r.previous.TokenLifetime, r.previous.MaxTokenLifetime
		}
	}
	r.Settings = settings
	privacy := ptr.Deref(spec.Privacy, v1alpha1.PrivacySpec{})
	r.NamesHidden, r.ChatHidden = privacy.Participants == v1alpha1.ShowCounts, privacy.ChatHistory == v1alpha1.ChatHidden
}

// meetings is spec.meetings with what the operator's own file says about who may open rooms: in the services that have such a
// file, everyone may, or on a protected host those who log in.
func (r *resolver) meetings() *v1alpha1.MeetingsSpec {
	spec := r.config.Spec.Meetings
	if r.source == nil || spec != nil && spec.AdHoc != "" {
		return spec
	}
	spec = ptr.To(ptr.Deref(spec, v1alpha1.MeetingsSpec{}))
	spec.AdHoc = v1alpha1.AdHocAnyone
	if r.Protected || r.logins.Any() {
		spec.AdHoc = v1alpha1.AdHocUsers
	}
	return spec
}

func lifetimes(spec *v1alpha1.TokensSpec) (byDefault, greatest time.Duration, err error) {
	byDefault, greatest = defaultTokenLifetime, maxTokenLifetime
	if spec == nil {
		return byDefault, greatest, nil
	}
	if spec.MaxLifetime != nil {
		greatest = spec.MaxLifetime.Duration
		byDefault = min(byDefault, greatest)
	}
	if spec.DefaultLifetime != nil {
		byDefault = spec.DefaultLifetime.Duration
	}
	if byDefault > greatest {
		return 0, 0, fmt.Errorf("tokens.defaultLifetime must not be over tokens.maxLifetime; lower one or raise the other")
	}
	return byDefault, greatest, nil
}

// normalOrigins has each origin in the form in which it is compared. The * of corsOrigins stays.
func normalOrigins(origins []string) (normal []string) {
	for _, origin := range origins {
		normal = append(normal, cmp.Or(hostname.Origin(origin), origin))
	}
	return normal
}

func (r *resolver) web() {
	web := ptr.Deref(r.config.Spec.Web, v1alpha1.WebSpec{})
	web.HomeURL = cmp.Or(web.HomeURL, v1alpha1.URL(r.BaseURL+"/"))
	web.EmbedOrigins, web.CORSOrigins = normalOrigins(web.EmbedOrigins), normalOrigins(web.CORSOrigins)
	brand := ptr.Deref(web.Brand, v1alpha1.BrandSpec{})
	brand.Name = cmp.Or(brand.Name, defaultBrand)
	r.Web = Web{web, brand}
}

// useMedia takes the media servers that may and can be used. That some cannot is fatal only when none is left.
func (r *resolver) useMedia() {
	if !slices.ContainsFunc(r.media, func(m namedMedia) bool { return m.named }) {
		r.problem(v1alpha1.ConditionMediaServersReachable, v1alpha1.ReasonNotConfigured, false, true,
			"spec.mediaRefs names no MediaServer; rooms cannot be entered until it does")
		return
	}
	var problems []Problem
	for _, m := range r.media {
		if !m.named {
			continue
		}
		if p := m.problem(r.config.Namespace); p != nil {
			problems = append(problems, *p)
			continue
		}
		use := m.server.Media
		r.Media = append(r.Media, &use)
	}
	for _, p := range problems {
		if len(r.Media) > 0 {
			p.Condition, p.WhenTrue, p.Fatal = v1alpha1.ConditionMediaServersDegraded, true, false
		}
		r.Problems = append(r.Problems, p)
	}
}

// keepMedia has a tenant keep the media servers where its meetings may still be: those that its Meetings name, which every process
// learns alike, and those that it had, since with a namespace its MediaServers and Secrets are deleted before its meetings have been
// ended. One that may be used, and whose Secret has gone, is used as it was until that has been fixed. The others take nobody in, except where
// the tenant may use the same LiveKit, with the same key, by another name: the MediaServer has been renamed.
func (r *resolver) keepMedia() {
	for _, m := range r.media {
		if m.placed && m.server != nil && m.server.Engine != nil {
			r.keep(&m.server.Media)
		}
	}
	if r.previous == nil {
		return
	}
	for _, m := range r.previous.Media {
		if slices.ContainsFunc(r.media, func(n namedMedia) bool { return n.name == m.Name }) {
			r.keep(m)
		}
	}
	needed := len(r.Media)
	for _, m := range r.previous.Media {
		r.keep(m)
	}
	// The last that the tenant left come first. Each is asked for its rooms every few seconds.
	r.Media = r.Media[:min(len(r.Media), needed+kube.MaxMediaServers)]
}

func (r *resolver) keep(before *Media) {
	if r.MediaAt(before.Name) != nil {
		return
	}
	keep := *before
	keep.Retired = !slices.ContainsFunc(r.media, func(m namedMedia) bool { return m.name == before.Name && m.mayBeUsed() })
	if keep.Retired && slices.ContainsFunc(r.Media, func(m *Media) bool { return m.Server == keep.Server && !m.Retired }) {
		keep.Retired, keep.Draining = false, true
	}
	r.Media = append(r.Media, &keep)
}

// wanted are the objects that a ConferenceConfig names.
func wanted(c *v1alpha1.ConferenceConfig) map[object]bool {
	r := &resolver{config: c}
	all := map[object]bool{r.object("secrets", SigningKeysSecret(c)): true}
	add := func(resource, name string) { all[r.object(resource, name)] = true }
	for _, ref := range ptr.Deref(c.Spec.API, v1alpha1.APISpec{}).KeySecretRefs {
		add("secrets", ref.Name)
	}
	if c.Spec.Access != nil && c.Spec.Access.UsersSecretRef != nil {
		add("secrets", c.Spec.Access.UsersSecretRef.Name)
	}
	if c.Spec.Tokens != nil && c.Spec.Tokens.Legacy != nil {
		add("secrets", c.Spec.Tokens.Legacy.KeySecretRef.Name)
	}
	if s := c.Spec.Source; s != nil {
		maps.Copy(all, r.sourceObjects(s))
	}
	return all
}

func sortedNames(m map[Endpoint]bool) []string {
	var on []string
	for name, enabled := range m {
		if enabled {
			on = append(on, string(name))
		}
	}
	slices.Sort(on)
	return on
}

// EnabledEndpoints are the names of those that are switched on, in alphabetical order.
func (t *Tenant) EnabledEndpoints() []string { return sortedNames(t.enabled) }
