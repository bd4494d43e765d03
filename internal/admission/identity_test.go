// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/tenant"
)

func TestIdentitiesTellNothing(t *testing.T) {
	signer := func(keys ...string) *credential.Signer {
		data := map[string][]byte{}
		for i, key := range keys {
			data[strconv.Itoa(i)] = []byte(strings.Repeat(key, 32))
		}
		made, _ := credential.NewSigner("issuer", data)
		return made
	}
	named := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: "meetings", Name: name} }
	one := &tenant.Tenant{NamespacedName: named("one"), UID: "1", Signer: signer("a")}
	other := &tenant.Tenant{NamespacedName: named("one"), UID: "1", Signer: signer("b")}
	neighbour := &tenant.Tenant{NamespacedName: named("another"), UID: "2", Signer: signer("a")}
	if restored := (&tenant.Tenant{NamespacedName: named("one"), UID: "3", Signer: signer("a")}); originOf(one, "login", "paula") != originOf(restored, "login", "paula") {
		t.Error("who was removed is another after a restore")
	}
	if rotating := (&tenant.Tenant{NamespacedName: named("one"), UID: "1", Signer: signer("a", "b")}); originOf(one, "login", "paula") != originOf(rotating, "login", "paula") {
		t.Error("a participant who was removed comes back when a signing key is added")
	}
	if originOf(one, "login", "paula") == originOf(other, "login", "paula") {
		t.Error("who knows a username can find its identity")
	}
	if originOf(one, "login", "paula") == originOf(neighbour, "login", "paula") {
		t.Error("a user of one tenant can be known again in another's meetings")
	}
	if originOf(one, "login", "paula") == originOf(one, "token", "paula") {
		t.Error("a token's number and a username are one thing")
	}
}
