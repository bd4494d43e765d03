// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/source"
	"convene.dev/convene/internal/source/sandbox"
)

// fromEnv is a config of variant B whose keys and switches are in an environment file.
func fromEnv() *v1alpha1.ConferenceConfig {
	c := goodConfig()
	c.Spec.Variant, c.Spec.API = v1alpha1.VariantB, nil
	c.Spec.Source = &v1alpha1.SourceSpec{Env: &v1alpha1.EnvSource{SecretRef: &v1alpha1.SecretReference{Name: "env"}}}
	return c
}

// fromConfigJS is a config of variant A whose keys and switches are in a config.js.
func fromConfigJS(in string) *v1alpha1.ConferenceConfig {
	c := goodConfig()
	c.Spec.API = nil
	js := &v1alpha1.ConfigJSSource{}
	if name, ok := strings.CutPrefix(in, "cm/"); ok {
		js.ConfigMapKeyRef = &v1alpha1.ConfigMapKeyReference{Name: name, Key: "config.js"}
	} else {
		js.SecretKeyRef = &v1alpha1.SecretKeyReference{Name: in, Key: "config.js"}
	}
	c.Spec.Source = &v1alpha1.SourceSpec{ConfigJS: js}
	return c
}

// envOf lists objects with an environment. The names of ConfigMaps begin with cm/.
func envOf(names ...string) (from []v1alpha1.EnvFromSource) {
	for _, name := range names {
		if m, ok := strings.CutPrefix(name, "cm/"); ok {
			from = append(from, v1alpha1.EnvFromSource{ConfigMapRef: &v1alpha1.ConfigMapReference{Name: m}})
		} else {
			from = append(from, v1alpha1.EnvFromSource{SecretRef: &v1alpha1.SecretReference{Name: name}})
		}
	}
	return from
}

const (
	plainJS = `module.exports = {api: {keySecret: "` + strong + `", allowed: {stats: false, meetings: true, meeting: true, meetingEnd: true, join: true, token: true, docs: true}}}`
	envJS   = `module.exports = {api: {keySecret: process.env.API_KEY_SECRET}}`
)

func TestSources(t *testing.T) {
	s, err := sandbox.Self()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		reason  string
		config  *v1alpha1.ConferenceConfig
		change  func(*v1alpha1.ConferenceConfigSpec)
		objects secrets
		key, on string
		// problem is "condition reason: part of the message" of the first problem; empty is none.
		problem string
	}{
		{"an environment file", fromEnv(), nil, secrets{"env": {"API_KEY_SECRET": strong, "API_DISABLED": `["token","meetings"]`}}, strong, "docs join meeting stats", ""},
		{"kubectl keeps the quotes around values", fromEnv(), nil, secrets{"env": {"API_KEY_SECRET": `"` + strong + `"`, "API_DISABLED": `'["token"]'`}}, strong, "docs join meeting meetings stats", ""},
		{"nothing is disabled", fromEnv(), nil, secrets{"env": {"API_KEY_SECRET": strong}}, strong, "docs join meeting meetings stats token", ""},
		{"no Secret of the file", fromEnv(), nil, secrets{}, "", "docs join meeting meetings stats token",
			`APIKeysResolved SourceInvalid: spec.source: Secret "env" does not exist in namespace "ns", or Convene may not read it; create it`},
		{"an environment from several objects, the later ones count", fromEnv(), func(s *v1alpha1.ConferenceConfigSpec) {
			s.Source.Env = &v1alpha1.EnvSource{From: envOf("cm/shared", "env", "cm/last")}
		}, secrets{
			"cm/shared": {"API_DISABLED": `["stats"]`, "API_KEY_SECRET": "of-the-configmap"},
			"env":       {"API_KEY_SECRET": strong, ".env": "API_DISABLED=[\"meetings\"]\n"},
			"cm/last":   {".env": "export API_DISABLED = '[\"token\"]'\n"},
		}, strong, "docs join meeting meetings stats", ""},
		{"an environment of which one object is missing", fromEnv(), func(s *v1alpha1.ConferenceConfigSpec) {
			s.Source.Env = &v1alpha1.EnvSource{From: envOf("env", "cm/shared")}
		}, secrets{"env": {"API_KEY_SECRET": strong}}, "", "docs join meeting meetings stats token",
			`APIKeysResolved SourceInvalid: spec.source: ConfigMap "shared" does not exist`},
		{"a file without a secret", fromEnv(), nil, secrets{"env": {}}, "", "docs join meeting meetings stats token", "APIKeysResolved KeyEmpty: spec.source: API key 1 is empty"},
		{"a list that is none", fromEnv(), nil, secrets{"env": {"API_KEY_SECRET": strong, "API_DISABLED": "token"}}, "", "docs join meeting meetings stats token", "APIKeysResolved SourceInvalid: spec.source: API_DISABLED"},
		{"keys of the spec win over the file", fromEnv(), func(s *v1alpha1.ConferenceConfigSpec) {
			s.API = &v1alpha1.APISpec{KeySecretRefs: []v1alpha1.SecretKeyReference{{Name: "keys", Key: "current"}}}
		}, secrets{"keys": {"current": strong2}, "env": {"API_KEY_SECRET": strong, "API_DISABLED": `["token"]`}}, strong2, "docs join meeting meetings stats", ""},
		{"switches of the spec win over the file", fromEnv(), func(s *v1alpha1.ConferenceConfigSpec) {
			s.API = &v1alpha1.APISpec{Disabled: []string{"stats"}}
		}, secrets{"env": {"API_KEY_SECRET": strong, "API_DISABLED": `["token"]`}}, strong, "docs join meeting meetings token", ""},
		{"an empty list in the spec wins too", fromEnv(), func(s *v1alpha1.ConferenceConfigSpec) {
			s.API = &v1alpha1.APISpec{Disabled: []string{}}
		}, secrets{"env": {"API_KEY_SECRET": strong, "API_DISABLED": `["token"]`}}, strong, "docs join meeting meetings stats token", ""},
		{"a file that cannot be read beside keys of the spec", fromEnv(), func(s *v1alpha1.ConferenceConfigSpec) {
			s.API = &v1alpha1.APISpec{KeySecretRefs: []v1alpha1.SecretKeyReference{{Name: "keys", Key: "current"}}}
		}, secrets{"keys": {"current": strong}}, strong, "docs join meeting meetings stats token", "KeyRefused SourceInvalid: spec.source: Secret \"env\" does not exist"},

		{"a config.js in a Secret", fromConfigJS("file"), nil, secrets{"file": {"config.js": plainJS}}, strong, "docs join meeting meetingEnd meetings token", ""},
		{"a config.js in a ConfigMap", fromConfigJS("cm/file"), nil, secrets{"cm/file": {"config.js": plainJS}}, strong, "docs join meeting meetingEnd meetings token", ""},
		{"process.env is what the same Secret holds", fromConfigJS("file"), nil, secrets{"file": {"config.js": envJS, "API_KEY_SECRET": strong}}, strong, allOn, ""},
		{"a ConfigMap is no environment", fromConfigJS("cm/file"), nil, secrets{"cm/file": {"config.js": envJS, "API_KEY_SECRET": strong}}, "", allOn, "APIKeysResolved KeyEmpty: spec.source: API key 1 is empty"},
		{"an environment of its own", fromConfigJS("cm/file"), func(s *v1alpha1.ConferenceConfigSpec) {
			s.Source.ConfigJS.EnvSecretRef = &v1alpha1.SecretReference{Name: "vars"}
		}, secrets{"cm/file": {"config.js": envJS}, "vars": {"API_KEY_SECRET": strong}}, strong, allOn, ""},
		{"an environment from several objects", fromConfigJS("file"), func(s *v1alpha1.ConferenceConfigSpec) {
			s.Source.ConfigJS.EnvFrom = envOf("cm/shared", "vars")
		}, secrets{
			"file": {"config.js": envJS, "API_KEY_SECRET": "of-the-file"}, "cm/shared": {"API_KEY_SECRET": "of-the-configmap"}, "vars": {"API_KEY_SECRET": strong},
		}, strong, allOn, ""},
		{"an environment that is not there", fromConfigJS("cm/file"), func(s *v1alpha1.ConferenceConfigSpec) {
			s.Source.ConfigJS.EnvSecretRef = &v1alpha1.SecretReference{Name: "vars"}
		}, secrets{"cm/file": {"config.js": envJS}}, "", allOn, `APIKeysResolved SourceInvalid: spec.source: Secret "vars" does not exist`},
		{"no ConfigMap", fromConfigJS("cm/file"), nil, secrets{}, "", allOn, `APIKeysResolved SourceInvalid: spec.source: ConfigMap "file" does not exist`},
		{"no such key", fromConfigJS("file"), nil, secrets{"file": {"other.js": plainJS}}, "", allOn, `APIKeysResolved SourceInvalid: spec.source: "file" has no key "config.js"; add it`},
		{"no JavaScript", fromConfigJS("file"), nil, secrets{"file": {"config.js": "module.exports = {"}}, "", allOn, "APIKeysResolved SourceInvalid: spec.source: config.js line 1 is not valid JavaScript"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if tc.change != nil {
				tc.change(&tc.config.Spec)
			}
			all := good()
			delete(all, "keys")
			for name, values := range tc.objects {
				all[name] = values
			}
			got, again := resolve(t.Context(), tc.config, sources{find: all.find, evaluate: s.EvaluateConfigJS, media: all.mediaOf(tc.config)}, nil)
			if _, ok := got.Keys.Match(tc.key); ok != (tc.key != "") || got.Keys.Len() > 1 || again > 0 {
				t.Errorf("%d keys, the right one %t, again %s", got.Keys.Len(), ok, again)
			}
			if on := strings.Join(got.EnabledEndpoints(), " "); on != tc.on {
				t.Errorf("%q are on, want %q", on, tc.on)
			}
			var problem string
			for _, p := range got.Problems {
				if p.Condition != v1alpha1.ConditionEndpointNamesValid {
					problem = p.Condition + " " + p.Reason + ": " + p.Message
					break
				}
			}
			if (problem == "") != (tc.problem == "") || !strings.HasPrefix(problem, tc.problem) {
				t.Errorf("the problem is %q, want %q", problem, tc.problem)
			}
			if unread := strings.Contains(tc.problem, v1alpha1.ReasonSourceInvalid); got.NamesUnread != unread {
				t.Errorf("the names of endpoints were not read: %t, want %t", got.NamesUnread, unread)
			}
		})
	}
}

// TestTheFileDecidesWhoOpensRooms: services with such a file let everyone open rooms, or on a protected host those who log in.
func TestTheFileDecidesWhoOpensRooms(t *testing.T) {
	s, err := sandbox.Self()
	if err != nil {
		t.Fatal(err)
	}
	js := func(more string) secrets {
		return secrets{"file": {"config.js": `module.exports = {api: {keySecret: "` + strong + `"}` + more + `}`}}
	}
	env := func(more ...string) secrets {
		vars := map[string]string{"API_KEY_SECRET": strong}
		for i := 0; i < len(more); i += 2 {
			vars[more[i]] = more[i+1]
		}
		return secrets{"env": vars}
	}
	for _, tc := range []struct {
		reason  string
		config  *v1alpha1.ConferenceConfig
		change  func(*v1alpha1.ConferenceConfigSpec)
		objects secrets
		want    v1alpha1.AdHoc
	}{
		{"no file", goodConfig(), nil, nil, v1alpha1.AdHocNever},
		{"no file, and the field", goodConfig(), func(s *v1alpha1.ConferenceConfigSpec) {
			s.Meetings = &v1alpha1.MeetingsSpec{AdHoc: v1alpha1.AdHocTickets}
		}, nil, v1alpha1.AdHocTickets},
		{"an environment file", fromEnv(), nil, env(), v1alpha1.AdHocAnyone},
		{"an environment file of an open host", fromEnv(), nil, env("HOST_PROTECTED", "false"), v1alpha1.AdHocAnyone},
		{"an environment file of a protected host", fromEnv(), nil, env("HOST_PROTECTED", "true"), v1alpha1.AdHocUsers},
		{"a protected host beside an open file", fromEnv(), func(s *v1alpha1.ConferenceConfigSpec) {
			s.Access = &v1alpha1.AccessSpec{Protected: new(true)}
		}, env(), v1alpha1.AdHocUsers},
		{"the field wins over the file", fromEnv(), func(s *v1alpha1.ConferenceConfigSpec) {
			s.Meetings = &v1alpha1.MeetingsSpec{AdHoc: v1alpha1.AdHocNever}
		}, env(), v1alpha1.AdHocNever},
		{"other fields do not", fromEnv(), func(s *v1alpha1.ConferenceConfigSpec) {
			s.Meetings = &v1alpha1.MeetingsSpec{MaxParticipants: ptr.To[int32](5)}
		}, env(), v1alpha1.AdHocAnyone},
		{"a file that cannot be read decides nothing", fromEnv(), nil, secrets{}, v1alpha1.AdHocNever},
		{"a config.js", fromConfigJS("file"), nil, js(""), v1alpha1.AdHocAnyone},
		{"a config.js of a protected host", fromConfigJS("file"), nil, js(", host: {protected: true}"), v1alpha1.AdHocUsers},
	} {
		if tc.change != nil {
			tc.change(&tc.config.Spec)
		}
		all := good()
		maps.Copy(all, tc.objects)
		got, _ := resolve(t.Context(), tc.config, sources{find: all.find, evaluate: s.EvaluateConfigJS, media: all.mediaOf(tc.config)}, nil)
		if got.Settings.AdHoc != tc.want {
			t.Errorf("%s: %s, want %s", tc.reason, got.Settings.AdHoc, tc.want)
		}
	}
}

// TestWhatAFileMeantBesides: a tenant that brings its file has what chat: false and the first to come meant there. The fields win.
func TestWhatAFileMeantBesides(t *testing.T) {
	compat := func(c v1alpha1.CompatSpec) func(*v1alpha1.ConferenceConfigSpec) {
		return func(s *v1alpha1.ConferenceConfigSpec) { s.Compat = &c }
	}
	env := func(first string) secrets {
		return secrets{"env": {"API_KEY_SECRET": strong, "PRESENTER_JOIN_FIRST": first}}
	}
	for _, tc := range []struct {
		reason          string
		config          *v1alpha1.ConferenceConfig
		change          func(*v1alpha1.ConferenceConfigSpec)
		objects         secrets
		closes, present bool
	}{
		{"no file", goodConfig(), nil, nil, false, false},
		{"no file, and the fields", goodConfig(), compat(v1alpha1.CompatSpec{ChatOff: v1alpha1.ChatOffClosesPanel, Opener: v1alpha1.RolePresenter}), nil, true, true},
		{"a file", fromEnv(), nil, env("true"), true, true},
		{"a file in which the first does not present", fromEnv(), nil, env("false"), true, false},
		{"the fields win over the file", fromEnv(), compat(v1alpha1.CompatSpec{ChatOff: v1alpha1.ChatOffDisables, Opener: v1alpha1.RoleParticipant}), env("true"), false, false},
		{"the field wins over the file's word", fromEnv(), compat(v1alpha1.CompatSpec{Opener: v1alpha1.RolePresenter}), env("false"), true, true},
		{"a file that cannot be read", fromEnv(), nil, secrets{}, true, false},
	} {
		all := good()
		maps.Copy(all, tc.objects)
		if tc.change != nil {
			tc.change(&tc.config.Spec)
		}
		got, _ := resolve(t.Context(), tc.config, sources{find: all.find, media: all.mediaOf(tc.config)}, nil)
		if got.Compat.ChatOffClosesPanel != tc.closes || got.Settings.OpenerLeads != tc.present {
			t.Errorf("%s: %+v, who opens leads: %t", tc.reason, got.Compat, got.Settings.OpenerLeads)
		}
	}
}

func TestTheKeyOfTokensThatIntegrationsSign(t *testing.T) {
	const key = "operators-own-jwt-key"
	named := func(s *v1alpha1.ConferenceConfigSpec) {
		s.Tokens = &v1alpha1.TokensSpec{Legacy: &v1alpha1.LegacyTokensSpec{KeySecretRef: v1alpha1.SecretKeyReference{Name: "legacy", Key: "key"}}}
	}
	env := func(value string) secrets { return secrets{"env": {"API_KEY_SECRET": strong, "JWT_KEY": value}} }
	for _, tc := range []struct {
		reason  string
		config  *v1alpha1.ConferenceConfig
		change  func(*v1alpha1.ConferenceConfigSpec)
		objects secrets
		// refused is the reason of the condition; empty where the key is used, and "none" where there is no key.
		refused string
	}{
		{"none", goodConfig(), nil, nil, "none"},
		{"a Secret", goodConfig(), named, secrets{"legacy": {"key": key + "\n"}}, ""},
		{"a file", fromEnv(), nil, env(key), ""},
		{"a file without it", fromEnv(), nil, secrets{"env": {"API_KEY_SECRET": strong}}, "none"},
		{"a Secret before the file", fromEnv(), named, secrets{"legacy": {"key": key}, "env": {"API_KEY_SECRET": strong, "JWT_KEY": "x"}}, ""},
		{"no Secret", goodConfig(), named, nil, v1alpha1.ReasonSecretNotFound},
		{"no such key in it", goodConfig(), named, secrets{"legacy": {"other": key}}, v1alpha1.ReasonKeyNotFound},
		{"an empty one", goodConfig(), named, secrets{"legacy": {"key": " "}}, v1alpha1.ReasonKeyEmpty},
		{"a short one", goodConfig(), named, secrets{"legacy": {"key": "fifteen-letters"}}, v1alpha1.ReasonKeyTooShort},
		{"a published one", fromEnv(), nil, env("meetings_jwt_secret"), v1alpha1.ReasonKeyPublished},
		{"a published one in other letters", fromEnv(), nil, env("Meetings-JWT-Secret"), v1alpha1.ReasonKeyPublished},
		{"a default", fromEnv(), nil, env("meetings_default_secret"), v1alpha1.ReasonKeyPublished},
	} {
		if tc.change != nil {
			tc.change(&tc.config.Spec)
		}
		all := good()
		maps.Copy(all, tc.objects)
		got, _ := resolve(t.Context(), tc.config, sources{find: all.find, evaluate: noEvaluator, media: all.mediaOf(tc.config)}, nil)
		if (got.LegacyTokens != nil) != (tc.refused == "") {
			t.Errorf("%s: a key is used: %t", tc.reason, got.LegacyTokens != nil)
		}
		var refused string
		for _, p := range got.Problems {
			if p.Condition == v1alpha1.ConditionLegacyKeyRefused {
				refused = p.Reason
			}
			if p.Fatal || strings.Contains(p.Message, key) {
				t.Errorf("%s: %+v", tc.reason, p)
			}
		}
		if want := strings.TrimPrefix(tc.refused, "none"); refused != want {
			t.Errorf("%s: refused for %q, want %q", tc.reason, refused, want)
		}
	}
	if all := wanted(func() *v1alpha1.ConferenceConfig { c := goodConfig(); named(&c.Spec); return c }()); !all[object{"secrets", "ns", "legacy"}] {
		t.Error("the Secret of the key is not watched")
	}
}

// What cannot be evaluated for a reason that passes is tried again; what cannot be evaluated at all is not.
func TestEvaluationIsTriedAgain(t *testing.T) {
	for reason, tc := range map[string]struct {
		err   error
		again time.Duration
	}{
		"busy":   {fault.Unavailable("too busy").Because(errors.New("private")), retryAfter},
		"paused": {fault.Unavailable("a pause").Because(source.Pause(time.Minute)), time.Minute},
		"wrong":  {fault.Invalid("spec.source", "wrong"), 0},
		"broken": {fault.As(context.Canceled), 0},
	} {
		evaluate := func(context.Context, string, string, map[string]string) (source.Settings, error) {
			return source.Settings{}, tc.err
		}
		all := good()
		all["file"] = map[string]string{"config.js": plainJS}
		config := fromConfigJS("file")
		got, again := resolve(t.Context(), config, sources{find: all.find, evaluate: evaluate, media: all.mediaOf(config)}, nil)
		if len(got.Problems) > 0 && strings.Contains(got.Problems[0].Message, "private") {
			t.Errorf("%s: the condition tells the cause: %s", reason, got.Problems[0].Message)
		}
		if again != tc.again || got.Keys.Len() != 0 || len(got.Problems) == 0 || !got.Problems[0].Fatal {
			t.Errorf("%s: again %s, problems %+v", reason, again, got.Problems)
		}
	}
}

// While its file cannot be evaluated, a tenant loses all that was taken away from it elsewhere, and the file's settings stay.
func TestOnlyTheFileWaits(t *testing.T) {
	all := good()
	all["file"] = map[string]string{"config.js": plainJS}
	config := fromConfigJS("file")
	config.UID = "first"
	settings, err := source.Settings{KeySecret: strong, HasKeySecret: true, Allowed: map[string]bool{"join": false}}, error(nil)
	evaluate := func(context.Context, string, string, map[string]string) (source.Settings, error) {
		return settings, err
	}
	resolved := func(previous *Tenant) (*Tenant, time.Duration) {
		return resolve(t.Context(), config, sources{find: all.find, evaluate: evaluate, media: all.mediaOf(config)}, previous)
	}
	before, again := resolved(nil)
	if _, ok := before.Keys.Match(strong); !ok || again > 0 || before.Problems[0].Condition != v1alpha1.ConditionEndpointNamesValid || !before.HasMedia() {
		t.Fatalf("at the start: again %s, problems %+v", again, before.Problems)
	}
	settings, err = source.Settings{}, fault.Unavailable("a pause")
	config.Spec.Hostnames = []string{"only.example"}
	config.Spec.MediaRefs = nil
	after, again := resolved(before)
	if strings.Join(after.Hosts, "") != "only.example" || after.HasMedia() || again == 0 {
		t.Errorf("hosts are %s, there is media: %t, again %s", after.Hosts, after.HasMedia(), again)
	}
	twice, _ := resolved(after)
	for when, got := range map[string]*Tenant{"once": after, "twice": twice} {
		if _, ok := got.Keys.Match(strong); !ok || got.Enabled(Join) {
			t.Errorf("put off %s: the file's key works: %t, on are %s", when, ok, got.EnabledEndpoints())
		}
		if p := got.Problems[0]; p.Condition != v1alpha1.ConditionKeyRefused || p.Reason != v1alpha1.ReasonSourceInvalid || p.Fatal {
			t.Errorf("put off %s: the first problem is %+v", when, p)
		}
	}
	config.UID = "another"
	if another, _ := resolved(twice); another.Keys.Len() != 0 {
		t.Error("another ConferenceConfig of the same name has the key")
	}
	config.UID, err = "first", fault.Invalid("spec.source", "no file at all")
	wrong, _ := resolved(twice)
	err = fault.Unavailable("a pause")
	if still, _ := resolved(wrong); wrong.Keys.Len() != 0 || still.Keys.Len() != 0 {
		t.Error("a file that was found to be wrong has a key")
	}
}
