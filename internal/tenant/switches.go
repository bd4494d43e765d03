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

// Switches works out which endpoints are on: variant A by the map of what is allowed, variant B by the list of what
// is disabled. Unknown names are accepted, because more may be added.
func Switches(variant v1alpha1.Variant, allowed map[string]bool, disabled []string) map[Endpoint]bool {
	on := make(map[Endpoint]bool)
	for _, e := range Endpoints(variant) {
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

// switchProblem reports names that the settings hold and the variant does not know, and in variant A those that it
// knows and the settings leave out, which are therefore on.
func switchProblem(variant v1alpha1.Variant, allowed map[string]bool, disabled []string) *Problem {
	known := map[string]bool{}
	for _, e := range Endpoints(variant) {
		known[string(e)] = true
	}
	named := slices.Collect(maps.Keys(allowed))
	if variant == v1alpha1.VariantB {
		named = disabled
	}
	var unknown, omitted []string
	for _, name := range named {
		if !known[name] {
			unknown = append(unknown, name)
		}
	}
	if len(allowed) > 0 {
		for name := range known {
			if _, ok := allowed[name]; !ok {
				omitted = append(omitted, name)
			}
		}
	}
	slices.Sort(unknown)
	slices.Sort(omitted)
	p := &Problem{Condition: v1alpha1.ConditionEndpointNames, WhenTrue: true}
	switch {
	case len(unknown) > 0:
		p.Reason = v1alpha1.ReasonUnknownNames
		p.Message = fmt.Sprintf("No endpoint is named %s; correct the name or take it out", strings.Join(unknown, ", "))
	case len(omitted) > 0:
		p.Reason = v1alpha1.ReasonOmittedNames
		p.Message = fmt.Sprintf("Not named, and therefore enabled: %s; set them to true or false to be explicit", strings.Join(omitted, ", "))
	default:
		return nil
	}
	return p
}

// MeetingURL is the room link under a base URL.
func MeetingURL(baseURL, room string) string { return baseURL + "/join/" + url.PathEscape(room) }
