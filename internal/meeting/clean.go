// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// CleanRoom is a room's name as people mean it, whichever way they typed or copied it: what looks the same is the same room. It is
// empty where nothing of the name can be seen.
func CleanRoom(room string) string {
	clean := clean(room, unicode.IsSpace)
	if !strings.ContainsFunc(clean, isVisible) {
		return ""
	}
	return clean
}

// CleanName takes out of a participant's name what cannot be seen, but changes how the name or its neighbors look. A control
// character becomes a space.
func CleanName(name string) string {
	return clean(name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}

// clean is a text in NFC without what cannot be seen, and with single spaces between its words. Text that is not UTF-8 stays.
func clean(text string, isSpace func(rune) bool) string {
	if isPlainText(text) {
		return text
	}
	if !utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	base, last := ' ', ' ' // base is the last character that no mark, joiner or selector belongs to.
	for _, r := range text {
		switch {
		case isSelector(r) && (isPlain(base) || isJoiner(r) && isJoiner(last)), isIgnorable(r) && !isSelector(r):
			continue
		case !unicode.Is(unicode.Inherited, r):
			base = r
		}
		last = r
		b.WriteRune(r)
	}
	isGap := func(r rune) bool { return isSpace(r) || blanks[r] }
	words := strings.Join(strings.FieldsFunc(b.String(), isGap), " ")
	return norm.NFC.String(strings.TrimRightFunc(words, isJoiner))
}

// isPlainText reports whether a text is words of visible ASCII characters with single spaces between them: nearly every text is, and
// is clean as it is.
func isPlainText(text string) bool {
	last := byte(' ')
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == ' ' && last == ' ' {
			return false
		}
		last = text[i]
	}
	return text != "" && last != ' '
}

const zeroWidthNonJoiner, zeroWidthJoiner = '\u200c', '\u200d'

func isJoiner(r rune) bool { return r == zeroWidthNonJoiner || r == zeroWidthJoiner }

// isSelector reports whether a character only shapes the one before it. Persian, Indic scripts, Han and emoji need them.
func isSelector(r rune) bool { return isJoiner(r) || unicode.Is(unicode.Variation_Selector, r) }

// isPlain reports whether a character has one shape only, so that nothing can be seen of a selector behind it.
func isPlain(r rune) bool {
	return r < utf8.RuneSelf || unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Z)
}

// isIgnorable reports whether fonts draw nothing for a character (Default_Ignorable_Code_Point of the Unicode Standard).
func isIgnorable(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}
