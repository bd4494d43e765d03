// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"convene.dev/convene/internal/meeting"
)

// maxShown is the greatest length in bytes of a link that shows the avatar, which the ticket has anyway: many proxies take no longer
// request line than 8 KiB.
const maxShown = 8000

// joinURL is the direct join. What its parameters show is for people to read: what counts is the signed ticket.
func joinURL(baseURL string, v meeting.View, asked meeting.JoinOptions, signed string) string {
	link := writeJoinURL(baseURL, v, asked, signed, true)
	if len(link) > maxShown {
		return writeJoinURL(baseURL, v, asked, signed, false)
	}
	return link
}

func writeJoinURL(baseURL string, v meeting.View, asked meeting.JoinOptions, signed string, showAvatar bool) string {
	var b strings.Builder
	b.Grow(len(baseURL) + len(v.Room) + len(asked.Name) + len(asked.Avatar) + len(signed) + 160)
	b.WriteString(baseURL)
	b.WriteString("/join?room=")
	b.WriteString(encodeQuery(v.Room))
	add := func(name, value string) {
		b.WriteByte('&')
		b.WriteString(name)
		b.WriteByte('=')
		b.WriteString(encodeQuery(value))
	}
	add("name", asked.Name)
	if showAvatar {
		add("avatar", cmp.Or(string(asked.Avatar), "false"))
	}
	for _, f := range asked.Flags() {
		if f.Value != &asked.Presenter { // A token gives it.
			add(f.Name, strconv.FormatBool(*f.Value))
		}
	}
	add("duration", v.Length.Clock())
	add("token", signed)
	return b.String()
}

// encodeQuery encodes a value of a query. A space becomes %20, which every decoder reads; + is read by some only.
func encodeQuery(value string) string {
	return strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
}
