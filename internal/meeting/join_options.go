// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

// JoinOptions describe a participant who joins, as POST join does. Tickets and sessions keep them, pages wish for them, and answers to pages repeat
// them.
type JoinOptions struct {
	// Name is shown to all participants.
	Name string `json:"name"`
	// Avatar is the URL of an image, or empty.
	Avatar v1alpha1.URL `json:"avatar,omitempty"`
	// Audio, Video and Screen switch devices on at the beginning.
	Audio  bool `json:"audio"`
	Video  bool `json:"video"`
	Screen bool `json:"screen"`
	// Chat reports whether the participant has a chat.
	Chat bool `json:"chat"`
	// Hide keeps the participant out of the sight of others.
	Hide bool `json:"hide"`
	// Notify tells the others that the participant has come.
	Notify bool `json:"notify"`
	// Presenter is the role of the participant.
	Presenter bool `json:"presenter"`
}

// JoinFlag is a join option that is on or off.
type JoinFlag struct {
	Value *bool
	// Name stands in requests and links, Letter in tickets and sessions. A letter is never used for a second option.
	Name   string
	Letter byte
	// Brief reports whether the option is only for the moment of entering.
	Brief bool
	// Given reports whether only a backend or a login gives it, and no wish of a page.
	Given bool
	// Needs lists the abilities without which the option is off.
	Needs engine.Abilities
}

// Flags returns the options that are on or off, in the order of links.
func (o *JoinOptions) Flags() []JoinFlag {
	return []JoinFlag{
		{Value: &o.Audio, Name: "audio", Letter: 'a', Brief: true, Needs: engine.Microphone},
		{Value: &o.Video, Name: "video", Letter: 'v', Brief: true, Needs: engine.Camera},
		{Value: &o.Screen, Name: "screen", Letter: 's', Brief: true, Needs: engine.Screen},
		{Value: &o.Chat, Name: "chat", Letter: 'c'},
		{Value: &o.Hide, Name: "hide", Letter: 'h', Given: true},
		{Value: &o.Notify, Name: "notify", Letter: 'n'},
		{Value: &o.Presenter, Name: "presenter", Letter: 'p', Given: true},
	}
}

// Wish takes what a page wishes, and keeps what was given.
func (o *JoinOptions) Wish(wish JoinOptions) {
	given := *o
	*o = wish
	had := given.Flags()
	for i, f := range o.Flags() {
		if f.Given {
			*f.Value = *had[i].Value
		}
	}
}

// Lasting returns the options without those for the moment of entering.
func (o JoinOptions) Lasting() JoinOptions {
	for _, f := range o.Flags() {
		if f.Brief {
			*f.Value = false
		}
	}
	return o
}

// Without returns the options that are left to a participant who is forbidden something.
func (o JoinOptions) Without(forbidden engine.Abilities) JoinOptions {
	for _, f := range o.Flags() {
		*f.Value = *f.Value && f.Needs&forbidden == 0
	}
	return o
}

// Clean checks the name and the avatar, and writes them as they are kept.
func (o *JoinOptions) Clean() (err error) {
	o.Name = CleanName(o.Name)
	if err := ValidateName(o.Name); err != nil {
		return err
	}
	o.Avatar, err = readAvatar(o.Avatar)
	return err
}
