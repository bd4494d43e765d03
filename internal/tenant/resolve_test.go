// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/livekit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/source"
)

const (
	strong  = "4d1f0c7be2a94b0f8e6a"
	strong2 = "91b7cc0e64d84be2ae0d"
	// htpasswd -nbB anna secret
	annaLine = "anna:$2y$05$C3jvVrGyoQHGdFXBwQDpzO3kpJGSJvrqPpjbzBW1TDg6yv8oAAz2e"
)

// secrets are the objects of a namespace: name, key, value. Those that begin with "cm/" are ConfigMaps.
type secrets map[string]map[string]string

func (s secrets) find(o object) (map[string][]byte, *unusable) {
	name := o.name
	if o.resource == "configmaps" {
		name = "cm/" + name
	}
	values, ok := s[name]
	data := map[string][]byte{}
	for k, v := range values {
		data[k] = []byte(v)
	}
	if !ok || o.namespace != "ns" {
		return nil, missing(o)
	}
	return data, nil
}

// good are the Secrets with which the config of goodConfig has no problem.
func good() secrets {
	return secrets{
		"keys": {"current": strong, "next": strong2}, "c-signing-keys": {"1": strings.Repeat("k", 32)},
		"users": {"htpasswd": annaLine}, "livekit": {"apiKey": "key", "apiSecret": "secret-of-thirty-two-characters-x"},
	}
}

func goodConfig() *v1alpha1.ConferenceConfig {
	return &v1alpha1.ConferenceConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "uid", Generation: 7, CreationTimestamp: metav1.NewTime(epoch)},
		Spec: v1alpha1.ConferenceConfigSpec{
			Variant: v1alpha1.VariantA, BaseURL: "https://Meet.Example.com:8443/video",
			API:       &v1alpha1.APISpec{KeySecretRefs: []v1alpha1.SecretKeyReference{{Name: "keys", Key: "current"}}},
			MediaRefs: []v1alpha1.MediaServerReference{{Name: "livekit"}},
		},
	}
}

// noEvaluator is for tests without a config.js.
func noEvaluator(context.Context, string, string, map[string]string) (source.Settings, error) {
	return source.Settings{}, errors.New("not to be called")
}

// mediaOf finds the MediaServer "livekit" in each namespace, where there is the Secret "livekit".
func (s secrets) mediaOf(c *v1alpha1.ConferenceConfig) (all []namedMedia) {
	for _, name := range mediaNames(c) {
		m := namedMedia{name: name, named: true}
		if name.Name == "livekit" {
			m.server = resolveMediaServer(&v1alpha1.MediaServer{
				ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name},
				Spec:       v1alpha1.MediaServerSpec{APIURL: "http://livekit:7880/", SecretRef: v1alpha1.SecretReference{Name: "livekit"}},
			}, s.find, livekit.New)
			m.allowed = m.server.allows(c.Namespace, nil)
		}
		all = append(all, m)
	}
	return all
}

func resolveWith(t testing.TB, c *v1alpha1.ConferenceConfig, s secrets, previous *Tenant) *Tenant {
	got, again := resolve(t.Context(), c, sources{find: s.find, evaluate: noEvaluator, media: s.mediaOf(c)}, previous)
	if again > 0 {
		t.Error("another try is asked for, and nothing passes by itself")
	}
	return got
}

func TestResolveGood(t *testing.T) {
	c := goodConfig()
	c.Spec.API.RateLimit = &v1alpha1.RateLimitSpec{RequestsPerSecond: 5}
	c.Spec.Web = &v1alpha1.WebSpec{
		EmbedOrigins: []string{"https://*.Example.com:443", "capacitor://localhost"}, CORSOrigins: []string{"*", "http://APP.example.com.:80"},
	}
	c.Spec.Privacy = &v1alpha1.PrivacySpec{Participants: v1alpha1.ShowCounts, ChatHistory: v1alpha1.ChatHidden}
	c.Spec.Access = &v1alpha1.AccessSpec{Protected: new(true), UsersSecretRef: &v1alpha1.SecretKeyReference{Name: "users", Key: "htpasswd"}, Presenters: []string{"anna"}}
	c.Spec.API.KeySecretRefs = append(c.Spec.API.KeySecretRefs, v1alpha1.SecretKeyReference{Name: "keys", Key: "next"})
	got := resolveWith(t, c, good(), nil)
	if len(got.Problems) > 0 {
		t.Fatalf("problems: %+v", got.Problems)
	}
	for _, key := range []string{strong, strong2} {
		if _, ok := got.Keys.Match(key); !ok {
			t.Errorf("the key %s does not open", key)
		}
	}
	if got.Users.Len() != 1 || got.Signer == nil || len(got.Media) != 1 {
		t.Errorf("users %d, signer %v, media %v", got.Users.Len(), got.Signer, got.Media)
	}
	want := Tenant{
		NamespacedName: types.NamespacedName{Namespace: "ns", Name: "c"}, UID: "uid", Generation: 7, Created: epoch, Variant: "A",
		BaseURL: "https://Meet.Example.com:8443/video", BasePath: "/video", Hosts: []string{"meet.example.com:8443"},
		RateLimit: &v1alpha1.RateLimitSpec{RequestsPerSecond: 5}, Protected: true, Presenters: map[string]bool{"anna": true},
		TokenLifetime: time.Hour, MaxTokenLifetime: 720 * time.Hour, Settings: meeting.DefaultSettings(),
		NamesHidden: true, ChatHidden: true,
		Web: Web{
			v1alpha1.WebSpec{
				HomeURL: "https://Meet.Example.com:8443/video/", EmbedOrigins: []string{"https://*.example.com", "capacitor://localhost"},
				CORSOrigins: []string{"*", "http://app.example.com"},
			},
			v1alpha1.BrandSpec{Name: "Convene"},
		},
	}
	media := got.Media[0].Server
	got.Keys, got.Users, got.Signer, got.Media, got.enabled = want.Keys, nil, nil, nil, nil
	if diff := cmp.Diff(want, *got, cmp.AllowUnexported(Tenant{}), cmp.AllowUnexported(want.Keys)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := (engine.Server{URL: "http://livekit:7880", Key: "key", Secret: "secret-of-thirty-two-characters-x"}); media != want {
		t.Errorf("LiveKit is %+v", media)
	}
	if got.Issuer() != "convene/ns/c" || got.MeetingURL("a b") != "https://Meet.Example.com:8443/video/join/a%20b" {
		t.Errorf("%s, %s", got.Issuer(), got.MeetingURL("a b"))
	}
}

func TestADeletedTenantKeepsItsEngine(t *testing.T) {
	c, all := goodConfig(), good()
	whole := resolveWith(t, c, all, nil)
	delete(all, "livekit")
	c.Spec.MediaRefs = nil
	without := resolveWith(t, c, all, whole)
	if without.HasMedia() {
		t.Fatal("a tenant that wants no engine still uses it")
	}
	c.DeletionTimestamp = &metav1.Time{Time: epoch}
	if deleting := resolveWith(t, c, all, without); len(deleting.Media) != 1 || deleting.Media[0].Server != whole.Media[0].Server {
		t.Fatalf("the meetings cannot be ended: %+v", deleting.Media)
	}
}

func TestHostnamesReplaceTheHostOfTheBaseURL(t *testing.T) {
	c := goodConfig()
	c.Spec.Hostnames = []string{"A.example", "*.B.example:80"}
	if diff := cmp.Diff([]string{"a.example", "*.b.example:80"}, resolveWith(t, c, good(), nil).Hosts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Everything that can be wrong: the condition that says so, and whether the tenant can be served all the same.
// TestTheBaseURLAsBrowsersAskForIt: they send Punycode, whatever the configuration says.
func TestTheBaseURLAsBrowsersAskForIt(t *testing.T) {
	for _, tc := range []struct{ configured, baseURL, host string }{
		{"https://Meet.Example.com:8443/video", "https://Meet.Example.com:8443/video", "meet.example.com:8443"},
		{"https://BÜCHER.example:8443/video", "https://xn--bcher-kva.example:8443/video", "xn--bcher-kva.example:8443"},
		{"https://meet.example.com.:443/video", "https://meet.example.com/video", "meet.example.com"},
		{"http://meet.example.com:80", "http://meet.example.com", "meet.example.com"},
		{"http://meet.example.com:443", "http://meet.example.com:443", "meet.example.com:443"},
		{"https://bu\u0308cher.example", "https://xn--bcher-kva.example", "xn--bcher-kva.example"},
		{"http://会议。例子/a~b", "http://xn--6oqu09l.xn--fsqu00a/a~b", "xn--6oqu09l.xn--fsqu00a"},
		{"http://[::1]:8080/x", "http://[::1]:8080/x", "[::1]:8080"},
	} {
		r := &resolver{config: &v1alpha1.ConferenceConfig{Spec: v1alpha1.ConferenceConfigSpec{BaseURL: tc.configured}}}
		r.identify()
		if r.BaseURL != tc.baseURL || !slices.Equal(r.Hosts, []string{tc.host}) {
			t.Errorf("%s is served at %s for %v, want %s for %s", tc.configured, r.BaseURL, r.Hosts, tc.baseURL, tc.host)
		}
		if found := newHosts([]*Tenant{&r.Tenant, asking("other", 1)}, UnknownHosts{}).answers(tc.host); found != &r.Tenant {
			t.Errorf("%s is answered by %s", tc.host, nameOf(found))
		}
	}
}

func TestProblems(t *testing.T) {
	const keys, weak, refused = v1alpha1.ConditionAPIKeysResolved, v1alpha1.ConditionWeakSecret, v1alpha1.ConditionKeyRefused
	const media, signing, users = v1alpha1.ConditionMediaServersReachable, v1alpha1.ConditionSigningKeysResolved, v1alpha1.ConditionUsersResolved
	type config = v1alpha1.ConferenceConfig
	second := func(c *config) {
		c.Spec.API.KeySecretRefs = append(c.Spec.API.KeySecretRefs, v1alpha1.SecretKeyReference{Name: "keys2", Key: "key"})
	}
	withUsers := func(c *config) {
		c.Spec.Access = &v1alpha1.AccessSpec{UsersSecretRef: &v1alpha1.SecretKeyReference{Name: "users", Key: "htpasswd"}}
	}
	without := func(name string) func(secrets) { return func(s secrets) { delete(s, name) } }
	put := func(name, key, value string) func(secrets) {
		return func(s secrets) { s[name] = map[string]string{key: value} }
	}
	for _, tc := range []struct {
		reason            string
		config            func(*config)
		secrets           func(secrets)
		condition, is     string
		says              string
		whenTrue, fatal   bool
		keys              int
		usersKnown, media bool
	}{
		{"no Secret of the key", nil, without("keys"), keys, "SecretNotFound", `Secret "keys" does not exist in namespace "ns", or Convene may not read it; create it`, false, true, 0, false, true},
		{"no such key in it", nil, put("keys", "other", strong), keys, "KeyNotFound", `Secret "keys" has no key "current"; add it`, false, true, 0, false, true},
		{"the key is empty", nil, put("keys", "current", " \n"), keys, "KeyEmpty", `Secret "keys", key "current": API key 1 is empty: put a random value`, false, true, 0, false, true},
		{"the key is a published sample", nil, put("keys", "current", "CHANGE_ME"), keys, "KeyPublished", "published sample value", false, true, 0, false, true},
		{"the key cannot be sent", nil, put("keys", "current", "a\x00b"), keys, "KeyEmpty", "control characters", false, true, 0, false, true},
		{"the key is short", nil, put("keys", "current", "tiny-1"), weak, "KeyTooShort", "shorter than 16 characters: put a longer random value", true, false, 1, false, true},
		{"one of two keys has no Secret", second, nil, refused, "SecretNotFound", `Secret "keys2" does not exist`, true, false, 1, false, true},
		{"one of two keys is a sample", second, put("keys2", "key", "your_api_key"), refused, "KeyPublished", `Secret "keys2", key "key": API key 2 is a published sample`, true, false, 1, false, true},
		{"the first is missing, the second empty", second, func(s secrets) { delete(s, "keys"); s["keys2"] = map[string]string{"key": ""} }, keys, "SecretNotFound", `"keys"`, false, true, 0, false, true},
		{"two keys are one", second, put("keys2", "key", strong+"\n"), weak, "KeyDoubled", `Secret "keys2", key "key": API key 2 is the same as another one: remove it`, true, false, 1, false, true},
		{"no signing keys", nil, without("c-signing-keys"), signing, "SecretNotFound", `Secret "c-signing-keys" does not exist`, false, true, 1, false, true},
		{"own signing keys that are not there", func(c *config) {
			c.Spec.Tokens = &v1alpha1.TokensSpec{SigningKeysSecretRef: &v1alpha1.SecretReference{Name: "own"}}
		}, nil, signing, "SecretNotFound", `Secret "own" does not exist`, false, true, 1, false, true},
		{"a signing key that is too short", nil, put("c-signing-keys", "1", "tiny-1"), signing, "KeyTooShort", `Secret "c-signing-keys": `, false, true, 1, false, true},
		{"no signing key in the Secret", nil, func(s secrets) { s["c-signing-keys"] = map[string]string{} }, signing, "KeyNotFound", "holds no key; add one of 32 random bytes", false, true, 1, false, true},
		{"one good signing key of two", nil, func(s secrets) { s["c-signing-keys"]["2"] = "tiny-1" }, signing, "KeyTooShort", `Secret "c-signing-keys"`, false, false, 1, false, true},
		{"no Secret of the users", withUsers, without("users"), users, "SecretNotFound", `Secret "users" does not exist`, false, true, 1, true, true},
		{"no users in the Secret", withUsers, put("users", "other", annaLine), users, "KeyNotFound", `Secret "users" has no key "htpasswd"; add it`, false, true, 1, true, true},
		{"a line that is no user", withUsers, put("users", "htpasswd", annaLine+"\nbob:plain"), users, "LinesInvalid", `Secret "users", line 2 has no bcrypt hash: write it with htpasswd -B`, false, false, 1, true, true},
		{"no media", func(c *config) { c.Spec.MediaRefs = nil }, nil, media, "NotConfigured", "spec.mediaRefs names no MediaServer; rooms cannot be entered until it does", false, true, 1, false, false},
		{"no Secret of LiveKit", nil, without("livekit"), media, "SecretNotFound", `MediaServer "ns/livekit" cannot be used; see its conditions`, false, true, 1, false, false},
		{"a MediaServer that is not there", func(c *config) { c.Spec.MediaRefs[0].Name = "other" }, nil, media, "MediaServerNotFound", `There is no MediaServer "ns/other"`, false, true, 1, false, false},
		{"a MediaServer of another namespace", func(c *config) { c.Spec.MediaRefs[0].Namespace = "media" }, nil, media, "NotAllowed",
			`There is no MediaServer "media/livekit" that namespace "ns" may use`, false, true, 1, false, false},
		{"a MediaServer that is not there, in another namespace", func(c *config) {
			c.Spec.MediaRefs[0] = v1alpha1.MediaServerReference{Namespace: "media", Name: "other"}
		}, nil, media, "NotAllowed",
			`There is no MediaServer "media/other" that namespace "ns" may use`, false, true, 1, false, false},
		{"one of two MediaServers is not there", func(c *config) {
			c.Spec.MediaRefs = append(c.Spec.MediaRefs, v1alpha1.MediaServerReference{Name: "other"})
		}, nil,
			v1alpha1.ConditionMediaServersDegraded, "MediaServerNotFound", `There is no MediaServer "ns/other"`, true, false, 1, false, true},
		{"settings that contradict each other", func(c *config) {
			c.Spec.Meetings = &v1alpha1.MeetingsSpec{DefaultDuration: "2h", MaxDuration: "1h"}
		}, nil,
			v1alpha1.ConditionSettingsInvalid, "Contradiction", "must not be over meetings.maxDuration; lower one or raise the other; until then the last good settings are used", true, true, 1, false, true},
		{"lifetimes that contradict each other", func(c *config) {
			c.Spec.Tokens = &v1alpha1.TokensSpec{DefaultLifetime: &metav1.Duration{Duration: time.Hour}, MaxLifetime: &metav1.Duration{Duration: time.Minute}}
		}, nil, v1alpha1.ConditionSettingsInvalid, "Contradiction", "tokens.defaultLifetime must not be over tokens.maxLifetime", true, true, 1, false, true},
		{"names that nobody knows", func(c *config) { c.Spec.API.Allowed = map[string]bool{"recording": true} }, nil, v1alpha1.ConditionEndpointNamesValid, "UnknownNames", "recording", false, false, 1, false, true},
		{"names that are left out", func(c *config) { c.Spec.API.Allowed = map[string]bool{"stats": true} }, nil, v1alpha1.ConditionEndpointNamesValid, "OmittedNames", "docs, join, meeting", true, false, 1, false, true},
	} {
		c, s := goodConfig(), good()
		if tc.config != nil {
			tc.config(c)
		}
		if tc.secrets != nil {
			tc.secrets(s)
		}
		got := resolveWith(t, c, s, nil)
		if len(got.Problems) == 0 {
			t.Errorf("%s: no problem", tc.reason)
			continue
		}
		p := got.Problems[0]
		if p.Condition != tc.condition || p.Reason != tc.is || !strings.Contains(p.Message, tc.says) || p.WhenTrue != tc.whenTrue || p.Fatal != tc.fatal {
			t.Errorf("%s: %+v, want %s %s %q, true %t, fatal %t", tc.reason, p, tc.condition, tc.is, tc.says, tc.whenTrue, tc.fatal)
		}
		if got.Keys.Len() != tc.keys || (got.Users != nil) != tc.usersKnown || got.HasMedia() != tc.media {
			t.Errorf("%s: %d keys, users %v, media %v", tc.reason, got.Keys.Len(), got.Users, got.Media)
		}
		for _, secret := range []string{strong, strong2, "CHANGE_ME", "your_api_key", "tiny-1", "plain", annaLine} {
			if strings.Contains(p.Message, secret) {
				t.Errorf("%s: %q shows a secret", tc.reason, p.Message)
			}
		}
	}
}

// Users that are named and cannot be read are nobody. That is not the same as no users.
func TestUnreadableUsersAreNobody(t *testing.T) {
	c, s := goodConfig(), good()
	c.Spec.Access = &v1alpha1.AccessSpec{UsersSecretRef: &v1alpha1.SecretKeyReference{Name: "users", Key: "htpasswd"}}
	delete(s, "users")
	got := resolveWith(t, c, s, nil)
	if right, err := got.Users.Verify(t.Context(), credential.Turn{}, "anna", "secret"); got.Users == nil || got.Users.Len() != 0 || right || err != nil {
		t.Errorf("%+v", got.Users)
	}
}

func TestLastGoodSettingsStay(t *testing.T) {
	c := goodConfig()
	c.Spec.Meetings = &v1alpha1.MeetingsSpec{DefaultDuration: "30m", MaxParticipants: ptr.To(int32(5))}
	c.Spec.Tokens = &v1alpha1.TokensSpec{DefaultLifetime: &metav1.Duration{Duration: time.Minute}}
	before := resolveWith(t, c, good(), nil)
	c.Spec.Meetings = &v1alpha1.MeetingsSpec{DefaultDuration: "2h", MaxDuration: "1h", MaxParticipants: ptr.To(int32(9))}
	c.Spec.BaseURL = "https://other.example"
	after := resolveWith(t, c, good(), before)
	if diff := cmp.Diff(before.Settings, after.Settings); diff != "" || after.TokenLifetime != time.Minute {
		t.Errorf("the settings changed (-before +after):\n%s and tokens live %s", diff, after.TokenLifetime)
	}
	if after.BaseURL != "https://other.example" {
		t.Errorf("what is good stays old: %s", after.BaseURL)
	}
	if fresh := resolveWith(t, c, good(), nil); !cmp.Equal(fresh.Settings, meeting.DefaultSettings()) || fresh.TokenLifetime != time.Hour {
		t.Errorf("without anything before: %+v, tokens live %s", fresh.Settings, fresh.TokenLifetime)
	}
}

func TestTokenLifetimes(t *testing.T) {
	span := func(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }
	for _, tc := range []struct {
		reason              string
		spec                *v1alpha1.TokensSpec
		byDefault, greatest time.Duration
	}{
		{"none", nil, time.Hour, 720 * time.Hour},
		{"a greatest below the usual default", &v1alpha1.TokensSpec{MaxLifetime: span(time.Minute)}, time.Minute, time.Minute},
		{"both", &v1alpha1.TokensSpec{DefaultLifetime: span(2 * time.Hour), MaxLifetime: span(3 * time.Hour)}, 2 * time.Hour, 3 * time.Hour},
		{"a default alone", &v1alpha1.TokensSpec{DefaultLifetime: span(24 * time.Hour)}, 24 * time.Hour, 720 * time.Hour},
	} {
		byDefault, greatest, err := lifetimes(tc.spec)
		if err != nil || byDefault != tc.byDefault || greatest != tc.greatest {
			t.Errorf("%s: %s, %s, %v", tc.reason, byDefault, greatest, err)
		}
	}
}

// Everything that a config names is watched, and nothing else.
func TestWanted(t *testing.T) {
	c := goodConfig()
	c.Spec.Access = &v1alpha1.AccessSpec{UsersSecretRef: &v1alpha1.SecretKeyReference{Name: "users", Key: "x"}}
	c.Spec.Source = &v1alpha1.SourceSpec{
		Env: &v1alpha1.EnvSource{SecretRef: &v1alpha1.SecretReference{Name: "env"}},
		ConfigJS: &v1alpha1.ConfigJSSource{
			SecretKeyRef: &v1alpha1.SecretKeyReference{Name: "file"}, ConfigMapKeyRef: &v1alpha1.ConfigMapKeyReference{Name: "file"},
			EnvSecretRef: &v1alpha1.SecretReference{Name: "file-env"},
		},
	}
	want := map[object]bool{{"configmaps", "ns", "file"}: true}
	for _, name := range []string{"c-signing-keys", "keys", "users", "env", "file", "file-env"} {
		want[object{"secrets", "ns", name}] = true
	}
	if diff := cmp.Diff(want, wanted(c), cmp.AllowUnexported(object{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c.Spec.Source.Env.SecretRef, c.Spec.Source.ConfigJS.EnvSecretRef = nil, nil
	c.Spec.Source.Env.From, c.Spec.Source.ConfigJS.EnvFrom = envOf("env", "cm/env"), envOf("cm/file-env", "file-env")
	want[object{"configmaps", "ns", "env"}], want[object{"configmaps", "ns", "file-env"}] = true, true
	if diff := cmp.Diff(want, wanted(c), cmp.AllowUnexported(object{})); diff != "" {
		t.Errorf("from several objects (-want +got):\n%s", diff)
	}
	c.Spec.Tokens = &v1alpha1.TokensSpec{SigningKeysSecretRef: &v1alpha1.SecretReference{Name: "own"}}
	if got := wanted(c); !got[object{"secrets", "ns", "own"}] || got[object{"secrets", "ns", "c-signing-keys"}] {
		t.Errorf("with signing keys of its own it watches %v", got)
	}
}
