// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/livekit"
)

// stored is a reader of Secrets and ConfigMaps that are there.
func stored(usedBy string, all ...metav1.Object) *objects {
	o := newObjects(nil, usedBy, newObjectLimits(), nil)
	for _, one := range all {
		key := object{"secrets", one.GetNamespace(), one.GetName()}
		switch one := one.(type) {
		case *corev1.Secret:
			o.watches[key] = &watch{content: o.secret(one)}
		case *corev1.ConfigMap:
			key.resource = "configmaps"
			o.watches[key] = &watch{content: configMap(one)}
		}
	}
	return o
}

// Each field of a spec that names a Secret reads it only with the label of that spec's kind.
func TestASecretServesOneKindOfObject(t *testing.T) {
	ref := v1alpha1.SecretKeyReference{Name: "named", Key: "apiKey"}
	whole := v1alpha1.SecretReference{Name: "named"}
	file := &v1alpha1.ConfigMapKeyReference{Name: "file", Key: "config.js"}
	configs := map[string]func(*v1alpha1.ConferenceConfigSpec){
		"api.keySecretRefs":           func(s *v1alpha1.ConferenceConfigSpec) { s.API.KeySecretRefs = []v1alpha1.SecretKeyReference{ref} },
		"access.usersSecretRef":       func(s *v1alpha1.ConferenceConfigSpec) { s.Access = &v1alpha1.AccessSpec{UsersSecretRef: &ref} },
		"tokens.signingKeysSecretRef": func(s *v1alpha1.ConferenceConfigSpec) { s.Tokens = &v1alpha1.TokensSpec{SigningKeysSecretRef: &whole} },
		"tokens.legacy.keySecretRef": func(s *v1alpha1.ConferenceConfigSpec) {
			s.Tokens = &v1alpha1.TokensSpec{Legacy: &v1alpha1.LegacyTokensSpec{KeySecretRef: ref}}
		},
		"source.env.secretRef": func(s *v1alpha1.ConferenceConfigSpec) {
			s.Source = &v1alpha1.SourceSpec{Env: &v1alpha1.EnvSource{SecretRef: &whole}}
		},
		"source.env.from.secretRef": func(s *v1alpha1.ConferenceConfigSpec) {
			s.Source = &v1alpha1.SourceSpec{Env: &v1alpha1.EnvSource{From: envOf("named")}}
		},
		"source.configJS.envFrom.secretRef": func(s *v1alpha1.ConferenceConfigSpec) {
			s.Source = &v1alpha1.SourceSpec{ConfigJS: &v1alpha1.ConfigJSSource{ConfigMapKeyRef: file, EnvFrom: envOf("named")}}
		},
		"source.configJS.secretKeyRef": func(s *v1alpha1.ConferenceConfigSpec) {
			s.Source = &v1alpha1.SourceSpec{ConfigJS: &v1alpha1.ConfigJSSource{SecretKeyRef: &ref}}
		},
		"source.configJS.envSecretRef": func(s *v1alpha1.ConferenceConfigSpec) {
			s.Source = &v1alpha1.SourceSpec{ConfigJS: &v1alpha1.ConfigJSSource{ConfigMapKeyRef: file, EnvSecretRef: &whole}}
		},
	}
	checked := map[string]bool{}
	// complaint is whatever condition says it: a source that cannot be read is SourceInvalid, with the same sentence.
	complaint := func(problems []Problem) bool {
		for _, p := range problems {
			if strings.Contains(p.Message, `Secret "named"`) && strings.Contains(p.Message, v1alpha1.LabelUsedBy) {
				return true
			}
		}
		return false
	}
	for _, label := range []string{"", v1alpha1.UsedByMediaServer, v1alpha1.UsedByConferenceConfig, v1alpha1.UsedByMeeting, "conferenceconfig", "true"} {
		named := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "named", Labels: map[string]string{v1alpha1.LabelUsedBy: label}},
			Data:       map[string][]byte{"apiKey": []byte(strings.Repeat("k", 40)), "apiSecret": []byte(strings.Repeat("s", 40))},
		}
		script := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "file"}, Data: map[string]string{"config.js": envJS}}
		for field, set := range configs {
			checked[field] = true
			config := goodConfig()
			set(&config.Spec)
			from := sources{find: stored(v1alpha1.UsedByConferenceConfig, named, script).data, evaluate: noEvaluator}
			got, _ := resolve(t.Context(), config, from, nil)
			if may := label == v1alpha1.UsedByConferenceConfig; complaint(got.Problems) == may {
				t.Errorf("spec.%s, label %q: %+v", field, label, got.Problems)
			}
		}
		checked["secretRef"] = true
		server := goodMediaServer()
		server.Spec.SecretRef = whole
		got := resolveMediaServer(server, stored(v1alpha1.UsedByMediaServer, named).data, livekit.New)
		if may := label == v1alpha1.UsedByMediaServer; (got.Engine != nil) != may || complaint(got.Problems) == may {
			t.Errorf("a MediaServer, label %q: %+v", label, got.Problems)
		}
	}
	// The password of a Meeting, which internal/conference reads.
	checked["passwordSecretRef"] = true
	for _, spec := range []any{v1alpha1.ConferenceConfigSpec{}, v1alpha1.MediaServerSpec{}, v1alpha1.MeetingSpec{}} {
		for _, field := range secretFields(reflect.TypeOf(spec), "") {
			if !checked[field] {
				t.Errorf("spec.%s of a %T names a Secret, and no test has one there that is for something else", field, spec)
			}
			delete(checked, field)
		}
	}
	if len(checked) > 0 {
		t.Errorf("no spec has these fields: %v", checked)
	}
}

// secretFields are the paths of all fields that name a Secret.
func secretFields(t reflect.Type, path string) (all []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t == reflect.TypeFor[v1alpha1.SecretReference]() || t == reflect.TypeFor[v1alpha1.SecretKeyReference]() {
		return []string{strings.TrimPrefix(path, ".")}
	}
	if t.Kind() != reflect.Struct || !strings.HasSuffix(t.PkgPath(), "api/v1alpha1") {
		return nil
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		all = append(all, secretFields(t.Field(i).Type, path+"."+name)...)
	}
	return all
}
