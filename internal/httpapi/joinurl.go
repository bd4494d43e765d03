// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/meeting"
)

// maxShown is the greatest length in bytes of a link that shows the avatar, which the ticket has anyway: many proxies take no longer
// request line than 8 KiB.
const maxShown = 8000

// joinURL is the direct join. What its parameters show is for people to read: what counts is the signed ticket.
func joinURL(baseURL string, t *credential.Ticket, length meeting.Length, signed string) string {
	link := writeJoinURL(baseURL, t, length, signed, true)
	if len(link) > maxShown {
		return writeJoinURL(baseURL, t, length, signed, false)
	}
	return link
}

func writeJoinURL(baseURL string, t *credential.Ticket, length meeting.Length, signed string, showAvatar bool) string {
	var b strings.Builder
	b.Grow(len(baseURL) + len(t.Room) + len(t.Name) + len(t.Avatar) + len(signed) + 160)
	b.WriteString(baseURL)
	b.WriteString("/join?room=")
	b.WriteString(encodeQuery(t.Room))
	add := func(name, value string) {
		b.WriteByte('&')
		b.WriteString(name)
		b.WriteByte('=')
		b.WriteString(encodeQuery(value))
	}
	add("name", t.Name)
	if showAvatar {
		add("avatar", cmp.Or(t.Avatar, "false"))
	}
	add("audio", strconv.FormatBool(t.Audio))
	add("video", strconv.FormatBool(t.Video))
	add("screen", strconv.FormatBool(t.Screen))
	add("chat", strconv.FormatBool(t.Chat))
	add("hide", strconv.FormatBool(t.Hide))
	add("notify", strconv.FormatBool(t.Notify))
	add("duration", length.Clock())
	add("token", signed)
	return b.String()
}

// encodeQuery encodes a value of a query. A space becomes %20, which every decoder reads; + is read by some only.
func encodeQuery(value string) string {
	return strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
}
