// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/fault"
)

// occupied keeps the processors that passwords may use busy for longer than a read of the API server may take.
func occupied(t *testing.T) {
	t.Helper()
	const heavy = "$argon2id$v=19$m=65536,t=3,p=1$YWFhYWFhYWFhYWFhYWFhYQ$YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE"
	check := func() {
		if _, err := credential.CheckPassword(context.Background(), credential.Turn{}, heavy, "x"); err != nil {
			t.Error(err)
		}
	}
	begun := time.Now()
	check()
	var all sync.WaitGroup
	t.Cleanup(all.Wait)
	for range 1 + (readTimeout+readTimeout/5)/time.Since(begun) {
		all.Go(check)
	}
	// The next one has to wait as soon as one who cannot wait is refused.
	for {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		_, err := credential.HashPassword(ctx, credential.Turn{}, "x")
		cancel()
		if err != nil {
			return
		}
	}
}

// TestAPasswordThatWaitsIsNoClusterThatIsAway: joins that wait for processors get done, and who cannot wait is told why.
func TestAPasswordThatWaitsIsNoClusterThatIsAway(t *testing.T) {
	b := opens(t, v1alpha1.AdHocNever)
	occupied(t)
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := b.Join(short, b.tenant, JoinCommand{Room: "short", Password: ptr.To("sesame")})
	if !fault.Is(err, fault.KindUnavailable) || !strings.Contains(fault.As(err).Message, "Too many password checks") {
		t.Errorf("a join without the time: %v", err)
	}
	if b.Service.directory.Holder(b.tenant, "short") != nil {
		t.Error("it left a meeting whose password was never stored")
	}
	if v, err := b.Join(t.Context(), b.tenant, JoinCommand{Room: "r", Password: ptr.To("sesame")}); err != nil || !v.HasPassword {
		t.Errorf("a join with the time: %+v, %v", v, err)
	}
}

// TestAPasswordIsHashedOnce, and compared once with what is stored, however often the command looks again.
func TestAPasswordIsHashedOnce(t *testing.T) {
	p := presented{plain: "sesame"}
	one, err := p.hashed(t.Context())
	if err != nil || !credential.IsPasswordHash(string(one)) {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	if right, err := p.matches(t.Context(), one); err != nil || !right {
		t.Errorf("%t, %v", right, err)
	}
	cancel() // From here on nothing is computed.
	if _, err := (&presented{plain: "sesame"}).hashed(over); err == nil {
		t.Fatal("a password was hashed without the time")
	}
	if again, err := p.hashed(over); err != nil || again != one {
		t.Errorf("hashed again: %s, %v", again, err)
	}
	if right, err := p.matches(over, one); err != nil || !right {
		t.Errorf("compared again: %t, %v", right, err)
	}
	other, err := credential.HashPassword(t.Context(), credential.Turn{}, "another")
	if err != nil {
		t.Fatal(err)
	}
	if right, err := p.matches(t.Context(), secretText(other)); err != nil || right {
		t.Errorf("another password: %t, %v", right, err)
	}
	kept := presented{plain: one}
	if hash, err := kept.hashed(over); err != nil || hash != one {
		t.Errorf("a hash that is taken over: %s, %v", hash, err)
	}
}
