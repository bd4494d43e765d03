// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/source"
)

// Evaluator reads the settings out of a config.js of a namespace. Namespaces take turns.
type Evaluator func(ctx context.Context, namespace, script string, env map[string]string) (source.Settings, error)

// access reads API keys and switches: from the fields, and where these are not set from the operator's own file.
func (r *resolver) access() {
	api := ptr.Deref(r.config.Spec.API, v1alpha1.APISpec{})
	r.RateLimit = api.RateLimit
	r.source = r.file()
	file := r.source
	r.logins = r.fileLogins()
	if file != nil {
		r.omitted(file)
	}

	var values, places []string
	for _, ref := range api.KeySecretRefs {
		if value, ok := r.secretKey(v1alpha1.ConditionAPIKeysResolved, ref); ok {
			values = append(values, string(value))
			places = append(places, fmt.Sprintf("Secret %q, key %q", ref.Name, ref.Key))
		}
	}
	if len(api.KeySecretRefs) == 0 && file != nil {
		values, places = append(values, file.KeySecret), append(places, "spec.source")
	}
	r.keys(values, places)

	s := switches{allowed: api.Allowed, disabled: api.Disabled, extensions: api.Extensions}
	if file != nil && s.allowed == nil {
		s.allowed = file.Allowed
	}
	if file != nil && s.disabled == nil {
		s.disabled = file.Disabled
	}
	r.NamesUnread = file == nil && r.config.Spec.Source != nil && s.allowed == nil && s.disabled == nil
	r.enabled = s.resolve(r.Variant)
	if p := s.problem(r.Variant); p != nil {
		r.Problems = append(r.Problems, *p)
	}
}

// omitted tells what keeps participants out by the operator's own file, and is not here.
func (r *resolver) omitted(file *source.Settings) {
	switch {
	case file.AddressesOnly:
		r.problem(v1alpha1.ConditionProtectionOmitted, v1alpha1.ReasonAddressList, true, false,
			"the file of spec.source lets in listed addresses alone, and Convene answers all: have the Ingress, the load balancer or a "+
				"NetworkPolicy let them in alone, and switch the list off in the file")
	case file.Lobby && ptr.Deref(r.config.Spec.Meetings, v1alpha1.MeetingsSpec{}).Admission == "":
		r.problem(v1alpha1.ConditionProtectionOmitted, v1alpha1.ReasonLobby, true, false,
			"the file of spec.source has people wait in a lobby, and here they enter at once: set spec.meetings.admission, to Ask if presenters "+
				"come with a token, or to Open if nobody has to wait")
	}
}

// keys takes the usable API keys, each with the place that it is from. A missing or refused key is fatal only when none
// is left.
func (r *resolver) keys(values, places []string) {
	ring, problems := credential.NewKeyRing(values)
	r.Keys = ring
	for _, p := range problems {
		message := places[p.Index] + ": " + p.String()
		switch {
		case p.Refused() && ring.Len() == 0:
			r.problem(v1alpha1.ConditionAPIKeysResolved, refusal(p.Kind), false, true, "%s", message)
		case p.Refused():
			r.problem(v1alpha1.ConditionKeyRefused, refusal(p.Kind), true, false, "%s", message)
		case p.Kind == credential.KeyDuplicate:
			r.problem(v1alpha1.ConditionWeakSecret, v1alpha1.ReasonKeyDoubled, true, false, "%s", message)
		default:
			r.problem(v1alpha1.ConditionWeakSecret, v1alpha1.ReasonKeyTooShort, true, false, "%s", message)
		}
	}
	if ring.Len() == 0 {
		return
	}
	for i := range r.Problems {
		if p := &r.Problems[i]; p.Condition == v1alpha1.ConditionAPIKeysResolved {
			p.Condition, p.WhenTrue, p.Fatal = v1alpha1.ConditionKeyRefused, true, false
		}
	}
}

func refusal(kind credential.KeyProblemKind) string {
	if kind == credential.KeySample {
		return v1alpha1.ReasonKeyPublished
	}
	return v1alpha1.ReasonKeyEmpty
}

// file reads the operator's own file; nil when none is named or the file cannot be read. While the file cannot be evaluated, its
// last settings hold, and everything else takes effect: nobody keeps what was taken away by having slow files.
func (r *resolver) file() *source.Settings {
	spec := r.config.Spec.Source
	if spec == nil {
		return nil
	}
	settings, err := r.readFile(spec)
	if err == nil {
		return settings
	}
	r.problem(v1alpha1.ConditionAPIKeysResolved, v1alpha1.ReasonSourceInvalid, false, true, "spec.source: %s", public(err))
	if !fault.Is(err, fault.KindUnavailable) {
		return nil
	}
	r.again = retryAfter
	if pause := source.Pause(0); errors.As(err, &pause) {
		r.again = time.Duration(pause)
	}
	if r.previous == nil || r.previous.UID != r.config.UID {
		return nil
	}
	return r.previous.source
}

// fileLogins is what people have to log in for by the operator's own file. A file that cannot be read leaves this as it was, and at
// first has them log in for everything: nobody gets in because a Secret has gone.
func (r *resolver) fileLogins() source.Logins {
	switch {
	case r.config.Spec.Source == nil:
		return source.Logins{}
	case r.source != nil:
		return r.source.Logins
	case r.previous != nil && r.previous.UID == r.config.UID:
		return r.previous.logins
	}
	return source.Logins{ToOpen: true, ToEnter: true}
}

// public is the part of an error that may be published: a condition is no log.
func public(err error) string {
	if f := (*fault.Error)(nil); errors.As(err, &f) {
		return f.Message
	}
	return err.Error()
}

func (r *resolver) readFile(spec *v1alpha1.SourceSpec) (*source.Settings, error) {
	if spec.Env != nil {
		env, err := r.environment(envFrom(spec.Env.SecretRef, spec.Env.From))
		if err != nil {
			return nil, err
		}
		settings, err := source.FromEnv(env)
		return &settings, err
	}
	text, env, err := r.configJS(spec.ConfigJS)
	if err != nil {
		return nil, err
	}
	settings, err := r.evaluate(r.ctx, r.config.Namespace, text, env)
	return &settings, err
}

// configJS finds the text of config.js and what process.env is for it.
func (r *resolver) configJS(spec *v1alpha1.ConfigJSSource) (text string, env map[string]string, err error) {
	resource, name, key := "configmaps", "", ""
	if ref := spec.ConfigMapKeyRef; ref != nil {
		name, key = ref.Name, ref.Key
	}
	if ref := spec.SecretKeyRef; ref != nil {
		resource, name, key = "secrets", ref.Name, ref.Key
	}
	data, bad := r.find(r.object(resource, name))
	if bad != nil {
		return "", nil, bad
	}
	file, ok := data[key]
	if !ok {
		return "", nil, fmt.Errorf("%q has no key %q; add it", name, key)
	}
	from := envFrom(spec.EnvSecretRef, spec.EnvFrom)
	if len(from) == 0 && resource == "secrets" {
		return string(file), source.Environment(data, key), nil
	}
	env, err = r.environment(from)
	return string(file), env, err
}

// envFrom lists what holds an environment: one Secret, or several objects.
func envFrom(one *v1alpha1.SecretReference, several []v1alpha1.EnvFromSource) []v1alpha1.EnvFromSource {
	if one != nil {
		return []v1alpha1.EnvFromSource{{SecretRef: one}}
	}
	return several
}

// environment reads the variables in some objects. Of a variable that is in two of them the later one counts.
func (r *resolver) environment(from []v1alpha1.EnvFromSource) (map[string]string, error) {
	env := map[string]string{}
	for _, one := range from {
		data, bad := r.find(r.envObject(one))
		if bad != nil {
			return nil, bad
		}
		maps.Copy(env, source.Environment(data))
	}
	return env, nil
}

func (r *resolver) envObject(from v1alpha1.EnvFromSource) object {
	if from.ConfigMapRef != nil {
		return r.object("configmaps", from.ConfigMapRef.Name)
	}
	return r.object("secrets", ptr.Deref(from.SecretRef, v1alpha1.SecretReference{}).Name)
}

func (r *resolver) sourceObjects(s *v1alpha1.SourceSpec) map[object]bool {
	all := map[object]bool{}
	var env []v1alpha1.EnvFromSource
	if s.Env != nil {
		env = envFrom(s.Env.SecretRef, s.Env.From)
	}
	if js := s.ConfigJS; js != nil {
		env = append(env, envFrom(js.EnvSecretRef, js.EnvFrom)...)
		if js.SecretKeyRef != nil {
			all[r.object("secrets", js.SecretKeyRef.Name)] = true
		}
		if js.ConfigMapKeyRef != nil {
			all[r.object("configmaps", js.ConfigMapKeyRef.Name)] = true
		}
	}
	for _, one := range env {
		all[r.envObject(one)] = true
	}
	return all
}
