// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"testing"
	"time"
)

func TestCurrency(t *testing.T) {
	at := func(seconds int) time.Time { return time.Date(2026, 12, 1, 9, 0, seconds, 0, time.UTC) }
	made := func(version uint64, seconds int) func(*currency) {
		return func(c *currency) { c.made(version, at(seconds)) }
	}
	shows := func(version uint64) func(*currency) { return func(c *currency) { c.show(version) } }
	never := time.Time{}
	for _, c := range []struct {
		name  string
		steps []func(*currency)
		want  time.Time
	}{
		{"what others wrote says nothing", []func(*currency){shows(5), shows(6)}, never},
		{"a Meeting that is not shown yet", []func(*currency){shows(5), made(6, 1), shows(5)}, never},
		{"a Meeting that is shown", []func(*currency){made(6, 1), shows(6)}, at(1)},
		{"a Meeting of which a newer version is shown, or of another one", []func(*currency){made(6, 1), shows(9)}, at(1)},
		{"a Meeting that is shown before the create is answered", []func(*currency){shows(6), made(6, 1)}, at(1)},
		{"of several the first one", []func(*currency){made(6, 1), made(7, 2), shows(6)}, at(1)},
		{"the next one after it", []func(*currency){made(6, 1), shows(6), made(7, 2), shows(7)}, at(2)},
		{"a create that took long does not turn it back", []func(*currency){made(7, 2), shows(7), made(6, 1)}, at(2)},
		{"a cache that lists again, and shows older versions", []func(*currency){made(6, 1), shows(6), shows(3)}, at(1)},
	} {
		var of currency
		for _, step := range c.steps {
			step(&of)
		}
		if !of.until.Equal(c.want) {
			t.Errorf("%s: it is current until %s, not %s", c.name, of.until, c.want)
		}
	}
}
