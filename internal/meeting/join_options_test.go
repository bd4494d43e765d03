// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"reflect"
	"testing"
)

// TestJoinFlags holds the table of the options that are on or off against the options.
func TestJoinFlags(t *testing.T) {
	var o JoinOptions
	values, fields := reflect.ValueOf(&o).Elem(), reflect.TypeFor[JoinOptions]()
	names := map[any]string{}
	for i := range fields.NumField() {
		if fields.Field(i).Type.Kind() == reflect.Bool {
			names[values.Field(i).Addr().Interface()] = fields.Field(i).Tag.Get("json")
		}
	}
	letters := map[byte]bool{'d': true, 'i': true} // What else sessions have.
	for _, f := range o.Flags() {
		if names[f.Value] != f.Name {
			t.Errorf("%q is in the table as %q", names[f.Value], f.Name)
		}
		if letters[f.Letter] {
			t.Errorf("the letter %c of %s is of another one", f.Letter, f.Name)
		}
		delete(names, f.Value)
		letters[f.Letter] = true
	}
	for _, name := range names {
		t.Errorf("%s is not in the table", name)
	}
}

// TestWishes: a page cannot wish for what only a backend gives.
func TestWishes(t *testing.T) {
	for _, given := range []bool{true, false} {
		o := JoinOptions{Name: "Ann", Hide: given, Presenter: given}
		o.Wish(JoinOptions{Name: "Bob", Avatar: "https://example.com/", Audio: true, Video: true, Screen: true, Chat: true, Hide: !given, Notify: true, Presenter: !given})
		want := JoinOptions{Name: "Bob", Avatar: "https://example.com/", Audio: true, Video: true, Screen: true, Chat: true, Hide: given, Notify: true, Presenter: given}
		if o != want {
			t.Errorf("given %t: %+v", given, o)
		}
	}
}
