// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/tenant"
)

func TestIdentitiesTellNothing(t *testing.T) {
	at := func(secret string) *tenant.Media { return &tenant.Media{Server: engine.Server{Secret: secret}} }
	one := &tenant.Tenant{UID: "one", Media: at("a secret")}
	other := &tenant.Tenant{UID: "one", Media: at("another engine's secret")}
	neighbour := &tenant.Tenant{UID: "another", Media: at("a secret")}
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
