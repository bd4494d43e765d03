// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"convene.dev/convene/api/v1alpha1"
)

// Page is a part of a list, the oldest entry first: what comes after a Cursor, and of that no more than Limit entries. The zero Page is
// the whole list.
type Page struct {
	After Cursor
	Limit int
}

// Cursor is the place of an entry in a list that is sorted by age, and by ID among entries of the same age. The place stays when the
// entry leaves. The zero Cursor is before all entries.
type Cursor struct {
	At time.Time
	ID string
}

// CursorOf is the place of a Meeting among others.
func CursorOf(m *v1alpha1.Meeting) Cursor { return Cursor{m.CreationTimestamp.Time, string(m.UID)} }

// String is empty for the zero Cursor.
func (c Cursor) String() string {
	if c == (Cursor{}) {
		return ""
	}
	return strconv.FormatInt(c.At.UnixMilli(), 10) + "." + c.ID
}

// ParseCursor reads what String wrote, and reports whether it can be read. Times have milliseconds.
func ParseCursor(text string) (Cursor, bool) {
	if text == "" {
		return Cursor{}, true
	}
	at, id, found := strings.Cut(text, ".")
	milliseconds, err := strconv.ParseInt(at, 10, 64)
	return Cursor{time.UnixMilli(milliseconds), id}, found && err == nil && id != ""
}

// Compare is negative where c comes before other.
func (c Cursor) Compare(other Cursor) int {
	return cmp.Or(cmp.Compare(c.At.UnixMilli(), other.At.UnixMilli()), cmp.Compare(c.ID, other.ID))
}

// Cut is a page of a sorted list, and the cursor of the next page; zero where none follows. An entry with a zero Cursor is left out.
func Cut[T any](sorted []T, p Page, placeOf func(T) Cursor) (page []T, next Cursor) {
	for _, entry := range sorted {
		place := placeOf(entry)
		switch {
		case place == Cursor{}, p.After != Cursor{} && place.Compare(p.After) <= 0:
		case p.Limit > 0 && len(page) == p.Limit:
			return page, next
		default:
			page, next = append(page, entry), place
		}
	}
	return page, Cursor{}
}
