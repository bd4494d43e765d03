// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/source"
	"convene.dev/convene/internal/source/sandbox"
)

// TestTheFileDecidesWhatALoginIsFor: what failed closed in the service of before fails closed here, in both forms of its file. The fields of the
// ConferenceConfig win.
func TestTheFileDecidesWhatALoginIsFor(t *testing.T) {
	s, err := sandbox.Self()
	if err != nil {
		t.Fatal(err)
	}
	type spec = v1alpha1.ConferenceConfigSpec
	users := &v1alpha1.SecretKeyReference{Name: "users", Key: "htpasswd"}
	protected := func(is bool) func(*spec) {
		return func(s *spec) { s.Access = &v1alpha1.AccessSpec{Protected: &is} }
	}
	withUsers := func(s *spec) { s.Access = &v1alpha1.AccessSpec{UsersSecretRef: users} }
	const nobody, unchecked, anna = "nobody can log in", "passwords are not checked", "anna can log in"
	// The switches of a file, in both forms. None is a file that is not there.
	type file struct{ env, js string }
	const none = "none"
	for _, tc := range []struct {
		reason    string
		file      file
		change    func(*spec)
		protected bool
		logins    string
		adHoc     v1alpha1.AdHoc
		// problem is the reason of UsersResolved; fatal says that the ConferenceConfig is not Ready for that.
		problem string
		fatal   bool
	}{
		{"an open host", file{}, nil, false, unchecked, v1alpha1.AdHocAnyone, "", false},
		{"a login to open", file{"HOST_PROTECTED=true", "host: {protected: true}"}, nil, false, nobody, v1alpha1.AdHocUsers, v1alpha1.ReasonNotConfigured, false},
		{"a login elsewhere to open", file{"OIDC_ENABLED=true", "oidc: {enabled: true}"}, nil, false, nobody, v1alpha1.AdHocUsers, v1alpha1.ReasonNotConfigured, false},
		{"a login to enter", file{"HOST_USER_AUTH=true", "security: {host: {user_auth: true}}"}, nil, true, nobody, v1alpha1.AdHocUsers, v1alpha1.ReasonNotConfigured, true},
		{"with users", file{"HOST_USER_AUTH=true", "host: {user_auth: true}"}, withUsers, true, anna, v1alpha1.AdHocUsers, "", false},
		{"users alone", file{}, withUsers, false, anna, v1alpha1.AdHocAnyone, "", false},
		{"the backend checks them", file{"HOST_USER_AUTH=true", "host: {user_auth: true}"}, protected(true), true, unchecked, v1alpha1.AdHocUsers, "", false},
		{"guests may enter", file{"HOST_USER_AUTH=true", "host: {user_auth: true}"}, protected(false), false, unchecked, v1alpha1.AdHocUsers, "", false},
		{"no file", file{none, none}, nil, true, nobody, v1alpha1.AdHocNever, v1alpha1.ReasonSourceInvalid, true},
		{"no file, and users", file{none, none}, withUsers, true, anna, v1alpha1.AdHocNever, "", false},
		{"no file, and guests may enter", file{none, none}, protected(false), false, unchecked, v1alpha1.AdHocNever, "", false},
	} {
		for form, config := range map[string]*v1alpha1.ConferenceConfig{"env": fromEnv(), "config.js": fromConfigJS("file")} {
			all := good()
			if tc.file.env != none {
				name, value, _ := strings.Cut(tc.file.env, "=")
				all["env"] = map[string]string{"API_KEY_SECRET": strong, name: value}
				all["file"] = map[string]string{"config.js": `module.exports = {api: {keySecret: "` + strong + `"}, ` + tc.file.js + "}"}
			}
			if tc.change != nil {
				tc.change(&config.Spec)
			}
			got, _ := resolve(t.Context(), config, sources{find: all.find, evaluate: s.EvaluateConfigJS, media: all.mediaOf(config)}, nil)
			logins := unchecked
			if got.Users != nil {
				logins = map[int]string{0: nobody, 1: anna}[got.Users.Len()]
			}
			if got.Protected != tc.protected || logins != tc.logins || got.Settings.AdHoc != tc.adHoc {
				t.Errorf("%s, %s: protected %t, %s, rooms are opened by %s", tc.reason, form, got.Protected, logins, got.Settings.AdHoc)
			}
			problem, fatal := usersProblem(got)
			if problem != tc.problem || fatal != tc.fatal {
				t.Errorf("%s, %s: %q, fatal %t, want %q, %t", tc.reason, form, problem, fatal, tc.problem, tc.fatal)
			}
		}
	}
}

// usersProblem is what UsersResolved says.
func usersProblem(t *Tenant) (reason string, fatal bool) {
	for _, p := range t.Problems {
		if p.Condition == v1alpha1.ConditionUsersResolved {
			return p.Reason, p.Fatal
		}
	}
	return "", false
}

// TestAFileThatGoesOpensNothing: what people had to log in for stays while the file cannot be read, and ends with the file's own word.
func TestAFileThatGoesOpensNothing(t *testing.T) {
	for _, before := range []string{"false", "true"} {
		all := good()
		config := fromEnv()
		whole := map[string]string{"API_KEY_SECRET": strong, "HOST_USER_AUTH": before}
		all["env"] = whole
		was := resolveWith(t, config, all, nil)
		for reason, now := range map[string]map[string]string{
			"deleted":       nil,
			"not a list":    {"API_KEY_SECRET": strong, "API_DISABLED": "token"},
			"deleted twice": nil,
		} {
			delete(all, "env")
			if now != nil {
				all["env"] = now
			}
			got := resolveWith(t, config, all, was)
			if strings.HasSuffix(reason, "twice") {
				got = resolveWith(t, config, all, got)
			}
			if got.Protected != (before == "true") || (got.Users != nil) != (before == "true") || got.Keys.Len() > 0 {
				t.Errorf("%s, with HOST_USER_AUTH=%s before: protected %t, users %v", reason, before, got.Protected, got.Users)
			}
			opened := maps.Clone(whole)
			opened["HOST_USER_AUTH"] = "false"
			all["env"] = opened
			if again := resolveWith(t, config, all, got); again.Protected || again.Users != nil {
				t.Errorf("%s: an open file is not open: protected %t", reason, again.Protected)
			}
		}
		another := fromEnv()
		another.UID = "another"
		delete(all, "env")
		if got := resolveWith(t, another, all, was); !got.Protected || got.Users == nil {
			t.Error("another ConferenceConfig of the same name has what the first one had")
		}
	}
}

// TestALobbyIsTold unless the ConferenceConfig has spec.meetings.admission.
func TestALobbyIsTold(t *testing.T) {
	all := good()
	config := fromConfigJS("file")
	all["file"] = map[string]string{"config.js": ""}
	evaluate := func(context.Context, string, string, map[string]string) (source.Settings, error) {
		return source.Settings{KeySecret: strong, HasKeySecret: true, Lobby: true}, nil
	}
	for admission, told := range map[v1alpha1.Admission]bool{"": true, v1alpha1.AdmissionOpen: false, v1alpha1.AdmissionAsk: false} {
		config.Spec.Meetings = &v1alpha1.MeetingsSpec{Admission: admission}
		got, _ := resolve(t.Context(), config, sources{find: all.find, evaluate: evaluate, media: all.mediaOf(config)}, nil)
		is := slices.ContainsFunc(got.Problems, func(p Problem) bool {
			return p.Condition == v1alpha1.ConditionProtectionOmitted && p.Reason == v1alpha1.ReasonLobby && p.WhenTrue && !p.Fatal
		})
		if is != told {
			t.Errorf("admission %q: problems: %+v", admission, got.Problems)
		}
	}
}

// TestAListOfAddressesIsTold: Convene has none.
func TestAListOfAddressesIsTold(t *testing.T) {
	all := good()
	all["env"] = map[string]string{"API_KEY_SECRET": strong, "IP_WHITELIST_ENABLED": "true"}
	got := resolveWith(t, fromEnv(), all, nil)
	for _, p := range got.Problems {
		if p.Condition == v1alpha1.ConditionProtectionOmitted && p.Reason == v1alpha1.ReasonAddressList && p.WhenTrue && !p.Fatal {
			return
		}
	}
	t.Errorf("problems: %+v", got.Problems)
}
