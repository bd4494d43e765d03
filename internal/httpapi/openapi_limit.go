// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"convene.dev/convene/internal/tenant"
)

const (
	extensionPrefix   = "x-convene-"
	extensionEndpoint = extensionPrefix + "endpoint"
	extensionVariant  = extensionPrefix + "variant"
)

// limitTo drops everything that the tenant does not have or has switched off, paths that nothing is left of, and the
// extensions.
func limitTo(t *tenant.Tenant, n *yaml.Node) {
	for _, child := range n.Content {
		limitTo(t, child)
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	kept := n.Content[:0]
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		emptied := strings.HasPrefix(key.Value, prefix) && !hasOperation(value)
		if emptied || foreign(t, value) {
			continue
		}
		kept = append(kept, key, value)
	}
	n.Content = kept
}

// foreign reports whether the extensions of something give it to others.
func foreign(t *tenant.Tenant, n *yaml.Node) bool {
	if v := entry(n, extensionVariant); v != nil && v.Value != string(t.Variant) {
		return true
	}
	e := entry(n, extensionEndpoint)
	return e != nil && !t.Enabled(tenant.Endpoint(e.Value))
}

// hasOperation reports whether a path has an operation; what it may have besides are parameters.
func hasOperation(path *yaml.Node) bool {
	for i := 0; i < len(path.Content); i += 2 {
		if path.Content[i].Value != "parameters" {
			return true
		}
	}
	return false
}

// dropExtensions removes our own extensions, which say nothing to clients.
func dropExtensions(n *yaml.Node) {
	for _, child := range n.Content {
		dropExtensions(child)
	}
	if n.Kind == yaml.MappingNode {
		dropEntries(n, func(key string) bool { return strings.HasPrefix(key, extensionPrefix) })
	}
}

// dropUnused removes components that nothing refers to any more, until there are no more of them.
func dropUnused(top *yaml.Node) {
	components := entry(top, "components")
	for dropped := true; dropped; {
		dropped = false
		used := map[string]bool{}
		references(top, used)
		for i := 0; i < len(components.Content); i += 2 {
			section := components.Content[i].Value
			if section == "securitySchemes" {
				continue
			}
			n := components.Content[i+1]
			before := len(n.Content)
			dropEntries(n, func(key string) bool { return !used["#/components/"+section+"/"+key] })
			dropped = dropped || len(n.Content) < before
		}
	}
}

// references collects what a document refers to.
func references(n *yaml.Node, into map[string]bool) {
	if ref := entry(n, "$ref"); ref != nil {
		into[ref.Value] = true
	}
	for _, child := range n.Content {
		references(child, into)
	}
}

// entry returns a mapping's value of that key, or nil.
func entry(n *yaml.Node, key string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func dropEntries(n *yaml.Node, drop func(key string) bool) {
	kept := n.Content[:0]
	for i := 0; i < len(n.Content); i += 2 {
		if !drop(n.Content[i].Value) {
			kept = append(kept, n.Content[i], n.Content[i+1])
		}
	}
	n.Content = kept
}
