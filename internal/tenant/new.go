// SPDX-License-Identifier: Apache-2.0

package tenant

// Switch returns a copy of t with its endpoints switched as the settings say: allowed counts in variant A, disabled in
// variant B, extensions in both, and a tenant that was never switched has no endpoint at all.
func (t Tenant) Switch(allowed map[string]bool, disabled []string, extensions ...string) Tenant {
	t.enabled = switches{allowed: allowed, disabled: disabled, extensions: extensions}.resolve(t.Variant)
	return t
}
