// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"convene.dev/convene/api/v1alpha1"
)

// switches are what the settings say of endpoints. allowed counts in variant A, disabled in variant B, extensions in both.
type switches struct {
	allowed              map[string]bool
	disabled, extensions []string
}

// elsewhere are endpoints of the services that the settings come from, and of none here. To name them is no mistake.
var elsewhere = []string{"slack", "mattermost"}

// resolve works out which endpoints are on: of the API's document all but those that allowed or disabled switch off, of the
// extensions those that are named. An extension that is not named is not there: a client finds nothing new. Names that are unknown
// here come from files; they switch nothing.
func (s switches) resolve(variant v1alpha1.Variant) map[Endpoint]bool {
	on := switched(variant, s.allowed, s.disabled)
	for _, e := range extensions {
		if slices.Contains(s.extensions, string(e)) {
			on[e] = true
		}
	}
	return on
}

func switched(variant v1alpha1.Variant, allowed map[string]bool, disabled []string) map[Endpoint]bool {
	on := make(map[Endpoint]bool)
	for _, e := range documented(variant) {
		on[e] = true
	}
	if variant == v1alpha1.VariantB {
		for _, name := range disabled {
			if _, known := on[Endpoint(name)]; known {
				on[Endpoint(name)] = false
			}
		}
		return on
	}
	for name, value := range allowed {
		if _, known := on[Endpoint(name)]; known {
			on[Endpoint(name)] = value
		}
	}
	if _, named := allowed[string(MeetingEnd)]; !named {
		on[MeetingEnd] = on[Meeting]
	}
	return on
}

// problem reports names that the settings hold and the variant does not know, and in variant A those that it
// knows and the settings leave out, which are therefore on.
func (s switches) problem(variant v1alpha1.Variant) *Problem {
	known := map[string]bool{}
	for _, e := range documented(variant) {
		known[string(e)] = true
	}
	named := slices.Collect(maps.Keys(s.allowed))
	if variant == v1alpha1.VariantB {
		named = s.disabled
	}
	var unknown, omitted []string
	for _, name := range named {
		if !known[name] && !slices.Contains(elsewhere, name) {
			unknown = append(unknown, name)
		}
	}
	if len(s.allowed) > 0 {
		for name := range known {
			if _, ok := s.allowed[name]; !ok {
				omitted = append(omitted, name)
			}
		}
	}
	slices.Sort(unknown)
	slices.Sort(omitted)
	p := &Problem{Condition: v1alpha1.ConditionEndpointNamesValid}
	switch {
	case len(unknown) > 0:
		p.Reason = v1alpha1.ReasonUnknownNames
		p.Message = fmt.Sprintf("No endpoint is named %s; correct the name or take it out", strings.Join(unknown, ", "))
	case len(omitted) > 0:
		p.Reason, p.WhenTrue = v1alpha1.ReasonOmittedNames, true
		p.Message = fmt.Sprintf("Not named, and therefore enabled: %s; set them to true or false to be explicit", strings.Join(omitted, ", "))
	default:
		return nil
	}
	return p
}

// MeetingURL is the room link under a base URL.
func MeetingURL(baseURL, room string) string { return baseURL + "/join/" + url.PathEscape(room) }
